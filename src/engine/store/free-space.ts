import { PAUSE, type Steps } from '../query/pause.ts';
import type { Store } from './store.ts';

/** Number of pages given back in one step: a few milliseconds of work. */
const STEP = 100;
/** Up to this fraction of the file's pages, and at least `LEAST` pages, may stay free for the next writes. */
const KEPT_PART = 0.25;
const LEAST = 4096;

/**
 * If too many pages are free, gives pages back to the file system until half of the number that may stay free is left.
 */
export function* shrink(store: Store): Steps<void> {
  const kept = Math.max(LEAST, KEPT_PART * pragma(store, 'page_count'));
  if (pragma(store, 'freelist_count') > kept) yield* giveBack(store, kept / 2);
}

/** Gives free pages back to the file system until at most `kept` are free. @returns the number of bytes given back */
export function* giveBack(store: Store, kept: number): Steps<number> {
  const before = pragma(store, 'freelist_count');
  let free = before;
  while (free > kept) {
    store.commit.write(() => store.database.prepare(`PRAGMA incremental_vacuum(${STEP})`).all());
    yield PAUSE;
    const left = pragma(store, 'freelist_count');
    // SQLite could not move any more pages.
    if (left >= free) break;
    free = left;
  }
  return Math.max(0, before - free) * pragma(store, 'page_size');
}

function pragma({ database }: Store, name: 'page_count' | 'freelist_count' | 'page_size'): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
}
