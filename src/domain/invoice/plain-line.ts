import { quantityText, unitPriceText } from '../decimal.ts';
import type { DocumentLanguage } from '../document-language.ts';
import { type Centimes, CURRENCY, decimalOf } from '../money.ts';
import { finalAmountOf, isPlain, type StatedLine } from './line-amounts.ts';
import { LINE_WORDS } from './line-words.ts';
import { UNITS } from './units.ts';

// A line as clients of integers read it (docs/decisions/0081, 0086, 0087): its quantity times its unit price is its
// amount. A line that has a decimal, a discount, a price with tax or a share of the document's discount, charge or
// deposits counts as one piece at its amount, and its description states the rest.

export type PlainableLine = StatedLine & { readonly description: string };

/**
 * Returns the description with what whole numbers cannot say, as REST shows it: `Conseil (1,5 h × 400,00 MAD − 10 %)`.
 */
export function plainDescription(line: PlainableLine): string {
  return describedIn('fr', line);
}

/** Returns the description with what whole numbers cannot say, in a language. */
export function describedIn(language: DocumentLanguage, line: PlainableLine): string {
  const { description, unitPrice, unit } = line;
  if (!isPlain(line)) {
    const tax = line.taxIncluded ? ` ${LINE_WORDS[language].withTax}` : '';
    const price = `${local(unitPriceText(unitPrice), language)} ${CURRENCY}${tax}`;
    const changes = `${reduction(line, language)}${share(line, language)}`;
    return `${description} (${measureOf(line, language)} × ${price}${changes})`;
  }
  return unit == null ? description : `${description} (${measureOf(line, language)})`;
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

/** Writes the quantity of a line with its unit: `1,5 h`. */
export function measureOf(
  { quantity, unit }: Pick<StatedLine, 'quantity' | 'unit'>,
  language: DocumentLanguage,
): string {
  return [local(quantityText(quantity), language), unit && UNITS[unit][language]].filter(Boolean).join(' ');
}

function reduction({ discount }: StatedLine, language: DocumentLanguage): string {
  if (discount == null) return '';
  const { amount, percent } = discount;
  if (percent != null) return ` − ${local(String(percent), language)} %`;
  return ` − ${local(decimalOf(amount ?? 0), language)} ${CURRENCY}`;
}

/** Writes what the discount, the charge and the deposits of the document change: `; remise globale − 4,17 MAD HT`. */
function share(line: StatedLine, language: DocumentLanguage): string {
  const { discount, charge, deposit, withoutTax } = LINE_WORDS[language];
  const textOf = (what: string, difference: Centimes) => {
    if (difference === 0) return '';
    const amount = local(decimalOf(Math.abs(difference)), language);
    return `; ${what} ${difference < 0 ? '−' : '+'} ${amount} ${CURRENCY} ${withoutTax}`;
  };
  const adjusted = (line.finalAmount ?? line.amount) - line.amount;
  return textOf(adjusted < 0 ? discount : charge, adjusted) + textOf(deposit, -(line.depositShare ?? 0));
}

function local(number: string, language: DocumentLanguage): string {
  return number.replace('.', LINE_WORDS[language].decimal);
}
