/**
 * The instant at which a day begins in Morocco, or so many days later.
 * @param day `YYYY-MM-DD`
 * @returns null for a day that does not exist
 */
export function startOfDay(day: string, later = 0): Date | null {
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return null;
  midnight.setUTCDate(midnight.getUTCDate() + later);
  const parts = new Intl.DateTimeFormat('en', { timeZone: 'Africa/Casablanca', timeZoneName: 'longOffset' });
  const name = parts.formatToParts(midnight).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = '0', minutes = '0'] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(name) ?? [];
  const offset = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  return new Date(midnight.getTime() - offset * 60_000);
}
