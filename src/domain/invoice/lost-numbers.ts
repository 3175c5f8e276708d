import { moroccanYear } from '../morocco/time.ts';
import type { Owner } from '../tenant/tenant.ts';
import { legalNumber, type SeriesNumber, yearOfSeries } from './series-number.ts';

/**
 * Maximum number of serials that may be skipped at once. A higher number is probably mistyped, because few years have
 * more than six digits. A serial beyond the exact integers of a double would end the series for good.
 */
const MOST_LOST = 1_000_000;

/** The first and the last of the skipped serials. */
interface LostRange {
  readonly from: number;
  readonly until: number;
}

/**
 * Numbers of the service's series whose invoices were lost, because older data was restored
 * (docs/operations.md, "Backup").
 */
export interface LostNumbers {
  /**
   * Continues a series after this number: the numbers up to it will never be assigned again. This survives a restart
   * and cannot be undone.
   * @param options.mayBegin whether the series may have no number yet
   * @returns `reached` if the series has already reached the number, `empty` if it has no number yet and `mayBegin` is
   * false; nothing is changed then
   * @throws Error while a worker runs, because it caches the last number of each series; and for a number that {@link
   * lostNumberFault} finds wrong
   */
  continueAfter(
    owner: Owner,
    number: SeriesNumber,
    options: { readonly mayBegin: boolean },
  ): Promise<LostRange | 'reached' | 'empty'>;
}

/**
 * Returns why a number cannot be the last lost one; null if it can.
 * @param highest the highest serial of its series; 0 if the series is empty
 */
export function lostNumberFault({ name, serial }: SeriesNumber, highest: number, now: Date): string | null {
  const [year, present] = [yearOfSeries(name), moroccanYear(now)];
  if (year > present) return `the year ${year} has not begun: the present series is that of ${present}`;
  if (serial - highest <= MOST_LOST) return null;
  const reached =
    highest === 0
      ? `${name} has no number yet`
      : `the highest number of ${name} is ${legalNumber({ name, serial: highest })}`;
  return `${legalNumber({ name, serial })} is too high: ${reached}, and at most ${MOST_LOST.toLocaleString('en')} numbers can be passed over at once`;
}
