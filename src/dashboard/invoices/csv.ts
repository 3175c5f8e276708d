import type { Language } from '../text/languages.ts';
import { plainAmount } from '../text/money.ts';

/** The signs that the spreadsheets of each language take as the end of a cell and as the decimal sign. */
const SIGNS: Readonly<Record<Language, readonly [separator: string, decimal: string]>> = {
  fr: [';', ','],
  ar: [';', ','],
  en: [',', '.'],
};

/** Digits that are a name, such as an ICE. A spreadsheet drops leading zeros, and writes long numbers as 2,18946E+12. */
const CHANGED_AS_NUMBER = /^(?:0\d+|\d{12,})$/;

/**
 * A line of a CSV file (RFC 4180), with its end. A text that a spreadsheet would run as a formula begins with an
 * apostrophe. Digits alone that it would change as a number (more than 11, or with a leading zero) are written as the
 * formula that is this text: `="002189456000077"`.
 * @param cells texts, and amounts in centimes
 */
export function csvLine(cells: readonly (string | number | null)[], language: Language): string {
  const [separator, decimal] = SIGNS[language];
  const written = cells.map((cell) => {
    if (cell === null) return '';
    if (typeof cell === 'number') return plainAmount(cell, decimal);
    const safe = CHANGED_AS_NUMBER.test(cell) ? `="${cell}"` : noFormula(cell);
    return /["\r\n\t,;]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
  return `${written.join(separator)}\r\n`;
}

function noFormula(text: string): string {
  return /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(text) ? `'${text}` : text;
}
