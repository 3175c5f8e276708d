import { PAUSE, type Steps } from '../query/pause.ts';
import type { Store } from './store.ts';

/** Pages that are given back in one step: a few milliseconds of work. */
const STEP = 100;
/** The file keeps this part of its pages free for the next writes, and at least `LEAST` pages. */
const KEPT_PART = 0.25;
const LEAST = 4096;

/** Gives free pages back to the file system if many are free, down to half of what it keeps. */
export function* shrink(store: Store): Steps<void> {
  const kept = Math.max(LEAST, KEPT_PART * pragma(store, 'page_count'));
  if (pragma(store, 'freelist_count') > kept) yield* giveBack(store, kept / 2);
}

/** Gives free pages back until not more than `kept` are free. @returns the number of bytes */
export function* giveBack(store: Store, kept: number): Steps<number> {
  const before = pragma(store, 'freelist_count');
  let free = before;
  while (free > kept) {
    store.commit.write(() => store.database.prepare(`PRAGMA incremental_vacuum(${STEP})`).all());
    yield PAUSE;
    const left = pragma(store, 'freelist_count');
    // Nothing more can be moved.
    if (left >= free) break;
    free = left;
  }
  return Math.max(0, before - free) * pragma(store, 'page_size');
}

function pragma({ database }: Store, name: 'page_count' | 'freelist_count' | 'page_size'): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
}
