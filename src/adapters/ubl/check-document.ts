import { LIMITS } from '../../domain/invoice/field-input.ts';
import { KINDS, type Kind, kindOfRoot } from '../../domain/invoice/kinds.ts';
import { parseTaxRate } from '../../domain/invoice/tax-rate.ts';
import { CURRENCY, decimalOf, divideHalfUp, MAX_CENTIMES } from '../../domain/money.ts';
import { amountNote } from './invoice-document.ts';
import { type ReadElement, readCanonical } from './read-canonical.ts';

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
    if (optional(root, 'cac:BillingReference')) expectOriginal(root);
    expectFigures(root, kind);
    return null;
  } catch (error) {
    if (error instanceof BrokenRule) return error.message;
    throw error;
  }
}

class BrokenRule extends Error {}

function expect(condition: boolean, message: string): asserts condition {
  if (!condition) throw new BrokenRule(message);
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
  ['cac:TaxTotal', 1, 1],
  ['cac:LegalMonetaryTotal', 1, 1],
];

const PARTS: Readonly<Record<Kind, Parts>> = {
  invoice: [
    ...HEAD,
    ['cbc:DueDate', 0, 1],
    ['cbc:InvoiceTypeCode', 1, 1],
    ['cbc:Note', 1, 2],
    ['cbc:DocumentCurrencyCode', 1, 1],
    ['cac:BillingReference', 0, 1],
    ...BODY,
    ['cac:InvoiceLine', 1, Number.POSITIVE_INFINITY],
  ],
  credit_note: [
    ...HEAD,
    ['cbc:CreditNoteTypeCode', 1, 1],
    ['cbc:Note', 2, 3],
    ['cbc:DocumentCurrencyCode', 1, 1],
    ['cac:BillingReference', 1, 1],
    ...BODY,
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
  expect(type === KINDS[kind].ublType, `The type code ${type} is not that of ${root.name}.`);
  expect(isDay(text(root, 'cbc:IssueDate')), 'The issue date is not a calendar date.');
  for (const party of ['cac:AccountingSupplierParty', 'cac:AccountingCustomerParty']) {
    const ice = text(root, party, 'cac:Party', 'cac:PartyIdentification', 'cbc:ID');
    expect(/^\d{15}$/.test(ice), `The ICE of ${party} is not 15 digits.`);
  }
}

/** Checks that a document names the invoice that it corrects or replaces (EN 16931, BG-3). */
function expectOriginal(root: ReadElement): void {
  const original = one(root, 'cac:BillingReference', 'cac:InvoiceDocumentReference');
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

function isDay(written: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(written) ?? [];
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
}

/**
 * Whether a RIB's check key is right: its last two digits are 97 minus the remainder modulo 97 of the digits before
 * them followed by 00 (01 to 97).
 */
function isAccount(rib: string): boolean {
  return /^\d{24}$/.test(rib) && 97n - (BigInt(`${rib.slice(0, 22)}00`) % 97n) === BigInt(rib.slice(22));
}

/**
 * The limits in centimes of the rounding differences of a document. Each invoice rounds VAT by itself, and its amount may
 * differ by half a centime per line. The credit notes of an invoice add up to exactly its VAT and its amount, so each
 * may differ: its VAT by less than a dirham (EN 16931, BR-S-09), its amount by the rounding of an invoice of any length.
 */
function toleranceOf(kind: Kind, lines: number): { readonly tax: bigint; readonly rounding: bigint } {
  if (kind === 'invoice') return { tax: 0n, rounding: BigInt(lines) / 2n };
  return { tax: 99n, rounding: BigInt(LIMITS.lines) / 2n };
}

function expectFigures(root: ReadElement, kind: Kind): void {
  const bases = new Map<string, bigint>();
  let net = 0n;
  const lines = root.children.filter(({ name }) => name === `cac:${KINDS[kind].ublRoot}Line`);
  const tolerance = toleranceOf(kind, lines.length);
  lines.forEach((line, index) => {
    const at = `line ${index + 1}`;
    expect(text(line, 'cbc:ID') === String(index + 1), `The number of ${at} is not ${index + 1}.`);
    const amount = money(line, 'cbc:LineExtensionAmount');
    const quantity = text(line, `cbc:${KINDS[kind].ublQuantity}Quantity`);
    expect(/^[1-9]\d*$/.test(quantity), `The quantity of ${at} is not a positive whole number.`);
    const product = BigInt(quantity) * money(line, 'cac:Price', 'cbc:PriceAmount');
    expectEqual(`the amount of ${at}`, amount, product);
    const category = categoryOf(one(line, 'cac:Item', 'cac:ClassifiedTaxCategory'));
    bases.set(category, (bases.get(category) ?? 0n) + amount);
    net += amount;
  });

  const taxTotal = one(root, 'cac:TaxTotal');
  let tax = 0n;
  for (const subtotal of taxTotal.children.slice(1)) {
    const category = categoryOf(one(subtotal, 'cac:TaxCategory'));
    const base = bases.get(category);
    expect(base !== undefined, `The VAT of ${category} % is stated twice, or no line has it.`);
    bases.delete(category);
    expectEqual(`the base at ${category} %`, money(subtotal, 'cbc:TaxableAmount'), base);
    const amount = money(subtotal, 'cbc:TaxAmount');
    const computed = divideHalfUp(base * BigInt(category.slice(2)), 100n);
    if (size(amount - computed) > tolerance.tax) expectEqual(`the VAT at ${category} %`, amount, computed);
    expect(amount >= 0n && (amount === 0n || category.slice(2) !== '0'), `The VAT at ${category} % is out of range.`);
    tax += amount;
  }
  expect(bases.size === 0, `The VAT of ${[...bases.keys()].join(' and ')} % is missing.`);

  const totals = one(root, 'cac:LegalMonetaryTotal');
  const rounding = totals.children.some(({ name }) => name === 'cbc:PayableRoundingAmount')
    ? money(totals, 'cbc:PayableRoundingAmount')
    : 0n;
  const payable = money(totals, 'cbc:PayableAmount');
  expectEqual('the VAT of the invoice', money(taxTotal, 'cbc:TaxAmount'), tax);
  expectEqual('the sum of the lines', money(totals, 'cbc:LineExtensionAmount'), net);
  expectEqual('the total without VAT', money(totals, 'cbc:TaxExclusiveAmount'), net);
  expectEqual('the total with VAT', money(totals, 'cbc:TaxInclusiveAmount'), net + tax);
  expectEqual('the amount to pay', payable, net + tax + rounding);
  expect(
    size(rounding) <= tolerance.rounding,
    `A rounding of ${decimalOf(Number(rounding))} exceeds half a centime per line.`,
  );
  expect(payable >= 0n && payable <= BigInt(MAX_CENTIMES), 'The amount to pay is out of range.');
  expect(text(root, 'cbc:Note') === amountNote(kind, Number(payable)), 'The amount in words is not the amount to pay.');
}

function size(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}

function expectEqual(what: string, written: bigint, recomputed: bigint): void {
  expect(
    written === recomputed,
    `The document states ${written} centimes for ${what}; the recomputed value is ${recomputed}.`,
  );
}

/**
 * Returns the element at the end of a path of names. Each step must exist exactly once; of several cbc:Note elements
 * the first is taken.
 */
function one(element: ReadElement, ...path: readonly string[]): ReadElement {
  let found = element;
  for (const step of path) {
    const children = found.children.filter(({ name }) => name === step);
    const [child] = step === 'cbc:Note' ? children : children.length === 1 ? children : [];
    expect(child !== undefined, `${found.name} contains ${children.length} elements ${step}.`);
    found = child;
  }
  return found;
}

/** Returns an optional child element. {@link PARTS} limits it to one occurrence. */
function optional(element: ReadElement, name: string): ReadElement | null {
  return element.children.find((child) => child.name === name) ?? null;
}

function text(element: ReadElement, ...path: readonly string[]): string {
  return one(element, ...path).text;
}

/** Returns an amount in centimes. It must be written in MAD with two decimals. */
function money(element: ReadElement, ...path: readonly string[]): bigint {
  const { name, text: written, attributes } = one(element, ...path);
  expect(attributes.endsWith(` currencyID="${CURRENCY}"`), `${name} is not in ${CURRENCY}.`);
  expect(/^-?\d+\.\d\d$/.test(written), `${name} is not an amount with two decimals.`);
  return BigInt(written.replace('.', ''));
}

/** Returns category and rate as one key, such as `S 20`, by which VAT is summed. */
function categoryOf(category: ReadElement): string {
  const [id, rate] = [text(category, 'cbc:ID'), text(category, 'cbc:Percent')];
  expect(text(category, 'cac:TaxScheme', 'cbc:ID') === 'VAT', 'A tax category does not have the tax scheme VAT.');
  expect(parseTaxRate(rate) !== null, `${rate} is not a Moroccan VAT rate.`);
  expect(
    rate === '0' ? id === 'E' || id === 'Z' : id === 'S',
    `The tax category ${id} does not match the rate ${rate} %.`,
  );
  const reasons = category.children.filter(({ name }) => name === 'cbc:TaxExemptionReason').length;
  if (category.name === 'cac:TaxCategory') {
    expect(reasons === (id === 'E' ? 1 : 0), `The tax category ${id} has ${reasons} exemption reasons.`);
  }
  return `${id} ${rate}`;
}
