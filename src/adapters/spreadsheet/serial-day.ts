import { DAY_MS } from '../../domain/durations.ts';

/** The last day of the year 9999, in the system of 1900. */
const LAST_DAY = 2_958_465;
/** In the system of 1900, the day 29 February 1900, which was none: Lotus 1-2-3 counted it. */
const NO_DAY = 60;
/** Days from 1 January 1970 back to the day 0 of each system, after the day that was none. */
const DAY_0 = { 1900: 25_569, 1904: 24_107 } as const;

/**
 * Converts a number of a spreadsheet to its day, `YYYY-MM-DD`; the part after the point is the time.
 * @returns null for a number that is no day of the system
 */
export function serialDay(value: number, system: 1900 | 1904): string | null {
  // A time of 23:59:59.9999999 is midnight.
  const whole = Math.floor(value + 1e-9);
  if (whole < (system === 1900 ? 1 : 0) || whole > LAST_DAY || (system === 1900 && whole === NO_DAY)) return null;
  const days = whole - DAY_0[system] + (system === 1900 && whole < NO_DAY ? 1 : 0);
  return new Date(days * DAY_MS).toISOString().slice(0, 10);
}
