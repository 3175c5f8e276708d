/** An offset that Morocco's clocks have from an instant on: UNIX milliseconds, and minutes ahead of UTC. */
type Change = readonly [from: number, minutes: number];

/** The newest first. Without any, times are shown in UTC, and say so. */
let changes: readonly Change[] = [];

/**
 * Takes the offsets of Morocco's time that the server tells in the page (`src/transport/dashboard/routes.ts`). The
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

/** How many minutes Morocco's clocks are ahead of UTC at an instant. */
export function moroccanOffset(at: Date): number {
  const [, minutes] = changes.find(([from]) => from <= at.getTime()) ?? changes.at(-1) ?? [0, 0];
  return minutes;
}

/** An instant whose parts in UTC are what Morocco's clocks show at another. */
export function moroccanClock(at: Date): Date {
  return new Date(at.getTime() + moroccanOffset(at) * 60_000);
}

/** The mark of Morocco's time at an instant: `UTC+0`. */
export function moroccanZone(at: Date): string {
  return `UTC+${moroccanOffset(at) / 60}`;
}

/** The calendar date in Morocco at an instant, `YYYY-MM-DD`. */
export function moroccanDate(at: Date): string {
  return moroccanClock(at).toISOString().slice(0, 10);
}

/** An instant as spreadsheets and people read it in any language: `2026-11-23 14:05:09 UTC+0`. */
export function plainMoment(at: Date): string {
  return `${moroccanClock(at).toISOString().slice(0, 19).replace('T', ' ')} ${moroccanZone(at)}`;
}
