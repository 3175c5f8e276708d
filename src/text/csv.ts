import type { DocumentLanguage } from '../domain/document-language.ts';
import { type Centimes, decimalOf } from '../domain/money.ts';

/** Marks a file as UTF-8 for spreadsheets. */
export const BYTE_ORDER_MARK = '\ufeff';

/** The field separator and the decimal sign that spreadsheets of each language expect. */
const SIGNS: Readonly<Record<DocumentLanguage, readonly [separator: string, decimal: string]>> = {
  fr: [';', ','],
  ar: [';', ','],
  en: [',', '.'],
};

/** A day in Morocco, `YYYY-MM-DD`. */
export interface Day {
  readonly day: string;
}

/** A text, an amount, or a day. */
export type Cell = string | Centimes | Day | null;

/**
 * Formats a line of a CSV file (RFC 4180), including its line end. A text that a spreadsheet would run as a formula, or
 * convert to a date or a number, gets an apostrophe in front: `'12/2026`, `'001234567000062` (docs/decisions/0058).
 */
export function csvLine(cells: readonly Cell[], language: DocumentLanguage): string {
  const [separator, decimal] = SIGNS[language];
  const written = cells.map((cell) => {
    if (cell === null) return '';
    if (typeof cell === 'number') return decimalOf(cell).replace('.', decimal);
    // Spreadsheets of every language read this form as a date.
    return typeof cell === 'string' ? csvField(cell) : cell.day;
  });
  return `${written.join(separator)}\r\n`;
}

/**
 * Formats a text for a line of any separator that is `,`, `;`, `|` or a tab, with an apostrophe in front where
 * {@link csvLine} has one.
 */
export function csvField(text: string): string {
  const harmless = text.replaceAll(FORMULA_BEGINS, "'");
  const safe = isChanged(harmless) ? `'${harmless}` : harmless;
  return /["\r\n\t,;|]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * Finds the places where some spreadsheet would see the start of a formula. They include each place after a character
 * that ends a cell for another language, because a French spreadsheet may also open an English file, whose quotes then
 * do not hold the cell together.
 */
const FORMULA_BEGINS = /^(?=["\s]*[=+\-@＝＋－＠]|[\t\r\n])|(?<=[;,\t\r\n])(?=(?:"|[^\S\t\r\n])*[=+\-@＝＋－＠])/g;

/**
 * Whether a spreadsheet would run a text as a formula if the text begins a cell. A number with a sign is not a formula.
 */
export function isFormula(text: string): boolean {
  return /^["\s]*[=+\-@＝＋－＠]/.test(text) && !/^\s*[+-]\s*\d[\d\s.,\u00a0\u202f]*%?\s*$/.test(text);
}

/** Texts that spreadsheets show unchanged: the service's numbers (`2026-000123`, `AV-2026-000123`), and whole numbers. */
const SHOWN_AS_IT_IS = /^(?:(?:AV-)?\d{4}-\d{6,}|0|[1-9]\d{0,10})$/;
const TRUTH_OR_ERROR = /^\s*(?:(?:true|false|vrai|faux)\s*$|#)/i;
/** Suffixes that turn digits into a time or a power of ten: `3 PM`, `12h30`, `1E5`. */
const AFTER_DIGITS = /(?:(?<=\p{Nd}\s+)[ap]|(?<=\p{Nd}\s*)(?:[ap]m|e|h))(?!\p{L})/giu;
const CURRENCIES = ['mad', 'dh', 'dhs', 'eur', 'usd'];

/**
 * Whether a spreadsheet of any language would convert a text to a date, a number, a time or a truth value: it has
 * digits, and no words except those of dates and amounts.
 */
function isChanged(text: string): boolean {
  if (text.startsWith("'") || SHOWN_AS_IT_IS.test(text)) return false;
  if (TRUTH_OR_ERROR.test(text)) return true;
  if (!/\p{Nd}/u.test(text)) return false;
  const words = plain(text.replaceAll(AFTER_DIGITS, ' ')).match(/\p{L}+/gu) ?? [];
  return words.every((word) => CURRENCIES.includes(word) || isNameInDates(word));
}

/** Whether a word is a name in dates, also if shortened: `sept`, `janv`. */
function isNameInDates(word: string): boolean {
  return word.length >= 3 && NAMES_IN_DATES.some((name) => name.startsWith(word));
}

/** Months and days of the week. */
const NAMES_IN_DATES: readonly string[] = ['en', 'fr', 'ar', 'ar-MA'].flatMap((locale) => {
  const month = new Intl.DateTimeFormat(locale, { month: 'long', timeZone: 'UTC' });
  const weekday = new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' });
  return [
    ...Array.from({ length: 12 }, (_, i) => plain(month.format(Date.UTC(2026, i, 1)))),
    ...Array.from({ length: 7 }, (_, i) => plain(weekday.format(Date.UTC(2026, 0, 1 + i)))),
  ];
});

/** Converts to lower case without accents. */
function plain(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase();
}
