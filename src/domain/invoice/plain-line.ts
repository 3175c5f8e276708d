import { quantityText, unitPriceText } from '../decimal.ts';
import { type Centimes, CURRENCY, decimalOf } from '../money.ts';
import { isPlain, type StatedLine } from './line-amounts.ts';
import { UNITS } from './units.ts';

// A line as clients of integers read it (docs/decisions/0081): its quantity times its unit price is its amount. A line
// that has a decimal, a discount or a price with tax counts as one piece at its amount, and its description says the
// rest.

export type PlainableLine = StatedLine & { readonly description: string };

/** Returns the description with what whole numbers cannot say: `Conseil (1,5 h × 400,00 MAD − 10 %)`. */
export function plainDescription(line: PlainableLine): string {
  const { description, unitPrice, unit } = line;
  if (!isPlain(line)) {
    const price = `${inFrench(unitPriceText(unitPrice))} ${CURRENCY}${line.taxIncluded ? ' TTC' : ''}`;
    return `${description} (${measureOf(line)} × ${price}${reduction(line)})`;
  }
  return unit == null ? description : `${description} (${measureOf(line)})`;
}

export function plainQuantity(line: StatedLine): number {
  return isPlain(line) ? line.quantity : 1;
}

/** Returns the unit price excluding tax, in centimes. */
export function plainUnitPrice(line: StatedLine): Centimes {
  return isPlain(line) ? line.unitPrice : line.amount;
}

/** Writes how much a line has, in French: `1,5 h`. */
export function measureOf({ quantity, unit }: Pick<StatedLine, 'quantity' | 'unit'>): string {
  return [inFrench(quantityText(quantity)), unit && UNITS[unit].fr].filter(Boolean).join(' ');
}

function reduction({ discount }: StatedLine): string {
  if (discount == null) return '';
  const { amount, percent } = discount;
  return ` − ${percent == null ? `${inFrench(decimalOf(amount ?? 0))} ${CURRENCY}` : `${inFrench(String(percent))} %`}`;
}

function inFrench(number: string): string {
  return number.replace('.', ',');
}
