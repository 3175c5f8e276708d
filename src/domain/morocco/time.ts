import { MINUTE_MS } from '../durations.ts';

/** A change of Morocco's offset: the number of minutes ahead of UTC, from an instant on. */
export interface OffsetChange {
  /** ISO 8601, UTC */
  readonly from: string;
  readonly minutes: number;
}

/**
 * The offsets of Africa/Casablanca. Invoices, numbers, documents, pages and exports are dated by them and by no other
 * time zone data (docs/decisions/0076). The first row also applies to earlier instants, but no invoice is that old.
 * When Morocco decides on another change, add its row and update `version` and `readOn`.
 */
export const MOROCCAN_TIME = {
  source: 'IANA Time Zone Database, zone Africa/Casablanca',
  version: '2026f',
  /** The day on which the source was read. No change after the last row had been announced by then. */
  readOn: '2026-11-28',
  changes: [
    { from: '2018-01-01T00:00:00Z', minutes: 0 },
    { from: '2018-03-25T02:00:00Z', minutes: 60 },
    { from: '2018-05-13T02:00:00Z', minutes: 0 },
    // UTC+1 all year, and UTC+0 in Ramadan.
    { from: '2018-06-17T02:00:00Z', minutes: 60 },
    { from: '2019-05-05T02:00:00Z', minutes: 0 },
    { from: '2019-06-09T02:00:00Z', minutes: 60 },
    { from: '2020-04-19T02:00:00Z', minutes: 0 },
    { from: '2020-05-31T02:00:00Z', minutes: 60 },
    { from: '2021-04-11T02:00:00Z', minutes: 0 },
    { from: '2021-05-16T02:00:00Z', minutes: 60 },
    { from: '2022-03-27T02:00:00Z', minutes: 0 },
    { from: '2022-05-08T02:00:00Z', minutes: 60 },
    { from: '2023-03-19T02:00:00Z', minutes: 0 },
    { from: '2023-04-23T02:00:00Z', minutes: 60 },
    { from: '2024-03-10T02:00:00Z', minutes: 0 },
    { from: '2024-04-14T02:00:00Z', minutes: 60 },
    { from: '2025-02-23T02:00:00Z', minutes: 0 },
    { from: '2025-04-06T02:00:00Z', minutes: 60 },
    { from: '2026-02-15T02:00:00Z', minutes: 0 },
    { from: '2026-03-22T02:00:00Z', minutes: 60 },
    // UTC+0 permanently.
    { from: '2026-09-20T01:00:00Z', minutes: 0 },
  ],
} as const satisfies { readonly changes: readonly OffsetChange[]; readonly [name: string]: unknown };

/** The changes, newest first, because most instants are after the last change. */
const NEWEST_FIRST = MOROCCAN_TIME.changes.map(({ from, minutes }) => ({ from: Date.parse(from), minutes })).reverse();
const EARLIEST = MOROCCAN_TIME.changes[0];

/** Returns how many minutes Morocco's clocks are ahead of UTC at an instant. */
export function moroccanOffset(at: Date): number {
  const time = at.getTime();
  return (NEWEST_FIRST.find(({ from }) => from <= time) ?? EARLIEST).minutes;
}

/**
 * Returns a shifted instant whose parts in UTC (`getUTCHours`, formats in the time zone UTC) are what Morocco's clocks
 * show at the given instant.
 */
export function moroccanClock(at: Date): Date {
  return new Date(at.getTime() + moroccanOffset(at) * MINUTE_MS);
}

/** Returns the calendar date in Morocco at an instant, `YYYY-MM-DD`. Such dates compare as text. */
export function moroccanDate(at: Date): string {
  return moroccanClock(at).toISOString().slice(0, 10);
}

/** Returns the year in Morocco at an instant, which an invoice's number contains. */
export function moroccanYear(at: Date): number {
  return moroccanClock(at).getUTCFullYear();
}

/**
 * Returns the instant at which a date begins in Morocco, in UNIX milliseconds. Clocks never change at midnight there.
 * @param date `YYYY-MM-DD`
 */
export function startOfMoroccanDay(date: string): number {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  return midnight - moroccanOffset(new Date(midnight)) * MINUTE_MS;
}

/** Returns the zone that is written after each time in Morocco: `UTC+0`. */
export function moroccanZone(at: Date): string {
  return `UTC+${moroccanOffset(at) / 60}`;
}
