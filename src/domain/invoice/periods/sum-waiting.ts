import type { PeriodSums } from './ports.ts';
import { summedOf } from './summed-invoice.ts';

/** Number of documents that are summed together, and maximum number of such groups in one sweep. */
const [LIMIT, TIMES] = [100, 10];
/** Pause after which a document is tried again after a failure, milliseconds. */
const PAUSE_MS = 5000;

/**
 * Returns a function that sums documents whose first event is late, so that no event has brought them into the sums.
 * The work of one call is limited; the next call continues.
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
