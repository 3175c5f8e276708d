import { isCalendarDate } from '../calendar-date.ts';
import { folded } from '../invoice/search/fold.ts';

// Parses dates that are texts: `31/01/2026`, `2026-01-31 10:15`, `31 janvier 2026`. The file as a whole decides which
// number is the day.

/** The order of day, month and year. */
export type DateOrder = 'dmy' | 'ymd' | 'mdy';

/** A text that states a date. */
export interface DateText {
  /** `YYYY-MM-DD`; null if the text needs the file's order. */
  readonly day: string | null;
  readonly byOrder: Readonly<Record<'dmy' | 'mdy', string>> | null;
  /** The order that the text proves; null if it proves none, such as a text with the name of a month. */
  readonly order: DateOrder | null;
}

/**
 * A time after a date, with or without its zone. Only the date counts, because the time is local to the place of the
 * sale.
 */
const TIME = /[T\s]+\d{1,2}[:h]\d{2}(:\d{2}(\.\d+)?)?\s*([ap]m)?\s*(z|utc|gmt)?\s*([+-]\d{2}:?\d{2})?\s*(utc)?$/i;
const LONGEST = 60;

/** The folded names of months in French, English and the Arabic of Morocco and of Egypt. */
const MONTHS: readonly (readonly string[])[] = [
  ['janvier', 'january', 'يناير'],
  ['fevrier', 'february', 'فبراير'],
  ['mars', 'march', 'مارس'],
  ['avril', 'april', 'ابريل'],
  ['mai', 'may', 'ماي', 'مايو'],
  ['juin', 'june', 'يونيو'],
  ['juillet', 'july', 'يوليوز', 'يوليو'],
  ['aout', 'august', 'غشت', 'اغسطس'],
  ['septembre', 'september', 'شتنبر', 'سبتمبر'],
  ['octobre', 'october', 'اكتوبر'],
  ['novembre', 'november', 'نونبر', 'نوفمبر'],
  ['decembre', 'december', 'دجنبر', 'ديسمبر'],
];

/** Parses a text; null if it is no date of the calendar. */
export function dateOf(text: string): DateText | null {
  if (text.length > LONGEST) return null;
  const plain = folded(text).trim().replace(TIME, '').trim();
  const [, year = '', month = '', day = ''] =
    /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(plain) ?? /^(20\d{2})(\d{2})(\d{2})$/.exec(plain) ?? [];
  if (year !== '') return clear(dayOf(year, month, day), 'ymd');
  const [, first = '', second = '', third = ''] = /^(\d{1,2})[-/. ](\d{1,2})[-/. ](\d{4}|\d{2})$/.exec(plain) ?? [];
  if (first !== '') return numbered(first, second, fullYear(third));
  const words = plain.replaceAll(/[.,\-/]/g, ' ').match(/\d+|\p{L}+/gu) ?? [];
  return named(words);
}

function numbered(first: string, second: string, year: string): DateText | null {
  const [dmy, mdy] = [dayOf(year, second, first), dayOf(year, first, second)];
  if (dmy !== null && mdy !== null && dmy !== mdy) return { day: null, byOrder: { dmy, mdy }, order: null };
  if (dmy !== null && dmy === mdy) return clear(dmy, null);
  return dmy === null ? clear(mdy, 'mdy') : clear(dmy, 'dmy');
}

/** `31 janvier 2026`, `Jan 31 2026` and `samedi 31 janvier 2026`. */
function named(words: readonly string[]): DateText | null {
  const numbers = words.filter((word) => /^\d+$/.test(word));
  const months = words.flatMap((word) => monthOf(word) ?? []);
  const [first = '', second = ''] = numbers;
  const [month] = months;
  if (numbers.length !== 2 || months.length !== 1 || month === undefined || words.length > 4) return null;
  const [day, year] = first.length === 4 ? [second, first] : [first, second];
  return clear(dayOf(fullYear(year), String(month), day), null);
}

/** Returns the month of a name, or of its beginning of at least three letters: `janv`, `Sept`. */
function monthOf(word: string): number | null {
  if (word.length < 3) return null;
  const place = MONTHS.findIndex((names) => names.some((name) => name.startsWith(word)));
  return place < 0 ? null : place + 1;
}

/** Years of two digits belong to this century. */
function fullYear(year: string): string {
  return year.length === 2 ? `20${year}` : year;
}

function dayOf(year: string, month: string, day: string): string | null {
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return isCalendarDate(date) ? date : null;
}

function clear(day: string | null, order: DateOrder | null): DateText | null {
  return day === null ? null : { day, byOrder: null, order };
}

/** Minimum number of dates that must prove that the month comes first: a single one may be a typing error. */
const LEAST_MONTH_FIRST = 2;

/**
 * Decides the order of a file's dates. Without evidence the day comes first, as is usual in Morocco.
 * @param shown number of dates that prove each order
 * @param unclear number of dates that prove none
 * @returns null if dates prove both orders, or too few prove that the month comes first: then only clear dates are read
 */
export function decideOrder(shown: Readonly<Record<DateOrder, number>>, unclear = 0): DateOrder | null {
  if (shown.mdy > 0) return shown.dmy > 0 || (unclear > 0 && shown.mdy < LEAST_MONTH_FIRST) ? null : 'mdy';
  return shown.ymd > 0 && shown.dmy === 0 ? 'ymd' : 'dmy';
}
