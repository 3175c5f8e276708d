import { moroccanOffset } from './moroccan-time.ts';

/**
 * Returns the instant at which a day begins in Morocco, or the day that is `later` days after it.
 * @param day `YYYY-MM-DD`
 * @returns null for a day that does not exist
 */
export function startOfDay(day: string, later = 0): Date | null {
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return null;
  midnight.setUTCDate(midnight.getUTCDate() + later);
  // Morocco's clocks never change at midnight.
  return new Date(midnight.getTime() - moroccanOffset(midnight) * 60_000);
}
