import { MOST_DEPOSITS } from '../../domain/invoice/deduction.ts';
import { type Kind, kindOfRoot, ublTypeOf } from '../../domain/invoice/kinds.ts';
import { TAX_RATES } from '../../domain/invoice/tax-rate.ts';
import { expectFigures } from './check-figures.ts';
import { expectParticulars } from './check-particulars.ts';
import { type ReadElement, readCanonical } from './read-canonical.ts';
import { BrokenRule, expect, isDay, one, optional, text } from './rules.ts';

/**
 * Parses the text of a written document and checks it against UBL's structure and the rules of Moroccan VAT. Recomputes
 * every figure to the centime from the lines' quantities, prices and rates.
 * @param xml in canonical form
 * @returns a sentence about the first violated rule, or null
 */
export function brokenRule(xml: string): string | null {
  try {
    const root = readCanonical(xml);
    const kind = root && kindOfRoot(root.name);
    expect(root !== null && kind !== null, 'The document is not a well-formed Invoice or CreditNote.');
    expectNothingEmpty(root);
    expectOrder(root, kind);
    expectTerms(root);
    for (const reference of root.children.filter(({ name }) => name === 'cac:BillingReference'))
      expectReferred(root, reference);
    expectParticulars(root);
    expectFigures(root, kind);
    return null;
  } catch (error) {
    if (error instanceof BrokenRule) return error.message;
    throw error;
  }
}

/** Checks that no element is empty, as UBL 2.1 requires (document constraints, section 5.1). */
function expectNothingEmpty({ name, text, children }: ReadElement): void {
  if (children.length === 0) expect(text.trim() !== '', `${name} is empty.`);
  else expect(text === '', `${name} contains both text and elements.`);
  for (const child of children) expectNothingEmpty(child);
}

/**
 * The child elements of a document written by this service, in the schema's order, with minimum and maximum occurrence.
 */
type Parts = readonly (readonly [name: string, least: number, most: number])[];

const HEAD: Parts = [
  ['ext:UBLExtensions', 1, 1],
  ['cbc:UBLVersionID', 1, 1],
  ['cbc:CustomizationID', 1, 1],
  ['cbc:ID', 1, 1],
  ['cbc:UUID', 1, 1],
  ['cbc:IssueDate', 1, 1],
];

const BODY: Parts = [
  ['cac:Signature', 1, 1],
  ['cac:AccountingSupplierParty', 1, 1],
  ['cac:AccountingCustomerParty', 1, 1],
  ['cac:Delivery', 0, 1],
  ['cac:PaymentMeans', 1, 1],
];

const PARTS: Readonly<Record<Kind, Parts>> = {
  invoice: [
    ...HEAD,
    ['cbc:DueDate', 0, 1],
    ['cbc:InvoiceTypeCode', 1, 1],
    ['cbc:Note', 1, 3],
    ['cbc:DocumentCurrencyCode', 1, 1],
    ['cac:InvoicePeriod', 0, 1],
    ['cac:OrderReference', 0, 1],
    // The invoice that it replaces, and the deposits that it deducts.
    ['cac:BillingReference', 0, 1 + MOST_DEPOSITS],
    ['cac:ContractDocumentReference', 0, 1],
    ...BODY,
    ['cac:PaymentTerms', 0, 1],
    // A discount, a charge and each deposit at each rate.
    ['cac:AllowanceCharge', 0, (2 + MOST_DEPOSITS) * TAX_RATES.length],
    ['cac:PricingExchangeRate', 0, 1],
    ['cac:TaxTotal', 1, 1],
    ['cac:WithholdingTaxTotal', 0, 1],
    ['cac:LegalMonetaryTotal', 1, 1],
    ['cac:InvoiceLine', 1, Number.POSITIVE_INFINITY],
  ],
  credit_note: [
    ...HEAD,
    ['cbc:CreditNoteTypeCode', 1, 1],
    ['cbc:Note', 2, 3],
    ['cbc:DocumentCurrencyCode', 1, 1],
    ['cac:BillingReference', 1, 1],
    ...BODY,
    ['cac:TaxTotal', 1, 1],
    ['cac:LegalMonetaryTotal', 1, 1],
    ['cac:CreditNoteLine', 1, Number.POSITIVE_INFINITY],
  ],
};

function expectOrder(root: ReadElement, kind: Kind): void {
  let next = 0;
  for (const [name, least, most] of PARTS[kind]) {
    const start = next;
    while (root.children[next]?.name === name) next++;
    const count = next - start;
    expect(count >= least && count <= most, `${name} occurs ${count} times at its position.`);
  }
  expect(next === root.children.length, `${root.children[next]?.name} is at the wrong position.`);
  const type = text(root, `cbc:${root.name}TypeCode`);
  const isRight = type === ublTypeOf(kind, false) || (kind === 'invoice' && type === ublTypeOf(kind, true));
  expect(isRight, `The type code ${type} is not that of ${root.name}.`);
  expect(isDay(text(root, 'cbc:IssueDate')), 'The issue date is not a calendar date.');
  const [seller, buyer] = ['cac:AccountingSupplierParty', 'cac:AccountingCustomerParty'].map((role) =>
    one(root, role, 'cac:Party'),
  ) as [ReadElement, ReadElement];
  expectIce(seller, 'seller');
  const country = text(buyer, 'cac:PostalAddress', 'cac:Country', 'cbc:IdentificationCode');
  expect(/^[A-Z]{2}$/.test(country), 'The country of the buyer is not a code of two letters.');
  if (optional(buyer, 'cac:PartyIdentification') !== null) {
    expectIce(buyer, 'buyer');
    expect(country === 'MA', 'A buyer abroad has an ICE.');
  }
  if (optional(buyer, 'cac:PartyTaxScheme') !== null) {
    expect(country !== 'MA', 'A buyer in Morocco has a foreign tax number.');
    const scheme = text(buyer, 'cac:PartyTaxScheme', 'cac:TaxScheme', 'cbc:ID');
    const number = text(buyer, 'cac:PartyTaxScheme', 'cbc:CompanyID');
    expect(scheme !== 'VAT' || /^[A-Z]{2}/.test(number), 'The VAT number of the buyer names no country (BR-CO-09).');
  }
}

function expectIce(party: ReadElement, called: string): void {
  const ice = text(party, 'cac:PartyIdentification', 'cbc:ID');
  expect(/^\d{15}$/.test(ice), `The ICE of the ${called} is not 15 digits.`);
}

/** Checks that a document names the invoice that it corrects, replaces or deducts (EN 16931, BG-3). */
function expectReferred(root: ReadElement, reference: ReadElement): void {
  const original = one(reference, 'cac:InvoiceDocumentReference');
  const issued = text(original, 'cbc:IssueDate');
  expect(text(original, 'cbc:ID').trim() !== '', 'The document does not name the invoice that it corrects.');
  expect(
    isDay(issued) && issued <= text(root, 'cbc:IssueDate'),
    'The date of the invoice that it corrects is not a calendar date on or before its own.',
  );
}

/** The codes of UNCL4461 that the service uses. 30, a credit transfer, requires an account (EN 16931, BR-61). */
const PAYMENT_CODES = /^(1|10|20|24|30|42|48|49|60|68|97)$/;

function expectTerms(root: ReadElement): void {
  const issued = text(root, 'cbc:IssueDate');
  const due = optional(root, 'cbc:DueDate')?.text ?? issued;
  expect(isDay(due) && due >= issued, 'The due date is not a calendar date on or after the issue date.');
  const delivery = optional(root, 'cac:Delivery');
  if (delivery !== null) {
    expect(isDay(text(delivery, 'cbc:ActualDeliveryDate')), 'The date of the operation is not a calendar date.');
  }
  const means = one(root, 'cac:PaymentMeans');
  const parts = means.children.map(({ name }) => name).join(' ');
  expect(
    /^cbc:PaymentMeansCode( cbc:PaymentID)?( cac:PayeeFinancialAccount)?$/.test(parts),
    'The child elements of cac:PaymentMeans are not in the right order.',
  );
  const code = text(means, 'cbc:PaymentMeansCode');
  expect(PAYMENT_CODES.test(code), `${code} is not a payment means code.`);
  const account = optional(means, 'cac:PayeeFinancialAccount');
  expect(code !== '30' || account !== null, 'A credit transfer has no account.');
  expect(account === null || isAccount(text(account, 'cbc:ID')), 'The account is not a RIB with a correct check key.');
}

/**
 * Whether a RIB's check key is right: its last two digits are 97 minus the remainder modulo 97 of the digits before
 * them followed by 00 (01 to 97).
 */
function isAccount(rib: string): boolean {
  return /^\d{24}$/.test(rib) && 97n - (BigInt(`${rib.slice(0, 22)}00`) % 97n) === BigInt(rib.slice(22));
}
