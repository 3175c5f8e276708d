/** The task was refused and did not start. */
export class QueueFull extends Error {}

interface Entry {
  readonly begin: () => Promise<unknown>;
  readonly refuse: () => void;
}

export interface FairQueueOptions {
  /** Maximum number of concurrent tasks; default 1. */
  readonly places?: number;
  /** Maximum number of waiting tasks of one key; default unlimited. */
  readonly perKey?: number;
  /**
   * Maximum number of waiting tasks; default unlimited. Beyond it the latest task of the longest backlog is refused.
   */
  readonly total?: number;
  /** Maximum waiting time in milliseconds; default unlimited. */
  readonly patienceMs?: number;
}

/**
 * Runs tasks with limited concurrency. Keys with waiting tasks take turns, so that no key waits for another's backlog.
 */
export function createFairQueue({
  places = 1,
  perKey = Number.POSITIVE_INFINITY,
  total = Number.POSITIVE_INFINITY,
  patienceMs,
}: FairQueueOptions) {
  /** The waiting tasks by key, keys in the order of their turns. */
  const backlogs = new Map<string, Entry[]>();
  let size = 0;
  let free = places;

  function add(key: string, entry: Entry): void {
    const backlog = backlogs.get(key) ?? [];
    if (backlog.length >= perKey) throw new QueueFull();
    backlogs.set(key, backlog);
    backlog.push(entry);
    if (++size > total) refuseLatest();
  }

  function refuseLatest(): void {
    const [key, longest] = [...backlogs].reduce((most, each) => (each[1].length > most[1].length ? each : most));
    const latest = longest.at(-1);
    if (latest) refuse(key, latest);
  }

  /** Removes and refuses the entry unless it has started. */
  function refuse(key: string, entry: Entry): void {
    const backlog = backlogs.get(key) ?? [];
    const index = backlog.indexOf(entry);
    if (index < 0) return;
    backlog.splice(index, 1);
    if (backlog.length === 0) backlogs.delete(key);
    size--;
    entry.refuse();
  }

  function next(): void {
    const [turn] = backlogs;
    if (free === 0 || turn === undefined) return;
    const [key, backlog] = turn;
    const entry = backlog.shift();
    // The next turn of the key comes after those of all other waiting keys.
    backlogs.delete(key);
    if (backlog.length > 0) backlogs.set(key, backlog);
    size--;
    free--;
    void entry?.begin().finally(() => {
      free++;
      next();
    });
  }

  /**
   * Runs the task, at once if a place is free.
   * @param key the owner of the task
   * @throws {QueueFull} at once if the key's backlog is full; later if the total is exceeded and this key has the
   *   longest backlog, or if the task has waited too long
   */
  function run<T>(key: string, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const entry: Entry = {
        begin() {
          clearTimeout(timer);
          return work().then(resolve, reject);
        },
        refuse() {
          clearTimeout(timer);
          reject(new QueueFull());
        },
      };
      add(key, entry);
      if (patienceMs !== undefined) timer = setTimeout(() => refuse(key, entry), patienceMs);
      next();
    });
  }

  return {
    run,
    /** Waits for a place and holds it. @returns a function that frees the place, to be called once @throws as `run` */
    enter: (key: string): Promise<() => void> =>
      new Promise((resolve, reject) => {
        run(key, () => new Promise<void>((leave) => resolve(leave))).catch(reject);
      }),
  };
}
