import { foreignAmountText } from '../../domain/currencies.ts';
import { PRICE_PLACES, quantityText, RATE_PLACES, rateText, scaled, unitPriceText } from '../../domain/decimal.ts';
import type { Kind } from '../../domain/invoice/kinds.ts';
import { UNITS, type Unit } from '../../domain/invoice/units.ts';
import type { Language } from './languages.ts';
import { digitsOf, formatAmount, localNumber, NO_BREAK_SPACE } from './local-number.ts';

/** Formats an amount with its currency, isolated from the direction of the text around it: a part of a sentence. */
export function formatMoney(centimes: number, language: Language): string {
  return `\u2066${formatAmount(centimes, language)}${NO_BREAK_SPACE}MAD\u2069`;
}

/** Formats a unit price: `12.5` centimes → `0,125`, with two to four decimals. */
export function formatUnitPrice(centimes: number, language: Language): string {
  return localNumber(unitPriceText(centimes), language);
}

/** Formats a quantity: `1234.5` → `1 234,5`. */
function formatQuantity(quantity: number, language: Language): string {
  return localNumber(quantityText(quantity), language);
}

/** Formats a quantity with its unit: `1,5 h`. */
export function quantityIn(quantity: number, unit: Unit | null, language: Language): string {
  const number = formatQuantity(quantity, language);
  return unit === null ? number : `${number}${NO_BREAK_SPACE}${UNITS[unit][language]}`;
}

/** Formats a percentage: `2.5` → `2,5 %`. */
export function formatPercent(percent: number, language: Language): string {
  return `${localNumber(String(percent), language)}${language === 'en' ? '' : NO_BREAK_SPACE}%`;
}

/** Gives an amount the sign of its document's kind: what a credit note states reduces what is owed. */
export function signedAmount(centimes: number, kind: Kind): number {
  return kind === 'credit_note' && centimes !== 0 ? -centimes : centimes;
}

/** Formats a number: `12345` → `12 345`, `0.5` → `0,5`. */
export function formatNumber(n: number, language: Language): string {
  return localNumber(String(n), language);
}

/**
 * Formats an amount as people type it and spreadsheets read it, without separators of thousands: `-123450` →
 * `-1234,50`.
 */
export function plainAmount(centimes: number, decimal = ','): string {
  const [whole, decimals] = digitsOf(centimes);
  return `${centimes < 0 ? '-' : ''}${whole}${decimal}${decimals}`;
}

/** An amount with different signs for thousands and decimals, which is unambiguous: `1.234,50`, `1,234.50`. */
const GROUPED = /^\d{1,3}(?:(?:\.\d{3})+,|(?:,\d{3})+\.)\d{1,2}$/;

/**
 * Parses an amount: `1 234,5` → 123450. Works on the digits, so that no amount becomes a fraction.
 * @returns centimes; null for a text that is not an amount of up to 13 digits before the decimals, or is ambiguous:
 * `12,345`
 */
export function centimesOf(text: string): number | null {
  const typed = text.replaceAll(/\s/g, '');
  const plain = GROUPED.test(typed) ? typed.replaceAll(/[.,](?=\d{3})/g, '') : typed;
  const [, whole = '', decimals = ''] = /^(\d{1,13})(?:[.,](\d{1,2}))?$/.exec(plain) ?? [];
  return whole === '' ? null : Number(whole + decimals.padEnd(2, '0'));
}

/**
 * Parses a number with decimals: `1 234,5` → 1234.5. Three decimals are ambiguous, as they may be thousands, unless the
 * number begins with 0; a further zero makes them clear: `1,1250`.
 * @returns null for a text that is no number of at most so many decimals, or is ambiguous
 */
export function decimalOf(text: string, places: number): number | null {
  const [, whole = '', decimals = ''] = /^(\d{1,12})(?:[.,](\d{1,4}))?$/.exec(text.replaceAll(/\s/g, '')) ?? [];
  if (whole === '' || (decimals.length === 3 && Number(whole) !== 0)) return null;
  const value = Number(`${whole}.${decimals || '0'}`);
  return scaled(value, places) === null ? null : value;
}

/**
 * Parses a unit price in dirhams with up to four decimals, in the forms of {@link centimesOf} and {@link decimalOf}.
 * @returns centimes, with up to two decimals
 */
export function unitPriceOf(text: string): number | null {
  const whole = centimesOf(text);
  if (whole !== null) return whole;
  const dirhams = decimalOf(text, PRICE_PLACES + 2);
  if (dirhams === null) return null;
  const [digits = '', decimals = ''] = String(dirhams).split('.');
  return Number(`${digits}${decimals.slice(0, 2).padEnd(2, '0')}.${decimals.slice(2) || '0'}`);
}

/** Formats a unit price as people type it. Three decimals get a fourth, so that they are not read as thousands. */
export function plainUnitPrice(centimes: number): string {
  const [whole, decimals = ''] = unitPriceText(centimes).split('.');
  return `${whole},${decimals.length === 3 ? `${decimals}0` : decimals}`;
}

/**
 * Parses an amount of another currency to its smallest unit: `1 000,5` of two decimals → 100050.
 * @param places how many decimals the currency has
 * @returns null for a text that is no amount with at most so many decimals
 */
export function foreignAmountOf(text: string, places: number): number | null {
  if (places === 2) return centimesOf(text);
  const [, whole = '', decimals = ''] = /^(\d{1,12})(?:[.,](\d{1,3}))?$/.exec(text.replaceAll(/\s/g, '')) ?? [];
  return whole === '' || decimals.length > places ? null : Number(whole + decimals.padEnd(places, '0'));
}

/**
 * Parses an exchange rate: `10,8345` → 10.8345. No currency is worth a thousand dirhams, so three decimals are no
 * thousands.
 * @returns null for a text that is no number of at most eight decimals
 */
export function exchangeRateOf(text: string): number | null {
  const [, whole = '', decimals = '0'] = /^(\d{1,6})(?:[.,](\d{1,8}))?$/.exec(text.replaceAll(/\s/g, '')) ?? [];
  if (whole === '') return null;
  const rate = Number(`${whole}.${decimals}`);
  return scaled(rate, RATE_PLACES) === null ? null : rate;
}

/** Formats an amount of another currency with its code: `100050` of EUR → `1 000,50 EUR`. */
export function formatForeign(amount: number, currency: string, language: Language): string {
  return `${localNumber(foreignAmountText(amount, currency), language)}${NO_BREAK_SPACE}${currency}`;
}

/** Formats an exchange rate: `1 EUR = 10,8345 MAD`. */
export function formatRate(rate: number, currency: string, language: Language): string {
  const unit = `1${NO_BREAK_SPACE}${currency}`;
  return `${unit} = ${localNumber(rateText(rate), language)}${NO_BREAK_SPACE}MAD`;
}
