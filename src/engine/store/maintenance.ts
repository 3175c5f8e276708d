import { isOutOfSpace } from './disk.ts';
import { shrink } from './free-space.ts';
import type { Store } from './store.ts';
import { removeExpired } from './ttl.ts';

/** Lifetime of a logical session, and so of its retry record. */
const SESSION_MS = 30 * 60 * 1000;

/**
 * Runs the periodic work (TTL, idle cursors, expired retry records) every `interval` milliseconds. Returns a function
 * that stops it.
 */
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
      // Clients already get an error for a full disk; the next run tries again.
      if (!isOutOfSpace(error)) process.emitWarning(`engine: maintenance failed: ${(error as Error).message}`);
    }
  };
  const timer = setInterval(() => {
    store.cursors.killIdle(Date.now());
    store.snapshots.expire(Date.now());
    // The previous run may be unfinished, with a long backlog of expired documents.
    if (work) return;
    work = round(store);
    step();
  }, interval);
  return () => {
    clearInterval(timer);
    clearImmediate(next);
  };
}

/** Milliseconds between two steps of comparing pages, until all were compared once since the start. */
const FIRST_ROUND_MS = 2;
/** Milliseconds between two steps of comparing pages, after the first round. */
const NEXT_ROUNDS_MS = 1000;

/**
 * Compares all pages of the data file with their sums, over and over. The first round, with the pages that the start
 * did not compare, takes some seconds per GiB; after that, 1 MiB is compared each second. The error for a page that
 * changed on disk is not caught: it ends the engine, which must not return wrong data.
 * @returns a function that stops the comparison
 */
export function startComparing({ database }: Store): () => void {
  let timer: NodeJS.Timeout;
  const next = (): void => {
    timer = setTimeout(step, database.sums.isFirstRound ? FIRST_ROUND_MS : NEXT_ROUNDS_MS);
    timer.unref();
  };
  const step = (): void => {
    database.comparePages();
    next();
  };
  next();
  return () => clearTimeout(timer);
}

/** One maintenance run, in steps that are short enough not to delay clients. */
function* round(store: Store): Generator<void> {
  const now = Date.now();
  store.commit.write(() => store.retry.forgetBefore(now - SESSION_MS));
  while (store.commit.write(() => store.builds.removeLeaving())) yield;
  yield* removeExpired(store, now);
  for (const _ of shrink(store)) yield;
}
