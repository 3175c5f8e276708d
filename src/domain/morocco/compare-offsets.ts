import { DAY_MS, HOUR_MS } from '../durations.ts';
import { MOROCCAN_TIME, moroccanOffset } from './time.ts';

/** Other data of the time zone Africa/Casablanca, such as Node's. */
export interface TimeZoneData {
  /** Of the IANA Time Zone Database: `2026c`; empty if it is not known. */
  readonly version: string;
  /** How many minutes Morocco's clocks are ahead of UTC. */
  offset(at: Date): number;
}

/** The days ahead for which offsets are compared: a change is known by then, and there is time to install its version. */
const DAYS_AHEAD = 366;

/** Whether the data is older than the service's own, which then knows better. */
export function isOlder({ version }: TimeZoneData): boolean {
  return version < MOROCCAN_TIME.version;
}

/** Whether an instant is an hour or more off by the service's own offsets: data that is not older has another one. */
export function isOutdated(data: TimeZoneData, at: Date): boolean {
  return !isOlder(data) && differs(data, at);
}

/**
 * The first instant from `now` on, within a year and to the hour, for which the data has another offset; null: none.
 * What differs for less than a day may not be seen.
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

/** Whether either offset changes within the day that begins at this instant. */
function changes(data: TimeZoneData, from: number): boolean {
  const [start, end] = [new Date(from), new Date(from + DAY_MS)];
  return data.offset(start) !== data.offset(end) || moroccanOffset(start) !== moroccanOffset(end);
}
