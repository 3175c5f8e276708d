import { DAY_MS, HOUR_MS } from '../durations.ts';
import { MOROCCAN_TIME, moroccanOffset } from './time.ts';

/** Other data about the time zone Africa/Casablanca, such as Node's. */
export interface TimeZoneData {
  /** The version in the IANA Time Zone Database, such as `2026c`; empty if unknown. */
  readonly version: string;
  /** Returns how many minutes Morocco's clocks are ahead of UTC. */
  offset(at: Date): number;
}

/**
 * Number of days ahead for which offsets are compared. A change within them is known, and there is time to install its
 * version.
 */
const DAYS_AHEAD = 366;

/** Whether the data is older than the service's own offsets, which are right then. */
export function isOlder({ version }: TimeZoneData): boolean {
  return version < MOROCCAN_TIME.version;
}

/** Whether the service's own offsets are wrong at an instant, because data that is not older has another offset. */
export function isOutdated(data: TimeZoneData, at: Date): boolean {
  return !isOlder(data) && differs(data, at);
}

/**
 * Finds the first instant within a year from `now`, to the hour, at which the data has another offset; null if there is
 * none. Differences of less than a day may be missed.
 */
export function firstDifference(data: TimeZoneData, now: Date): Date | null {
  const start = now.getTime();
  for (let day = start; day < start + DAYS_AHEAD * DAY_MS; day += DAY_MS) {
    if (differs(data, new Date(day))) return new Date(day);
    if (!changes(data, day)) continue;
    for (let time = day; time < day + DAY_MS; time += HOUR_MS) if (differs(data, new Date(time))) return new Date(time);
  }
  return null;
}

const differs = (data: TimeZoneData, at: Date): boolean => data.offset(at) !== moroccanOffset(at);

/** Whether either offset changes within the day that starts at this instant. */
function changes(data: TimeZoneData, from: number): boolean {
  const [start, end] = [new Date(from), new Date(from + DAY_MS)];
  return data.offset(start) !== data.offset(end) || moroccanOffset(start) !== moroccanOffset(end);
}
