import type { Language } from './languages.ts';

export const NO_BREAK_SPACE = '\u00a0';

/** The separators of thousands and of decimals. Arabic uses the French ones, as in Morocco. */
const SEPARATORS: Readonly<Record<Language, readonly [thousands: string, decimal: string]>> = {
  fr: [NO_BREAK_SPACE, ','],
  ar: [NO_BREAK_SPACE, ','],
  en: [',', '.'],
};

/**
 * Formats an amount: `123456` → `1 234,56`. Works on the digits, so that no amount becomes a fraction.
 * @param centimes a safe integer, or a sum of any size
 */
export function formatAmount(centimes: number | bigint, language: Language): string {
  return `${centimes < 0 ? '\u2212' : ''}${localNumber(digitsOf(centimes).join('.'), language)}`;
}

/** Writes a number that has a point with the separators of a language. */
export function localNumber(number: string, language: Language): string {
  const [thousands, decimal] = SEPARATORS[language];
  const [whole = '', decimals] = number.split('.');
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, thousands);
  return decimals === undefined ? grouped : `${grouped}${decimal}${decimals}`;
}

/** Returns the digits before and after the decimal sign, without the amount's own sign: `-5` → `0` and `05`. */
export function digitsOf(centimes: number | bigint): [whole: string, decimals: string] {
  const digits = String(centimes < 0 ? -centimes : centimes).padStart(3, '0');
  return [digits.slice(0, -2), digits.slice(-2)];
}
