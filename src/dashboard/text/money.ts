import type { Kind } from '../../domain/invoice/kinds.ts';
import type { Language } from './languages.ts';

const NO_BREAK_SPACE = '\u00a0';

/** The separators of thousands and of decimals. Arabic uses the French ones, as in Morocco. */
const SEPARATORS: Readonly<Record<Language, readonly [thousands: string, decimal: string]>> = {
  fr: [NO_BREAK_SPACE, ','],
  ar: [NO_BREAK_SPACE, ','],
  en: [',', '.'],
};

/**
 * Formats an amount: `123456` → `1 234,56`. Works on the digits, so that no amount becomes a fraction.
 * @param centimes a safe integer
 */
export function formatAmount(centimes: number, language: Language): string {
  const [thousands, decimal] = SEPARATORS[language];
  const [whole, decimals] = digitsOf(centimes);
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, thousands);
  return `${centimes < 0 ? '\u2212' : ''}${grouped}${decimal}${decimals}`;
}

/** Formats an amount with its currency, isolated from the direction of the text around it: a part of a sentence. */
export function formatMoney(centimes: number, language: Language): string {
  return `\u2066${formatAmount(centimes, language)}${NO_BREAK_SPACE}MAD\u2069`;
}

/** Gives an amount the sign of its document's kind: what a credit note states reduces what is owed. */
export function signedAmount(centimes: number, kind: Kind): number {
  return kind === 'credit_note' && centimes !== 0 ? -centimes : centimes;
}

/** Returns the digits before and after the decimal sign, without the amount's own sign: `-5` → `0` and `05`. */
function digitsOf(centimes: number): [whole: string, decimals: string] {
  const digits = String(Math.abs(centimes)).padStart(3, '0');
  return [digits.slice(0, -2), digits.slice(-2)];
}

/** Formats a number: `12345` → `12 345`. @param n a whole number */
export function formatNumber(n: number, language: Language): string {
  return String(n).replaceAll(/\B(?=(?:\d{3})+$)/g, SEPARATORS[language][0]);
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
