/** Number of months of each kind of period. */
export const LENGTHS = { month: 1, quarter: 3, year: 12 } as const;
export type Length = keyof typeof LENGTHS;

/** A month, a quarter or a year: its year, and its first month from 1. */
export interface PeriodPlace {
  readonly length: Length;
  readonly year: number;
  readonly month: number;
}

const NAME = /^(2\d{3})(?:-(?:(0[1-9]|1[0-2])|Q([1-4])))?$/;
const LONGEST_NAME = '2026-11'.length;

/** Reads the name of a period: `2026-11`, `2026-Q4` or `2026`; null for another text. */
export function placeOf(name: string): PeriodPlace | null {
  const [, year, month, quarter] = (name.length <= LONGEST_NAME && NAME.exec(name)) || [];
  if (year === undefined) return null;
  if (month !== undefined) return { length: 'month', year: Number(year), month: Number(month) };
  if (quarter !== undefined) return { length: 'quarter', year: Number(year), month: Number(quarter) * 3 - 2 };
  return { length: 'year', year: Number(year), month: 1 };
}

/** Returns the name of the period of this length that contains a month. */
export function nameOf({ length, year, month }: PeriodPlace): string {
  if (length === 'month') return `${year}-${String(month).padStart(2, '0')}`;
  return length === 'quarter' ? `${year}-Q${Math.ceil(month / 3)}` : String(year);
}

/** Returns the period that is `steps` periods later, or earlier if `steps` is negative. */
export function moved(place: PeriodPlace, steps: number): PeriodPlace {
  const months = place.year * 12 + place.month - 1 + steps * LENGTHS[place.length];
  return { ...place, year: Math.floor(months / 12), month: (months % 12) + 1 };
}
