import type { Store } from './store.ts';
import { RowLocked } from './transactions.ts';
import { removeExpired } from './ttl.ts';

/** Retry records and idle cursors live as long as a logical session. */
const SESSION_MS = 30 * 60 * 1000;

/** Runs the regular work (TTL, idle cursors, old retry records) every `interval` milliseconds; gives back what stops it. */
export function startMaintenance(store: Store, interval: number): () => void {
  const timer = setInterval(() => {
    store.cursors.killIdle(Date.now());
    store.snapshots.expire(Date.now());
    try {
      removeExpired(store, Date.now());
      store.commit.write(() => store.retry.forgetBefore(Date.now() - SESSION_MS));
    } catch (error) {
      // What a transaction holds is left for the next time.
      if (error instanceof RowLocked) return;
      process.emitWarning(`engine: maintenance failed: ${(error as Error).message}`);
    }
  }, interval);
  return () => clearInterval(timer);
}
