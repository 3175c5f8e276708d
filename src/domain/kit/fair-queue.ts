import { createTurns } from './turns.ts';

/** The task was refused and did not start. */
export class QueueFull extends Error {}

export interface FairQueueOptions {
  /** Maximum number of concurrent tasks; default 1. */
  readonly places?: number;
  /** Maximum number of concurrent tasks of one key; default unlimited. */
  readonly placesPerKey?: number;
  /** Maximum number of waiting tasks of one key; default unlimited. */
  readonly perKey?: number;
  /**
   * Maximum number of waiting tasks; default unlimited. Beyond it the latest task of the longest backlog is refused.
   */
  readonly total?: number;
  /** Maximum waiting time in milliseconds; default unlimited. */
  readonly patienceMs?: number;
}

interface Entry {
  /** Takes a place and starts. */
  begin(): void;
  /** Leaves the queue. */
  refuse(error: Error): void;
}

/**
 * Runs tasks with limited concurrency. Keys with waiting tasks take turns, so that no key waits for another's backlog.
 * Use it wherever callers share places; with one key for all, if callers need not be distinguished.
 */
export function createFairQueue({
  places = 1,
  placesPerKey = Number.POSITIVE_INFINITY,
  perKey = Number.POSITIVE_INFINITY,
  total = Number.POSITIVE_INFINITY,
  patienceMs,
}: FairQueueOptions) {
  /** Places that each key holds. */
  const held = new Map<string, number>();
  const heldBy = (key: string) => held.get(key) ?? 0;
  const waiting = createTurns<Entry>((key) => (heldBy(key) < placesPerKey ? 0 : Number.POSITIVE_INFINITY));
  let free = places;
  let closed: Error | null = null;

  const hasPlace = (key: string): boolean => free > 0 && heldBy(key) < placesPerKey;

  function occupy(key: string): void {
    free--;
    held.set(key, heldBy(key) + 1);
  }

  function vacate(key: string): void {
    free++;
    if (heldBy(key) > 1) held.set(key, heldBy(key) - 1);
    else held.delete(key);
    waiting.take()?.begin();
  }

  /**
   * Calls `start` at once, or when it is the key's turn. If it cannot start, `refuse` receives the error: see `run`.
   * @param start gets the function that `lineUp` returns
   * @returns a function that frees the place, or leaves the queue; further calls have no effect
   */
  function lineUp(key: string, start: (leave: () => void) => void, refuse: (error: Error) => void): () => void {
    let timer: NodeJS.Timeout | undefined;
    let isInside = false;
    const entry: Entry = {
      begin() {
        clearTimeout(timer);
        isInside = true;
        occupy(key);
        start(leave);
      },
      refuse(error) {
        leave();
        refuse(error);
      },
    };
    function leave(): void {
      clearTimeout(timer);
      waiting.delete(key, entry);
      if (isInside) vacate(key);
      isInside = false;
    }
    if (closed) refuse(closed);
    else if (hasPlace(key)) entry.begin();
    else if (waiting.waitingOf(key) >= perKey) refuse(new QueueFull());
    else {
      waiting.add(key, entry);
      if (patienceMs !== undefined) timer = setTimeout(() => entry.refuse(new QueueFull()), patienceMs);
      if (waiting.size > total) waiting.latestOfMost()?.refuse(new QueueFull());
    }
    return leave;
  }

  return {
    lineUp,
    /** Whether a task of the key would start at once. */
    hasPlace,
    /**
     * Runs the task, at once if a place is free.
     * @param key the owner of the task
     * @throws {QueueFull} at once if the key's backlog is full; later if the total is exceeded and this key has the
     *   longest backlog, or if the task has waited too long
     */
    run: <T>(key: string, work: () => Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        lineUp(key, (leave) => void Promise.try(work).then(resolve, reject).finally(leave), reject);
      }),
    /** Waits for a place and holds it. @returns a function that frees the place @throws as `run` */
    enter: (key: string): Promise<() => void> =>
      new Promise((resolve, reject) => {
        lineUp(key, resolve, reject);
      }),
    /** Refuses the waiting tasks, and all later ones, with this error. */
    close(error: Error): void {
      closed = error;
      for (const entry of waiting.all()) entry.refuse(error);
    },
  };
}
