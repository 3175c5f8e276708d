import type { WorkerHeartbeat } from './state.ts';

/** How long a worker counts after its last new heartbeat, milliseconds. */
export const LIVE_MS = 15_000;
/** When its heartbeat is removed, milliseconds after the last new one. */
const FORGET_MS = 60_000;

/** The longest part of the time between two reads that counts as watched, milliseconds: reads are a second apart. */
const MOST_WATCHED_MS = 2000;

/**
 * Counts the live workers by the changes of their heartbeats, so that differences between clocks do not matter. Only time
 * in which this process read regularly counts: after a stall of its own, or of the machine, it takes no other worker for
 * dead.
 */
export interface LiveWorkers {
  /** Takes note of the stored heartbeats. @returns those of workers that have ended long ago */
  seen(heartbeats: readonly WorkerHeartbeat[]): readonly WorkerHeartbeat[];
  live(): number;
}

/** @param clock monotonic, milliseconds */
export function countWorkers(clock: () => number = () => performance.now()): LiveWorkers {
  /** The last heartbeat of each worker, and how long this process had watched when it saw it. */
  const known = new Map<string, { readonly at: number; readonly seen: number }>();
  let watched = 0;
  let read = clock();
  return {
    seen(heartbeats) {
      const now = clock();
      watched += Math.min(now - read, MOST_WATCHED_MS);
      read = now;
      const ids = new Set(heartbeats.map(({ id }) => id));
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
      for (const { id, at } of heartbeats)
        if (known.get(id)?.at !== at.getTime()) known.set(id, { at: at.getTime(), seen: watched });
      return heartbeats.filter(({ id }) => watched - (known.get(id)?.seen ?? watched) > FORGET_MS);
    },
    live: () => [...known.values()].filter(({ seen }) => watched - seen <= LIVE_MS).length,
  };
}
