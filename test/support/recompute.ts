import { DOMParser, type Element } from '@xmldom/xmldom';
import type { LegalInvoice } from '../../src/domain/invoice/ports.ts';

const UBL = 'urn:oasis:names:specification:ubl:schema:xsd:';
const NAMESPACE: Readonly<Record<string, string>> = {
  cac: `${UBL}CommonAggregateComponents-2`,
  cbc: `${UBL}CommonBasicComponents-2`,
};

/**
 * Compares a signed document with the invoice input, without code of the service: xmldom parses it, and all figures are
 * recomputed as decimal fractions. @returns the differences
 */
export function differences(document: Uint8Array, invoice: LegalInvoice): string[] {
  const root = new DOMParser().parseFromString(Buffer.from(document).toString(), 'text/xml').documentElement;
  if (root === null) return ['not XML'];
  const found: string[] = [];
  const same = (what: string, written: unknown, due: unknown) => {
    if (written !== due) found.push(`${what}: ${written} is written, ${due} is due`);
  };
  const lines = all(root, 'cac:InvoiceLine');
  same('lines', lines.length, invoice.lines.length);

  const bases = new Map<number, bigint>();
  invoice.lines.forEach((line, index) => {
    const written = lines[index];
    if (written === undefined) return;
    const amount = BigInt(line.quantity) * BigInt(line.unitPrice);
    bases.set(line.taxRate, (bases.get(line.taxRate) ?? 0n) + amount);
    same(`description ${index}`, text(written, 'cac:Item/cbc:Name'), asXmlReads(line.description));
    same(`quantity ${index}`, text(written, 'cbc:InvoicedQuantity'), String(line.quantity));
    same(`price ${index}`, text(written, 'cac:Price/cbc:PriceAmount'), dirhams(BigInt(line.unitPrice)));
    same(`amount ${index}`, text(written, 'cbc:LineExtensionAmount'), dirhams(amount));
    same(`rate ${index}`, text(written, 'cac:Item/cac:ClassifiedTaxCategory/cbc:Percent'), String(line.taxRate));
  });

  const subtotals = all(root, 'cac:TaxTotal/cac:TaxSubtotal');
  same(
    'rates',
    subtotals.map((each) => text(each, 'cac:TaxCategory/cbc:Percent')).join(),
    [...bases.keys()].sort((a, b) => b - a).join(),
  );
  let net = 0n;
  let tax = 0n;
  for (const subtotal of subtotals) {
    const rate = Number(text(subtotal, 'cac:TaxCategory/cbc:Percent'));
    const base = bases.get(rate) ?? 0n;
    // Rounds half up in integers: (2 × VAT + 1) / 2 in centimes.
    const due = (2n * base * BigInt(rate) + 100n) / 200n;
    same(`base at ${rate} %`, text(subtotal, 'cbc:TaxableAmount'), dirhams(base));
    same(`VAT at ${rate} %`, text(subtotal, 'cbc:TaxAmount'), dirhams(due));
    net += base;
    tax += due;
  }
  const rounding = BigInt(invoice.amount) - net - tax;
  same('VAT', text(root, 'cac:TaxTotal/cbc:TaxAmount'), dirhams(tax));
  const totals = 'cac:LegalMonetaryTotal/cbc:';
  same('sum of the lines', text(root, `${totals}LineExtensionAmount`), dirhams(net));
  same('without VAT', text(root, `${totals}TaxExclusiveAmount`), dirhams(net));
  same('with VAT', text(root, `${totals}TaxInclusiveAmount`), dirhams(net + tax));
  same('rounding', text(root, `${totals}PayableRoundingAmount`), rounding === 0n ? undefined : dirhams(rounding));
  same('to pay', text(root, `${totals}PayableAmount`), dirhams(BigInt(invoice.amount)));
  same('number', text(root, 'cbc:ID'), invoice.number);
  const { terms } = invoice;
  same('date', text(root, 'cbc:IssueDate'), invoice.issueDate);
  same('due date', text(root, 'cbc:DueDate'), terms.dueDate ?? undefined);
  same('operation', text(root, 'cac:Delivery/cbc:ActualDeliveryDate'), terms.operationDate ?? undefined);
  const [means] = all(root, 'cac:PaymentMeans/cbc:PaymentMeansCode');
  same('payment mode', means?.getAttribute('name'), asAttributeReads(terms.paymentMode));
  same('payment code', means?.textContent, codeOf(terms));
  same(
    'payment reference',
    text(root, 'cac:PaymentMeans/cbc:PaymentID'),
    terms.paymentReference?.trim() ? asXmlReads(terms.paymentReference) : undefined,
  );
  same('account', text(root, 'cac:PaymentMeans/cac:PayeeFinancialAccount/cbc:ID'), terms.bankAccount ?? undefined);
  same(
    'seller',
    text(root, 'cac:AccountingSupplierParty/cac:Party/cac:PartyName/cbc:Name'),
    asXmlReads(invoice.seller.legalName),
  );
  same(
    'buyer',
    text(root, 'cac:AccountingCustomerParty/cac:Party/cac:PartyLegalEntity/cbc:RegistrationName'),
    asXmlReads(invoice.customer.name),
  );
  same(
    "buyer's ICE",
    text(root, 'cac:AccountingCustomerParty/cac:Party/cac:PartyIdentification/cbc:ID'),
    invoice.customer.ice,
  );
  return found;
}

function all(from: Element, path: string): Element[] {
  return path.split('/').reduce<Element[]>(
    (parents, step) => {
      const [prefix = '', name = ''] = step.split(':');
      return parents.flatMap((parent) =>
        [...parent.childNodes].filter(
          (node): node is Element =>
            node.nodeType === 1 && node.localName === name && node.namespaceURI === NAMESPACE[prefix],
        ),
      );
    },
    [from],
  );
}

function text(from: Element, path: string): string | undefined {
  return all(from, path)[0]?.textContent ?? undefined;
}

/** Codes of UN/CEFACT's list 4461 by payment means. */
const CODES: Readonly<Record<string, string>> = {
  cash: '10',
  cheque: '20',
  bill_of_exchange: '24',
  card: '48',
  direct_debit: '49',
  promissory_note: '60',
  online: '68',
  clearing: '97',
  transfer: '30',
  'transfer without an account': '42',
  none: '1',
};

function codeOf({ paymentMeans, bankAccount }: LegalInvoice['terms']): string | undefined {
  if (paymentMeans === 'transfer' && bankAccount === null) return CODES['transfer without an account'];
  return CODES[paymentMeans ?? 'none'];
}

/** The writer replaces runs of white space in attributes by one space. */
function asAttributeReads(written: string): string {
  return asXmlReads(written).replace(/[\t\n ]+/g, ' ');
}

/** XML parsers read every line end as LF. */
function asXmlReads(written: string): string {
  return written.replace(/\r\n?/g, '\n');
}

function dirhams(centimes: bigint): string {
  const digits = String(centimes < 0n ? -centimes : centimes).padStart(3, '0');
  return `${centimes < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
