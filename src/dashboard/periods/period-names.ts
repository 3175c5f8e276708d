import { type Language, LOCALES } from '../text/languages.ts';
import { type Length, PERIOD_TEXTS } from '../text/periods.ts';

/** How many months periods have. */
export const LENGTHS: Readonly<Record<Length, number>> = { month: 1, quarter: 3, year: 12 };

/** A month, a quarter or a year: its year, and its first month from 1. */
interface Place {
  readonly length: Length;
  readonly year: number;
  readonly month: number;
}

/** Reads the name of a period: `2026-11`, `2026-Q4` or `2026`; null for another text. */
export function placeOf(name: string): Place | null {
  const [, year, month, quarter] = /^(2\d{3})(?:-(?:(0[1-9]|1[0-2])|Q([1-4])))?$/.exec(name) ?? [];
  if (year === undefined) return null;
  if (month !== undefined) return { length: 'month', year: Number(year), month: Number(month) };
  if (quarter !== undefined) return { length: 'quarter', year: Number(year), month: Number(quarter) * 3 - 2 };
  return { length: 'year', year: Number(year), month: 1 };
}

/** Returns the name of the period of this length that begins with a month or has it in it. */
export function nameOf({ length, year, month }: Place): string {
  if (length === 'month') return `${year}-${String(month).padStart(2, '0')}`;
  return length === 'quarter' ? `${year}-Q${Math.ceil(month / 3)}` : String(year);
}

/** Returns the period that is so many periods later, or earlier if `steps` is negative. */
export function moved(place: Place, steps: number): Place {
  const months = place.year * 12 + place.month - 1 + steps * LENGTHS[place.length];
  return { ...place, year: Math.floor(months / 12), month: (months % 12) + 1 };
}

/** Names a period for people: `novembre 2026`, `4e trimestre 2026`, `2026`. */
export function formatPeriod({ length, year, month }: Place, language: Language): string {
  if (length === 'year') return String(year);
  if (length === 'quarter') return PERIOD_TEXTS[language].quarter(Math.ceil(month / 3), year);
  const format = new Intl.DateTimeFormat(LOCALES[language], { month: 'long', year: 'numeric', timeZone: 'UTC' });
  return format.format(new Date(Date.UTC(year, month - 1, 1)));
}
