import { quantityText, unitPriceText } from '../decimal.ts';
import { type Centimes, CURRENCY, decimalOf } from '../money.ts';
import { isPlain, type StatedLine } from './line-amounts.ts';
import { UNITS } from './units.ts';

export type PlainableLine = StatedLine & { readonly description: string };

/** A line in whole numbers: its quantity times its unit price is its amount. */
export interface PlainLine {
  readonly plainDescription: string;
  readonly plainQuantity: number;
  /** Excluding tax. */
  readonly plainUnitPrice: Centimes;
}

/**
 * Returns a line as clients of integers read it (docs/decisions/0081). A line that has a decimal, a discount or a price
 * with tax counts as one piece at its amount, and its description says the rest: `Conseil (1,5 h × 400,00 MAD − 10 %)`.
 */
export function plainLine(line: PlainableLine): PlainLine {
  const { description, quantity, unitPrice, unit, amount } = line;
  const plain = isPlain(line);
  if (plain && unit == null) {
    return { plainDescription: description, plainQuantity: quantity, plainUnitPrice: unitPrice };
  }
  const measure = measureOf(line);
  if (plain)
    return { plainDescription: `${description} (${measure})`, plainQuantity: quantity, plainUnitPrice: unitPrice };
  const price = `${inFrench(unitPriceText(unitPrice))} ${CURRENCY}${line.taxIncluded ? ' TTC' : ''}`;
  const plainDescription = `${description} (${measure} × ${price}${reduction(line)})`;
  return { plainDescription, plainQuantity: 1, plainUnitPrice: amount };
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
