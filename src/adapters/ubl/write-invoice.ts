import { createHash } from 'node:crypto';
import { KINDS } from '../../domain/invoice/kinds.ts';
import { InvalidDocument, type LegalInvoice, type UnsignedDocument } from '../../domain/invoice/ports.ts';
import { type CanonicalXml, writeCanonical } from './canonical-xml.ts';
import { brokenRule } from './check-document.ts';
import { invoiceDocument } from './invoice-document.ts';
import { namespacesOf } from './vocabulary.ts';

/**
 * Writes a UBL 2.1 Invoice or CreditNote that also satisfies every fatal rule of EN 16931, directly in exclusive
 * canonical form. Then parses it again and recomputes every figure. Line ends in texts become LF, including U+0085 and
 * U+2028.
 * @throws {InvalidDocument} naming the violated rule
 */
export function writeInvoice(invoice: LegalInvoice): CanonicalXml {
  const document = writeCanonical(invoiceDocument(invoice), namespacesOf(KINDS[invoice.kind].ublRoot));
  const broken = brokenRule(document.xml);
  if (broken !== null) throw new InvalidDocument(broken);
  return document;
}

/** Returns the input of signing: the octets of a canonical document, their digest and the position of the signature. */
export function unsignedDocument({ xml, signatureAt }: CanonicalXml): UnsignedDocument {
  // TextEncoder allocates a separate ArrayBuffer, which can be transferred to another thread without copying.
  const octets = new TextEncoder().encode(xml);
  return {
    octets,
    signatureAt: Buffer.byteLength(xml.slice(0, signatureAt)),
    sha256: createHash('sha256').update(octets).digest('base64'),
  };
}
