import { moroccanDate } from '../../morocco/time.ts';
import type { Owner } from '../../tenant/tenant.ts';
import { yearOfSeries } from '../series-number.ts';
import type { IssuedNumbers, SerialRange } from './number-ledger.ts';
import type { Period } from './period.ts';

/** Sizes of successive reads, until one contains a document that did not wait for a correction. */
const READS = [1, 20, 500];

type Reading = Pick<IssuedNumbers, 'taken' | 'documents'>;

/**
 * Finds the serials of a series that belong to a period. Numbers follow the time of issue, so a period begins after the
 * last number of an earlier day. A document that waited for a correction has a number later than its day; it belongs to
 * the period in which the numbers before it were taken. So each number is in exactly one of two consecutive periods.
 * Takes two round trips for each binary digit of the highest serial, more if documents waited, and none for the
 * beginning and the end of a year.
 * @param today in Morocco
 */
export async function serialsOf(
  numbers: Reading,
  owner: Owner,
  series: string,
  { from, through }: Pick<Period, 'from' | 'through'>,
  today: string,
): Promise<SerialRange> {
  const year = yearOfSeries(series);
  const isFromStart = from <= `${year}-01-01`;
  const isToEnd = through >= `${year}-12-31` || through >= today;
  const [above, upTo] = await Promise.all([
    isFromStart ? 0 : lastSerialBefore(numbers, owner, series, from),
    isToEnd ? null : lastSerialBefore(numbers, owner, series, `${through}~`),
  ]);
  return { above, upTo };
}

/** Returns the highest serial of a series; 0 if it is empty. */
export async function highestOf(numbers: Pick<IssuedNumbers, 'taken'>, owner: Owner, series: string): Promise<number> {
  const [last] = await numbers.taken(owner, series, { above: 0, upTo: null }, 1, true);
  return last?.serial ?? 0;
}

/** @param day the first day after; days are compared as texts, so `2026-11-30~` is after that day */
async function lastSerialBefore(numbers: Reading, owner: Owner, series: string, day: string): Promise<number> {
  const highest = await highestOf(numbers, owner, series);
  if (highest === 0) return 0;
  // Starts with the highest binary digit, so that the number of steps does not depend on numbers taken meanwhile.
  let serial = 0;
  for (let step = 2 ** Math.floor(Math.log2(highest)); step >= 1; step /= 2) {
    if (serial + step > highest) continue;
    const at = serial + step;
    // A series may begin with numbers of no document. Then the first document after them shows the day.
    const reached =
      (await dayAt(numbers, owner, series, { above: 0, upTo: at }, true)) ??
      (await dayAt(numbers, owner, series, { above: at, upTo: null }, false));
    if (reached !== null && reached < day) serial = at;
  }
  return serial;
}

/**
 * Returns the day that a series had reached at an end of a range, according to the nearest document. A document that
 * replaces another may have waited for its credit note, so its number may have been taken after its day. Then the
 * numbers before it decide, too.
 * @param isBackwards whether to start at the last number of the range, not at the first one
 * @returns null if none of the numbers read belongs to a document
 */
async function dayAt(
  numbers: Reading,
  owner: Owner,
  series: string,
  range: SerialRange,
  isBackwards: boolean,
): Promise<string | null> {
  let latest: string | null = null;
  for (const limit of READS) {
    const taken = await numbers.taken(owner, series, range, limit, isBackwards);
    const documents = await numbers.documents(taken.map(({ invoiceId }) => invoiceId));
    const found = taken.flatMap(({ invoiceId }) => documents.get(invoiceId) ?? []);
    const end = found.findIndex(({ replacesId }) => replacesId === null || !isBackwards);
    const days = found.slice(0, end < 0 ? found.length : end + 1).map(({ createdAt }) => moroccanDate(createdAt));
    latest = days.toSorted().at(-1) ?? null;
    if (end >= 0 || taken.length < limit) break;
  }
  return latest;
}
