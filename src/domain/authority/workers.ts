import type { WorkerHeartbeat } from './state.ts';

/** How long a worker counts after its last new heartbeat, milliseconds. */
const LIVE_MS = 15_000;
/** When its heartbeat is removed, milliseconds after the last new one. */
const FORGET_MS = 60_000;

/** Counts the live workers by the changes of their heartbeats, so that differences between clocks do not matter. */
export interface LiveWorkers {
  /** Takes note of the stored heartbeats. @returns those of workers that have ended long ago */
  seen(heartbeats: readonly WorkerHeartbeat[]): readonly WorkerHeartbeat[];
  live(): number;
}

export function countWorkers(): LiveWorkers {
  /** The last heartbeat of each worker, and when it was seen by the monotonic clock. */
  const known = new Map<string, { readonly at: number; readonly seen: number }>();
  return {
    seen(heartbeats) {
      const now = performance.now();
      const ids = new Set(heartbeats.map(({ id }) => id));
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
      for (const { id, at } of heartbeats)
        if (known.get(id)?.at !== at.getTime()) known.set(id, { at: at.getTime(), seen: now });
      return heartbeats.filter(({ id }) => now - (known.get(id)?.seen ?? now) > FORGET_MS);
    },
    live: () => [...known.values()].filter(({ seen }) => performance.now() - seen <= LIVE_MS).length,
  };
}
