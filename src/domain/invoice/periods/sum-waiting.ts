import type { PeriodSums } from './ports.ts';
import { summedOf } from './summed-invoice.ts';

/** Number of documents that are summed together, and how many times in one sweep. */
const [LIMIT, TIMES] = [100, 10];
/** After a failure a document is tried again after so long, milliseconds. */
const PAUSE_MS = 5000;
/** Number of documents of before the sums that are looked at once. */
const OLDER = 500;

/**
 * Returns a function that sums the documents which no event brings into the sums: those that wait long for
 * their first event, and those that are older than the sums. Bounded: the next call goes on.
 */
export function createSumWaiting(
  sums: Pick<PeriodSums, 'takeWaiting' | 'recordWaiting' | 'findOlder'>,
): () => Promise<void> {
  let mayHaveOlder = true;
  return async () => {
    for (let times = 0; times < TIMES; times++) {
      const waiting = await sums.takeWaiting(LIMIT, PAUSE_MS);
      if (waiting.length > 0) await sums.recordWaiting(waiting.map(summedOf));
      if (waiting.length === LIMIT) continue;
      if (!mayHaveOlder) return;
      mayHaveOlder = await sums.findOlder(OLDER);
    }
  };
}
