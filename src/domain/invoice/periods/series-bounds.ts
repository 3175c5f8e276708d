import { moroccanDate } from '../../morocco/time.ts';
import type { Owner } from '../../tenant/tenant.ts';
import { yearOfSeries } from '../series-number.ts';
import type { IssuedNumbers, SerialRange } from './number-ledger.ts';
import type { Period } from './period.ts';

/** Maximum number of taken numbers in a row that are read to find one with a document. */
const MOST_WITHOUT = 20;

type Reading = Pick<IssuedNumbers, 'taken' | 'documents'>;

/**
 * The serials of a series that belong to a period. Numbers follow the time of issue, so a period begins after the last
 * number of an earlier day. Of few documents that waited for a correction the number is later than the day: they belong
 * to the period in which their neighbours were issued. So each number is in exactly one of two consecutive periods.
 * Takes two round trips for each binary digit of the highest serial, and none for the beginning and the end of a year.
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

/** The highest serial of a series; 0 if it is empty. */
export async function highestOf(numbers: Pick<IssuedNumbers, 'taken'>, owner: Owner, series: string): Promise<number> {
  const [last] = await numbers.taken(owner, series, { above: 0, upTo: null }, 1, true);
  return last?.serial ?? 0;
}

/** @param day the first day behind; compared as text, so `2026-11-30~` is behind that day */
async function lastSerialBefore(numbers: Reading, owner: Owner, series: string, day: string): Promise<number> {
  const highest = await highestOf(numbers, owner, series);
  if (highest === 0) return 0;
  // From the highest digit down, so that the steps do not depend on how far the series has come since.
  let serial = 0;
  for (let step = 2 ** Math.floor(Math.log2(highest)); step >= 1; step /= 2) {
    if (serial + step > highest) continue;
    const issued = await issuedFrom(numbers, owner, series, serial + step);
    if (issued !== null && issued < day) serial += step;
  }
  return serial;
}

/** The day of issue of the first document with this serial or a higher one; null if there is none. */
async function issuedFrom(numbers: Reading, owner: Owner, series: string, serial: number): Promise<string | null> {
  const range = { above: serial - 1, upTo: null };
  for (const limit of [1, MOST_WITHOUT]) {
    const taken = await numbers.taken(owner, series, range, limit);
    const documents = await numbers.documents(taken.map(({ invoiceId }) => invoiceId));
    const found = taken.flatMap(({ invoiceId }) => documents.get(invoiceId) ?? [])[0];
    if (found) return moroccanDate(found.createdAt);
    if (taken.length < limit) break;
  }
  return null;
}
