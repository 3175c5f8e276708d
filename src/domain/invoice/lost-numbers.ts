import type { Owner } from '../tenant/tenant.ts';
import { legalNumber, seriesYear } from './legal-invoice.ts';
import type { SeriesNumber } from './series-number.ts';

/**
 * Serials that may be passed over at once: more is a mistyped number, because a year has seldom more than six digits. A
 * serial that doubles hold no more exactly would end the series for good.
 */
const MOST_LOST = 1_000_000;

/** The first and the last of the serials that are passed over. */
interface LostRange {
  readonly from: number;
  readonly until: number;
}

/** Numbers of the service's series whose invoices were lost, because older data was restored (docs/operations.md, "Backup"). */
export interface LostNumbers {
  /**
   * Lets a series go on after this number: those up to it are never given again. A restart keeps it, and it cannot be
   * undone.
   * @param options.mayBegin whether the series may have no number yet
   * @returns `reached` if the series has reached the number already, `empty` if it has no number yet and may not begin;
   *   nothing is changed then
   * @throws Error while a worker runs, because that remembers the last number of each series; and for a number that
   *   {@link lostNumberFault} finds wrong
   */
  continueAfter(
    owner: Owner,
    number: SeriesNumber,
    options: { readonly mayBegin: boolean },
  ): Promise<LostRange | 'reached' | 'empty'>;
}

/**
 * Why a number cannot be the last one that was lost; null if it may be.
 * @param highest the highest serial of its series; 0 if that is empty
 */
export function lostNumberFault({ year, serial }: SeriesNumber, highest: number, now: Date): string | null {
  const present = seriesYear(now);
  if (year > present) return `the year ${year} has not begun: the present series is that of ${present}`;
  if (serial - highest <= MOST_LOST) return null;
  const reached =
    highest === 0
      ? `${year} has no number yet`
      : `the highest number of ${year} is ${legalNumber({ year, serial: highest })}`;
  return `${legalNumber({ year, serial })} is too high: ${reached}, and at most ${MOST_LOST.toLocaleString('en')} numbers can be passed over at once`;
}
