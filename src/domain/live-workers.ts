/** A sign of life of a worker, stored for the others. */
export interface Heartbeat {
  readonly id: string;
  /** By the worker's own clock. */
  readonly at: Date;
  /** Number of invoices that it is transmitting to the live authority; absent if it transmits none. */
  readonly inFlight?: number;
}

/**
 * How long a worker counts as live after its last new heartbeat, milliseconds; also the age from which a heartbeat is
 * old.
 */
export const LIVE_MS = 15_000;
/** Whether a heartbeat is recent. A heartbeat in the future counts by the same difference, because clocks differ. */
export function isLive({ at }: Pick<Heartbeat, 'at'>, now: Date): boolean {
  return Math.abs(now.getTime() - at.getTime()) <= LIVE_MS;
}

/** When its heartbeat is removed, milliseconds after the last new one. */
const FORGET_MS = 60_000;

/** A heartbeat that is older than this when it is first seen is removed at once, milliseconds. */
const ANCIENT_MS = 3_600_000;
/** Maximum time between two reads that counts as watched, milliseconds: reads are a second apart. */
const MOST_WATCHED_MS = 2000;

interface Seen {
  /** UNIX milliseconds, by the worker's clock. */
  readonly at: number;
  /** How long this process had watched when it saw it. */
  readonly seen: number;
  /** Whether it was old when first seen, and has not changed. */
  readonly isOld: boolean;
}

/**
 * Recognizes live workers by the changes of their heartbeats, so that differences between clocks do not matter. Until a
 * heartbeat changes it counts by its age: after a series of restarts most heartbeats are of dead workers, which nobody
 * watched long enough. Only time in which this process read regularly counts as watched: after a stall of its own, or
 * of the machine, it does not take other workers for dead.
 * @param clock monotonic, milliseconds
 * @param liveMs see {@link LIVE_MS}
 */
export function watchWorkers(clock: () => number = () => performance.now(), liveMs: number = LIVE_MS) {
  /** The last heartbeat of each worker. */
  const known = new Map<string, Seen>();
  let watched = 0;
  let read = clock();
  return {
    /** Notes the stored heartbeats. @param time now @returns the heartbeats of workers that ended long ago */
    seen<Beat extends Heartbeat>(heartbeats: readonly Beat[], time: Date): readonly Beat[] {
      const now = clock();
      watched += Math.min(now - read, MOST_WATCHED_MS);
      read = now;
      const ids = new Set(heartbeats.map(({ id }) => id));
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
      for (const { id, at } of heartbeats) {
        const before = known.get(id);
        if (before?.at === at.getTime()) continue;
        const isOld = before === undefined && Math.abs(time.getTime() - at.getTime()) > liveMs;
        known.set(id, { at: at.getTime(), seen: watched, isOld });
      }
      return heartbeats.filter(({ id, at }) => {
        const { seen = watched, isOld = false } = known.get(id) ?? {};
        return watched - seen > FORGET_MS || (isOld && time.getTime() - at.getTime() > ANCIENT_MS);
      });
    },
    /** The ids of the live workers. */
    live: (): readonly string[] =>
      [...known].filter(([, { seen, isOld }]) => !isOld && watched - seen <= liveMs).map(([id]) => id),
  };
}
