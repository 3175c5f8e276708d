import { decimalOf, divideHalfUp, MAX_CENTIMES } from '../../domain/money.ts';
import { amountNote } from './invoice-document.ts';
import { type ReadElement, readCanonical } from './read-canonical.ts';

/**
 * Holds a written document against the rules of UBL's structure and of Moroccan VAT, from its own text: every figure is recomputed to the
 * centime from the lines' quantities, prices and rates.
 * @param xml in canonical form
 * @returns the first rule that is broken, as a sentence; null when none is
 */
export function brokenRule(xml: string): string | null {
  try {
    const root = readCanonical(xml);
    expect(root !== null && root.name === 'Invoice', 'The document is not a well-formed Invoice.');
    expectNothingEmpty(root);
    expectOrder(root);
    expectTerms(root);
    expectFigures(root);
    return null;
  } catch (error) {
    if (error instanceof BrokenRule) return error.message;
    throw error;
  }
}

class BrokenRule extends Error {}

function expect(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new BrokenRule(rule);
}

/** UBL 2.1, section 5.1 of its document constraints: no element without content. */
function expectNothingEmpty({ name, text, children }: ReadElement): void {
  if (children.length === 0) expect(text.trim() !== '', `${name} is empty.`);
  else expect(text === '', `${name} has text beside its elements.`);
  for (const child of children) expectNothingEmpty(child);
}

/** The parts of our Invoice in the schema's order: how often each occurs, at least and at most. */
const PARTS: readonly (readonly [name: string, least: number, most: number])[] = [
  ['ext:UBLExtensions', 1, 1],
  ['cbc:UBLVersionID', 1, 1],
  ['cbc:CustomizationID', 1, 1],
  ['cbc:ID', 1, 1],
  ['cbc:UUID', 1, 1],
  ['cbc:IssueDate', 1, 1],
  ['cbc:DueDate', 0, 1],
  ['cbc:InvoiceTypeCode', 1, 1],
  ['cbc:Note', 1, 2],
  ['cbc:DocumentCurrencyCode', 1, 1],
  ['cac:Signature', 1, 1],
  ['cac:AccountingSupplierParty', 1, 1],
  ['cac:AccountingCustomerParty', 1, 1],
  ['cac:Delivery', 0, 1],
  ['cac:PaymentMeans', 1, 1],
  ['cac:TaxTotal', 1, 1],
  ['cac:LegalMonetaryTotal', 1, 1],
  ['cac:InvoiceLine', 1, Number.POSITIVE_INFINITY],
];

function expectOrder(root: ReadElement): void {
  let next = 0;
  for (const [name, least, most] of PARTS) {
    const start = next;
    while (root.children[next]?.name === name) next++;
    const count = next - start;
    expect(count >= least && count <= most, `${name} occurs ${count} times in its place.`);
  }
  expect(next === root.children.length, `${root.children[next]?.name} is out of its place.`);
  expect(isDay(text(root, 'cbc:IssueDate')), 'The issue date is not a calendar date.');
  for (const party of ['cac:AccountingSupplierParty', 'cac:AccountingCustomerParty']) {
    const ice = text(root, party, 'cac:Party', 'cac:PartyIdentification', 'cbc:ID');
    expect(/^\d{15}$/.test(ice), `The ICE of ${party} is not 15 digits.`);
  }
}

/** UNCL4461, as far as the service uses it; 30 is a credit transfer, which needs an account (EN 16931, BR-61). */
const PAYMENT_CODES = /^(1|10|20|24|30|42|48|49|60|68|97)$/;

function expectTerms(root: ReadElement): void {
  const issued = text(root, 'cbc:IssueDate');
  const due = optional(root, 'cbc:DueDate')?.text ?? issued;
  expect(isDay(due) && due >= issued, 'The due date is not a calendar date from the date of issue on.');
  const delivery = optional(root, 'cac:Delivery');
  if (delivery !== null) {
    expect(isDay(text(delivery, 'cbc:ActualDeliveryDate')), 'The date of the operation is not a calendar date.');
  }
  const means = one(root, 'cac:PaymentMeans');
  const parts = means.children.map(({ name }) => name).join(' ');
  expect(
    /^cbc:PaymentMeansCode( cbc:PaymentID)?( cac:PayeeFinancialAccount)?$/.test(parts),
    'The parts of cac:PaymentMeans are not in their places.',
  );
  const code = text(means, 'cbc:PaymentMeansCode');
  expect(PAYMENT_CODES.test(code), `${code} is not a code of a payment mode.`);
  const account = optional(means, 'cac:PayeeFinancialAccount');
  expect(code !== '30' || account !== null, 'A credit transfer has no account.');
  expect(account === null || isAccount(text(account, 'cbc:ID')), 'The account is not a RIB with its check key.');
}

function isDay(written: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(written) ?? [];
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
}

/** The key of a RIB is 97 less the remainder of what stands before it, with two zeros appended (01 to 97). */
function isAccount(rib: string): boolean {
  return /^\d{24}$/.test(rib) && 97n - (BigInt(`${rib.slice(0, 22)}00`) % 97n) === BigInt(rib.slice(22));
}

function expectFigures(root: ReadElement): void {
  const bases = new Map<string, bigint>();
  let net = 0n;
  const lines = root.children.filter(({ name }) => name === 'cac:InvoiceLine');
  lines.forEach((line, index) => {
    const at = `line ${index + 1}`;
    expect(text(line, 'cbc:ID') === String(index + 1), `The number of ${at} is out of the series.`);
    const amount = money(line, 'cbc:LineExtensionAmount');
    const quantity = text(line, 'cbc:InvoicedQuantity');
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
    expect(base !== undefined, `The VAT of ${category} % is stated for no line, or twice.`);
    bases.delete(category);
    expectEqual(`the base at ${category} %`, money(subtotal, 'cbc:TaxableAmount'), base);
    const amount = money(subtotal, 'cbc:TaxAmount');
    expectEqual(`the VAT at ${category} %`, amount, divideHalfUp(base * BigInt(category.slice(2)), 100n));
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
  const size = rounding < 0n ? -rounding : rounding;
  expect(
    size * 2n <= BigInt(lines.length),
    `A rounding of ${decimalOf(Number(rounding))} is beyond half a centime a line.`,
  );
  expect(payable >= 0n && payable <= BigInt(MAX_CENTIMES), 'The amount to pay is out of range.');
  expect(text(root, 'cbc:Note') === amountNote(Number(payable)), 'The amount in words is not the amount to pay.');
}

function expectEqual(what: string, written: bigint, recomputed: bigint): void {
  expect(written === recomputed, `In centimes, ${what} is written as ${written} and recomputed as ${recomputed}.`);
}

/** The element at the end of a path of names, which has to be there once at each step. */
function one(element: ReadElement, ...path: readonly string[]): ReadElement {
  let found = element;
  for (const step of path) {
    const children = found.children.filter(({ name }) => name === step);
    const [child] = step === 'cbc:Note' ? children : children.length === 1 ? children : [];
    expect(child !== undefined, `${found.name} has ${children.length} of ${step}.`);
    found = child;
  }
  return found;
}

/** A child that may be left out; {@link PARTS} says that it occurs once at most. */
function optional(element: ReadElement, name: string): ReadElement | null {
  return element.children.find((child) => child.name === name) ?? null;
}

function text(element: ReadElement, ...path: readonly string[]): string {
  return one(element, ...path).text;
}

/** Centimes of an amount, which has to be in dirhams with two decimals. */
function money(element: ReadElement, ...path: readonly string[]): bigint {
  const { name, text: written, attributes } = one(element, ...path);
  expect(attributes.endsWith(' currencyID="MAD"'), `${name} is not in MAD.`);
  expect(/^-?\d+\.\d\d$/.test(written), `${name} is not an amount with two decimals.`);
  return BigInt(written.replace('.', ''));
}

/** Category and rate in one word, `S 20`; VAT is summed for each. */
function categoryOf(category: ReadElement): string {
  const [id, rate] = [text(category, 'cbc:ID'), text(category, 'cbc:Percent')];
  expect(text(category, 'cac:TaxScheme', 'cbc:ID') === 'VAT', 'A tax category is not one of VAT.');
  expect(/^(0|7|10|14|20)$/.test(rate), `${rate} is not a Moroccan VAT rate.`);
  expect(rate === '0' ? id === 'E' || id === 'Z' : id === 'S', `The category ${id} does not go with ${rate} %.`);
  const reasons = category.children.filter(({ name }) => name === 'cbc:TaxExemptionReason').length;
  if (category.name === 'cac:TaxCategory') {
    expect(reasons === (id === 'E' ? 1 : 0), `The category ${id} has ${reasons} exemption reasons.`);
  }
  return `${id} ${rate}`;
}
