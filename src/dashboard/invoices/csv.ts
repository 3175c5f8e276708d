import type { Language } from '../text/languages.ts';
import { plainAmount } from '../text/money.ts';

/** The signs that the spreadsheets of each language take as the end of a cell and as the decimal sign. */
const SIGNS: Readonly<Record<Language, readonly [separator: string, decimal: string]>> = {
  fr: [';', ','],
  ar: [';', ','],
  en: [',', '.'],
};

/**
 * A line of a CSV file (RFC 4180), with its end. A text that a spreadsheet would run as a formula begins with an
 * apostrophe.
 * @param cells texts, and amounts in centimes
 */
export function csvLine(cells: readonly (string | number | null)[], language: Language): string {
  const [separator, decimal] = SIGNS[language];
  const written = cells.map((cell) => {
    if (cell === null) return '';
    if (typeof cell === 'number') return plainAmount(cell, decimal);
    const safe = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(cell) ? `'${cell}` : cell;
    return /["\r\n\t,;]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
  return `${written.join(separator)}\r\n`;
}
