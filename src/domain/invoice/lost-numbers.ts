import type { Owner } from '../tenant/tenant.ts';
import type { SeriesNumber } from './repository.ts';

/** Numbers of the service's series whose invoices were lost, because older data was restored (docs/operations.md, "Backup"). */
export interface LostNumbers {
  /**
   * Lets a series go on after this number: those up to it are never given again. A restart keeps it, and it cannot be
   * undone.
   * @returns the first and the last of the serials that are passed over; null if the series has reached the number already
   * @throws Error while a worker runs, because that remembers the last number of each series
   */
  continueAfter(owner: Owner, number: SeriesNumber): Promise<{ readonly from: number; readonly until: number } | null>;
}
