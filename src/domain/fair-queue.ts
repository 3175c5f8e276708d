/** Places for work. Keys that have work waiting take turns, so that no key waits for another's backlog. */
export interface FairQueue {
  /**
   * Runs the work when it has a place: at once when one is free.
   * @param key whose work it is
   * @throws {QueueFull} at once when this key has its share waiting; later when other keys, which have less, need its place in the queue, or
   * when it has waited too long
   */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Takes a place. @returns gives the place back, once @throws as `run` */
  enter(key: string): Promise<() => void>;
}

/** The work was not begun. */
export class QueueFull extends Error {}

interface Entry {
  readonly begin: () => Promise<unknown>;
  readonly refuse: () => void;
}

export interface FairQueueOptions {
  /** How much work runs at a time; one piece unless given. */
  readonly places?: number;
  /** How much work of one key may wait, what is running not counted; any number unless given. */
  readonly perKey?: number;
  /** How much work may wait in all: beyond it the longest backlog loses its latest; any number unless given. */
  readonly total?: number;
  /** How long work may wait, milliseconds; any time unless given. */
  readonly patienceMs?: number;
}

export function createFairQueue({
  places = 1,
  perKey = Number.POSITIVE_INFINITY,
  total = Number.POSITIVE_INFINITY,
  patienceMs,
}: FairQueueOptions): FairQueue {
  /** Keys with work waiting, in the order of their turns. */
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

  /** Takes the entry out of the queue, unless it was begun. */
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
    // To the end of the turns.
    backlogs.delete(key);
    if (backlog.length > 0) backlogs.set(key, backlog);
    size--;
    free--;
    void entry?.begin().finally(() => {
      free++;
      next();
    });
  }

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
    enter: (key) =>
      new Promise((resolve, reject) => {
        run(key, () => new Promise<void>((leave) => resolve(leave))).catch(reject);
      }),
  };
}
