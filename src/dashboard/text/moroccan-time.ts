/**
 * A change of Morocco's clocks: the instant in UNIX milliseconds, and the offset from then on, in minutes ahead of UTC.
 */
type Change = readonly [from: number, minutes: number];

/** The changes, newest first. Without any, times are shown in UTC and marked as such. */
let changes: readonly Change[] = [];

/**
 * Reads the offsets of Morocco's time that the server writes into the page (`src/transport/dashboard/routes.ts`). The
 * browser's time zone data may be older, so no time is formatted with it.
 * @param told `2026-03-22T02:00:00Z=60 2026-09-20T01:00:00Z=0`
 */
export function takeOffsets(told: string): void {
  changes = told
    .split(' ')
    .map((change) => change.split('='))
    .map(([from = '', minutes = '']): Change => [Date.parse(from), Number(minutes)])
    .filter(([from]) => !Number.isNaN(from))
    .reverse();
}

/** Returns how many minutes Morocco's clocks are ahead of UTC at an instant. */
export function moroccanOffset(at: Date): number {
  const [, minutes] = changes.find(([from]) => from <= at.getTime()) ?? changes.at(-1) ?? [0, 0];
  return minutes;
}

/** Returns a shifted instant whose parts in UTC are what Morocco's clocks show at the given instant. */
export function moroccanClock(at: Date): Date {
  return new Date(at.getTime() + moroccanOffset(at) * 60_000);
}

/** Returns the zone of Morocco's time at an instant: `UTC+0`. */
export function moroccanZone(at: Date): string {
  return `UTC+${moroccanOffset(at) / 60}`;
}

/** Returns the calendar date in Morocco at an instant, `YYYY-MM-DD`. */
export function moroccanDate(at: Date): string {
  return moroccanClock(at).toISOString().slice(0, 10);
}

/** Formats an instant so that spreadsheets and people can read it in any language: `2026-11-23 14:05:09 UTC+0`. */
export function plainMoment(at: Date): string {
  return `${moroccanClock(at).toISOString().slice(0, 19).replace('T', ' ')} ${moroccanZone(at)}`;
}
