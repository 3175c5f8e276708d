import type { Owner } from '../../tenant/tenant.ts';
import type { Invoice } from '../invoice.ts';
import type { DaySums } from './day-sums.ts';
import type { SummedInvoice } from './summed-invoice.ts';

/** A document as it was when it had `sequence` events, all of which are in the log of events. */
export interface PublishedInvoice extends SummedInvoice {
  readonly sequence: number;
}

/**
 * The sums of a tenant's documents by the day of issue, kind and status (docs/decisions/0090), and what a search finds
 * each document by (0091). Every document remembers the status under which the sums have it, so each change counts once.
 * Every method uses an index.
 */
export interface PeriodSums {
  /**
   * Moves documents to their status in the sums of their day, writes what a search finds them by, and takes them out of
   * the outbox, in one transaction for many. Leaves out those that have had an event since, and those that nobody reads any more. Concurrent and repeated
   * calls are safe.
   * @throws what one of them caused; the others are recorded
   */
  record(published: readonly PublishedInvoice[]): Promise<void>;
  /** The same for documents of {@link takeWaiting}, unless an event came since. */
  recordWaiting(summed: readonly SummedInvoice[]): Promise<void>;
  /**
   * Up to `limit` documents that are in no sums and have had no event for a minute since their creation; each again
   * only after `pauseMs`.
   */
  takeWaiting(limit: number, pauseMs: number): Promise<Invoice[]>;
  /** Those of the days on which something was issued, in no particular order. */
  days(owner: Owner, dates: readonly string[]): Promise<DaySums[]>;
}
