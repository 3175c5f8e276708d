import { addDays } from '../../calendar-date.ts';
import { serviceError } from '../../errors.ts';
import { LENGTHS, moved, nameOf, type PeriodPlace, placeOf } from './period-name.ts';

/** Days of the calendar in Morocco. */
export interface Days {
  /** The first day, `YYYY-MM-DD`. */
  readonly from: string;
  /** The last day. */
  readonly through: string;
}

/** A month, a quarter or a year. */
export interface Period extends Days {
  /** `2026-11`, `2026-Q4` or `2026`. */
  readonly name: string;
}

/** @throws {ServiceError} invalid_request if the text names no period */
export function periodNamed(name: string): Period {
  const place = placeOf(name);
  if (place) return periodAt(place);
  const message = 'period must be a month, a quarter or a year from 2000 on, such as 2026-11, 2026-Q4 or 2026.';
  throw serviceError('invalid_request', message, 'period');
}

/** Returns the period of the same length before this one. */
export function periodBefore({ name }: Period): Period {
  return periodAt(moved(placeOf(name)!, -1));
}

/** Returns the days of a period, in order. */
export function daysOf({ from, through }: Days): string[] {
  const days: string[] = [];
  for (let day = from; day <= through; day = addDays(day, 1)) days.push(day);
  return days;
}

function periodAt(place: PeriodPlace): Period {
  const { length, year, month } = place;
  const end = new Date(Date.UTC(year, month - 1 + LENGTHS[length], 0));
  const from = `${nameOf({ ...place, length: 'month' })}-01`;
  return { name: nameOf(place), from, through: end.toISOString().slice(0, 10) };
}
