import { DAY_MS } from '../../domain/durations.ts';

/** The number of the last day of the year 9999 in the 1900 system. */
const LAST_DAY = 2_958_465;
/** The number of 29 February 1900 in the 1900 system. That day did not exist, but Lotus 1-2-3 counted it. */
const NO_DAY = 60;
/** Number of 1 January 1970 in each system; in the 1900 system for days after the nonexistent one. */
const DAY_0 = { 1900: 25_569, 1904: 24_107 } as const;

/**
 * Converts a date number of a spreadsheet to its day, `YYYY-MM-DD`. The fraction is the time and is ignored.
 * @returns null for a number that is no day of the system
 */
export function serialDay(value: number, system: 1900 | 1904): string | null {
  // A time of 23:59:59.9999999 counts as midnight of the next day.
  const whole = Math.floor(value + 1e-9);
  if (whole < (system === 1900 ? 1 : 0) || whole > LAST_DAY || (system === 1900 && whole === NO_DAY)) return null;
  const days = whole - DAY_0[system] + (system === 1900 && whole < NO_DAY ? 1 : 0);
  return new Date(days * DAY_MS).toISOString().slice(0, 10);
}
