import { LIMITS } from '../../domain/invoice/field-input.ts';
import { KINDS, type Kind } from '../../domain/invoice/kinds.ts';
import { parseTaxRate } from '../../domain/invoice/tax-rate.ts';
import { CURRENCY, decimalOf, divideHalfUp, MAX_CENTIMES } from '../../domain/money.ts';
import { adjust, expectTotal, lineDiscountOf } from './check-adjustments.ts';
import { expectWithholding } from './check-withholding.ts';
import { amountNote } from './invoice-document.ts';
import type { ReadElement } from './read-canonical.ts';
import { expect, expectEqual, money, one, optional, text } from './rules.ts';

/** Maximum difference of VAT (EN 16931, BR-S-09), centimes. */
const LESS_THAN_A_DIRHAM = 99n;
/**
 * Returns the limits of the rounding differences of a document, centimes. Each invoice rounds VAT by itself, and its
 * amount may differ by half a centime per line. The credit notes of an invoice add up to exactly its VAT and its
 * amount, so each may differ: its VAT by less than a dirham (EN 16931, BR-S-09), its amount by the rounding of an
 * invoice of any length.
 */
function toleranceOf(kind: Kind, lines: number): { readonly tax: bigint; readonly rounding: bigint } {
  if (kind === 'invoice') return { tax: 0n, rounding: BigInt(lines) / 2n };
  return { tax: LESS_THAN_A_DIRHAM, rounding: BigInt(LIMITS.lines) / 2n };
}

/**
 * Recomputes every figure of a document to the centime from the quantities, prices, discounts and rates of its lines.
 * @throws {BrokenRule}
 */
export function expectFigures(root: ReadElement, kind: Kind): void {
  const bases = new Map<string, bigint>();
  // Rates of lines whose prices included VAT, and of discounts and charges of the whole document, which may have
  // included it. Their VAT is rounded from the sum with VAT, so it may differ by a centime from the VAT on the sum
  // without VAT.
  const containing = new Set<string>();
  const exempt: { category: string; at: string; reason: string }[] = [];
  let net = 0n;
  const lines = root.children.filter(({ name }) => name === `cac:${KINDS[kind].ublRoot}Line`);
  const tolerance = toleranceOf(kind, lines.length);
  lines.forEach((line, index) => {
    const at = `line ${index + 1}`;
    expect(text(line, 'cbc:ID') === String(index + 1), `The number of ${at} is not ${index + 1}.`);
    const amount = money(line, 'cbc:LineExtensionAmount');
    const { listed, perQuantity } = listPrice(line, `cbc:${KINDS[kind].ublQuantity}Quantity`, at);
    expectEqual(`the amount of ${at}`, amount, listed - lineDiscountOf(line, listed, at));
    const category = categoryOf(one(line, 'cac:Item', 'cac:ClassifiedTaxCategory'));
    const note = optional(line, 'cbc:Note');
    if (note !== null) exempt.push({ category, at, reason: note.text.split(' ; ')[0] ?? '' });
    bases.set(category, (bases.get(category) ?? 0n) + amount);
    if (perQuantity) containing.add(category);
    net += amount;
  });

  const { discount, charge, changed, deposits } = adjust(root, bases, (each) =>
    categoryOf(one(each, 'cac:TaxCategory')),
  );
  const taxTotal = one(root, 'cac:TaxTotal');
  expectExemptions(taxTotal, exempt);
  let tax = 0n;
  for (const subtotal of taxTotal.children.slice(1)) {
    const category = categoryOf(one(subtotal, 'cac:TaxCategory'), true);
    const base = bases.get(category);
    expect(base !== undefined, `The VAT of ${category} % is stated twice, or no line has it.`);
    bases.delete(category);
    expectEqual(`the base at ${category} %`, money(subtotal, 'cbc:TaxableAmount'), base);
    const amount = money(subtotal, 'cbc:TaxAmount');
    const computed = divideHalfUp(base * BigInt(category.slice(2)), 100n);
    const differs = size(amount - computed);
    // The VAT is that of the sale less the VAT of its deposits and of their credit notes, each of which was rounded by
    // itself.
    const most = deposits.has(category) && base > 0n ? LESS_THAN_A_DIRHAM : tolerance.tax;
    if (differs > most && !((containing.has(category) || changed.has(category)) && differs <= 1n))
      expectEqual(`the VAT at ${category} %`, amount, computed);
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
  expectTotal(totals, 'cbc:AllowanceTotalAmount', 'the discount', discount);
  expectTotal(totals, 'cbc:ChargeTotalAmount', 'the charge', charge);
  const due = net - discount + charge;
  expectEqual('the total without VAT', money(totals, 'cbc:TaxExclusiveAmount'), due);
  expectEqual('the total with VAT', money(totals, 'cbc:TaxInclusiveAmount'), due + tax);
  expectEqual('the amount to pay', payable, due + tax + rounding);
  expect(
    size(rounding) <= tolerance.rounding,
    `A rounding of ${decimalOf(Number(rounding))} exceeds half a centime per line.`,
  );
  expect(payable >= 0n && payable <= BigInt(MAX_CENTIMES), 'The amount to pay is out of range.');
  expectWithholding(root, tax, payable);
  expect(text(root, 'cbc:Note') === amountNote(kind, Number(payable)), 'The amount in words is not the amount to pay.');
}

/** Checks that the VAT breakdown states the exemption of each line that has one. */
function expectExemptions(
  taxTotal: ReadElement,
  exempt: readonly { readonly category: string; readonly at: string; readonly reason: string }[],
): void {
  const stated = taxTotal.children.slice(1).map((subtotal) => {
    return optional(one(subtotal, 'cac:TaxCategory'), 'cbc:TaxExemptionReason')?.text ?? '';
  });
  for (const { category, at, reason } of exempt) {
    expect(category === 'E 0', `The exemption of ${at} does not fit its VAT.`);
    expect(stated.join(' ; ').split(' ; ').includes(reason), `The VAT breakdown lacks the exemption of ${at}.`);
  }
}

/**
 * Returns a line's quantity times its price in centimes, rounded half up. A price of a line whose price included VAT is
 * stated for the whole quantity (`perQuantity`).
 */
function listPrice(line: ReadElement, quantityName: string, at: string): { listed: bigint; perQuantity: boolean } {
  const { text: quantity, attributes } = one(line, quantityName);
  expect(/^\d+(\.\d{1,3})?$/.test(quantity), `The quantity of ${at} is not a number of at most three decimals.`);
  expect(/[1-9]/.test(quantity), `The quantity of ${at} is zero.`);
  const price = one(line, 'cac:Price');
  const base = optional(price, 'cbc:BaseQuantity');
  if (base !== null) {
    const isSame = base.text === quantity && base.attributes === attributes;
    expect(isSame, `The price of ${at} is not stated for its quantity.`);
    return { listed: money(price, 'cbc:PriceAmount'), perQuantity: true };
  }
  const product = decimals(quantity, 3) * decimals(priceText(price, at), 4);
  return { listed: divideHalfUp(product, 10n ** 5n), perQuantity: false };
}

function priceText(price: ReadElement, at: string): string {
  const { text: written, attributes } = one(price, 'cbc:PriceAmount');
  const isPrice = /^\d+\.\d{2,4}$/.test(written) && attributes.endsWith(` currencyID="${CURRENCY}"`);
  expect(isPrice, `The price of ${at} is not an amount of ${CURRENCY} with two to four decimals.`);
  return written;
}

/** Returns a decimal number times 10 to the power of `places`. */
function decimals(written: string, places: number): bigint {
  const [whole = '', fraction = ''] = written.split('.');
  return BigInt(whole + fraction.padEnd(places, '0'));
}

function size(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}

/**
 * Returns category and rate as one key, such as `S 20`, by which VAT is summed. Checks both.
 * @param mayHaveReason whether the category is that of a VAT subtotal, which must state the reason of an exemption; any
 *   other category must state none
 */
function categoryOf(category: ReadElement, mayHaveReason = false): string {
  const [id, rate] = [text(category, 'cbc:ID'), text(category, 'cbc:Percent')];
  expect(text(category, 'cac:TaxScheme', 'cbc:ID') === 'VAT', 'A tax category does not have the tax scheme VAT.');
  expect(parseTaxRate(rate) !== null, `${rate} is not a Moroccan VAT rate.`);
  expect(
    rate === '0' ? id === 'E' || id === 'Z' : id === 'S',
    `The tax category ${id} does not match the rate ${rate} %.`,
  );
  const reasons = category.children.filter(({ name }) => name === 'cbc:TaxExemptionReason').length;
  const due = mayHaveReason && id === 'E' ? 1 : 0;
  expect(reasons === due, `The tax category ${id} has ${reasons} exemption reasons.`);
  return `${id} ${rate}`;
}
