import { DAY_MS } from './durations.ts';

/** Whether a text is a day of the Gregorian calendar, `YYYY-MM-DD`. */
export function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** Returns the calendar date this many days later. @param date `YYYY-MM-DD` @param days may be negative */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/**
 * Returns the same day this many years later; 1 March instead of a missing 29 February.
 * @param years may be negative
 */
export function addYears(date: string, years: number): string {
  const day = new Date(`${date}T00:00:00Z`);
  day.setUTCFullYear(day.getUTCFullYear() + years);
  return day.toISOString().slice(0, 10);
}

/**
 * Counts the whole months between two dates. The last day of a month ends a month that began on a later day: from 31
 * August to 28 February there are 6. @param from not after `to`
 */
export function wholeMonths(from: string, to: string): number {
  const [fromYear = 0, fromMonth = 0, fromDay = 0] = from.split('-').map(Number);
  const [toYear = 0, toMonth = 0, toDay = 0] = to.split('-').map(Number);
  const isEndOfMonth = addDays(to, 1).slice(0, 7) > to.slice(0, 7);
  return (toYear - fromYear) * 12 + toMonth - fromMonth - (toDay < fromDay && !isEndOfMonth ? 1 : 0);
}
