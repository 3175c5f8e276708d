import { addDays } from '../../calendar-date.ts';
import { serviceError } from '../../errors.ts';

/** A month, a quarter or a year of the calendar in Morocco. */
export interface Period {
  /** `2026-11`, `2026-Q4` or `2026`. */
  readonly name: string;
  /** The first day, `YYYY-MM-DD`. */
  readonly from: string;
  /** The last day. */
  readonly through: string;
}

const NAME = /^(2\d{3})(?:-(?:(0[1-9]|1[0-2])|Q([1-4])))?$/;
const LONGEST_NAME = '2026-11'.length;

/** @throws {ServiceError} invalid_request if the text names no period */
export function periodNamed(name: string): Period {
  const [, year, month, quarter] = (name.length <= LONGEST_NAME && NAME.exec(name)) || [];
  if (year === undefined) {
    const message = 'period must be a month, a quarter or a year from 2000 on, such as 2026-11, 2026-Q4 or 2026.';
    throw serviceError('invalid_request', message, 'period');
  }
  if (month !== undefined) return monthsFrom(name, Number(year), Number(month), 1);
  if (quarter !== undefined) return monthsFrom(name, Number(year), Number(quarter) * 3 - 2, 3);
  return monthsFrom(name, Number(year), 1, 12);
}

/** Returns the period of the same length before this one. */
export function periodBefore({ name, from }: Period): Period {
  const last = addDays(from, -1);
  const [year = '', month = ''] = last.split('-');
  if (name.length === year.length) return monthsFrom(year, Number(year), 1, 12);
  if (!name.includes('Q')) return monthsFrom(`${year}-${month}`, Number(year), Number(month), 1);
  return monthsFrom(`${year}-Q${Number(month) / 3}`, Number(year), Number(month) - 2, 3);
}

/** The days of a period. */
export function daysOf({ from, through }: Period): string[] {
  const days: string[] = [];
  for (let day = from; day <= through; day = addDays(day, 1)) days.push(day);
  return days;
}

function monthsFrom(name: string, year: number, month: number, months: number): Period {
  const end = new Date(Date.UTC(year, month - 1 + months, 0));
  return { name, from: `${year}-${String(month).padStart(2, '0')}-01`, through: end.toISOString().slice(0, 10) };
}
