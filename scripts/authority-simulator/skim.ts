import type { InvoiceIdentity } from '../../src/adapters/authority/mock/examine-invoice.ts';
import { KIND_NAMES, KINDS } from '../../src/domain/invoice/kinds.ts';

/** Number of bytes that are read: the parties precede the lines. */
const MAX_BYTES = 32 * 1024;
const ID = `<cbc:ID(?: [^<>]*)?>([^<>]*)<`;
// Only within the party: a customer may have no ICE.
const ICE = (role: string) =>
  new RegExp(`<cac:${role}[ >](?:(?!</cac:${role}>).)*?<cac:PartyIdentification[ >].*?${ID}`, 's');
const [NUMBER, SELLER, CUSTOMER] = [
  new RegExp(ID),
  ICE('AccountingSupplierParty'),
  ICE('AccountingCustomerParty'),
] as const;

/**
 * Returns the identity of an invoice in the form of this service, found by its tags without parsing; null for any other
 * document.
 */
export function skim(document: Buffer): InvoiceIdentity | null {
  const start = Math.max(0, document.indexOf('</ext:UBLExtensions>'));
  const text = document.toString('utf8', start, start + MAX_BYTES);
  const [number, sellerIce, customerIce] = [NUMBER, SELLER, CUSTOMER].map((pattern) => {
    const found = pattern.exec(text)?.[1];
    // A copy: V8's substrings keep the whole text, and the ledger keeps these.
    return found === undefined ? undefined : Buffer.from(found).toString();
  });
  // A document without a type code counts as an invoice: this service always writes the code.
  const kind = KIND_NAMES.find((each) => text.includes(`<cbc:${KINDS[each].ublRoot}TypeCode>`)) ?? 'invoice';
  if (number === undefined || sellerIce === undefined || !text.includes('<cac:AccountingCustomerParty')) return null;
  return { kind, number, sellerIce, customerIce: customerIce ?? null };
}
