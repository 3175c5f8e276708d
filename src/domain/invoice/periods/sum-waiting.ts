import type { PeriodSums } from './ports.ts';
import { summedOf } from './summed-invoice.ts';

/** Number of documents that are summed together, and how many times in one sweep. */
const [LIMIT, TIMES] = [100, 10];
/** After a failure a document is tried again after so long, milliseconds. */
const PAUSE_MS = 5000;

/**
 * Returns a function that sums the documents which no event brings into the sums, because they wait long for their first
 * one. Bounded: the next call goes on.
 */
export function createSumWaiting(sums: Pick<PeriodSums, 'takeWaiting' | 'recordWaiting'>): () => Promise<void> {
  return async () => {
    for (let times = 0; times < TIMES; times++) {
      const { invoices, mark } = await sums.takeWaiting(LIMIT, PAUSE_MS);
      if (invoices.length > 0) await sums.recordWaiting(invoices.map(summedOf), mark);
      if (invoices.length < LIMIT) return;
    }
  };
}
