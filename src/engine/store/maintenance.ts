import { isOutOfSpace } from './disk.ts';
import type { Store } from './store.ts';
import { removeExpired } from './ttl.ts';

/** Retry records and idle cursors live as long as a logical session. */
const SESSION_MS = 30 * 60 * 1000;

/** Runs the regular work (TTL, idle cursors, old retry records) every `interval` milliseconds; gives back what stops it. */
export function startMaintenance(store: Store, interval: number): () => void {
  let next: NodeJS.Immediate | undefined;
  let work: Iterator<void> | undefined;
  const step = (): void => {
    next = undefined;
    try {
      if (work?.next().done === false) next = setImmediate(step);
      else work = undefined;
    } catch (error) {
      work = undefined;
      // A full disk is told to clients; the next round tries again.
      if (!isOutOfSpace(error)) process.emitWarning(`engine: maintenance failed: ${(error as Error).message}`);
    }
  };
  const timer = setInterval(() => {
    if (work) return;
    work = round(store);
    step();
  }, interval);
  return () => {
    clearInterval(timer);
    clearImmediate(next);
  };
}

/** One round, in steps short enough that clients do not wait for them. */
function* round(store: Store): Generator<void> {
  const now = Date.now();
  store.cursors.killIdle(now);
  store.snapshots.expire(now);
  store.commit.write(() => store.retry.forgetBefore(now - SESSION_MS));
  yield* removeExpired(store, now);
}
