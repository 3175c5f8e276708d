import { quantityText, unitPriceText } from '../decimal.ts';
import { type Centimes, CURRENCY, decimalOf } from '../money.ts';
import { finalAmountOf, isPlain, type StatedLine } from './line-amounts.ts';
import { UNITS } from './units.ts';

// A line as clients of integers read it (docs/decisions/0081, 0086, 0087): its quantity times its unit price is its
// amount. A line that has a decimal, a discount, a price with tax or a share of what concerns the whole document counts
// as one piece at what it comes to, and its description says the rest.

export type PlainableLine = StatedLine & { readonly description: string };

/** Returns the description with what whole numbers cannot say: `Conseil (1,5 h × 400,00 MAD − 10 %)`. */
export function plainDescription(line: PlainableLine): string {
  const { description, unitPrice, unit } = line;
  if (!isPlain(line)) {
    const price = `${inFrench(unitPriceText(unitPrice))} ${CURRENCY}${line.taxIncluded ? ' TTC' : ''}`;
    return `${description} (${measureOf(line)} × ${price}${reduction(line)}${share(line)})`;
  }
  return unit == null ? description : `${description} (${measureOf(line)})`;
}

export function plainQuantity(line: StatedLine): number {
  return isPlain(line) ? line.quantity : 1;
}

/** Returns the unit price excluding tax, in centimes. */
export function plainUnitPrice(line: StatedLine): Centimes {
  return isPlain(line) ? line.unitPrice : finalAmountOf(line);
}

/** Returns the quantity times the unit price, excluding tax, in centimes. */
export function plainAmount(line: StatedLine): Centimes {
  return finalAmountOf(line);
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

/** Writes what the discount, the charge and the deposits of the document change: `; remise globale − 4,17 MAD HT`. */
function share(line: StatedLine): string {
  const adjusted = (line.finalAmount ?? line.amount) - line.amount;
  return (
    shareText(adjusted < 0 ? 'remise globale' : 'frais', adjusted) + shareText('acompte', -(line.depositShare ?? 0))
  );
}

function shareText(what: string, difference: Centimes): string {
  if (difference === 0) return '';
  return `; ${what} ${difference < 0 ? '−' : '+'} ${inFrench(decimalOf(Math.abs(difference)))} ${CURRENCY} HT`;
}

function inFrench(number: string): string {
  return number.replace('.', ',');
}
