/** Runs what is given to it one at a time, in turn among the keys that have something waiting, so that no key waits for another's backlog. */
export interface FairQueue {
  /**
   * @param key whose work it is
   * @throws {QueueFull} at once when this key has its share waiting; later when others, who have less, need its place
   */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** The work was not begun. */
export class QueueFull extends Error {}

interface Entry {
  readonly begin: () => Promise<unknown>;
  readonly displace: () => void;
}

/**
 * @param perKey how many may wait of one key, the one that is running not counted
 * @param total how many may wait in all; beyond it the longest backlog loses its latest
 */
export function createFairQueue({ perKey, total }: { perKey: number; total: number }): FairQueue {
  /** Keys with something waiting, in the order of their turns. */
  const backlogs = new Map<string, Entry[]>();
  let size = 0;
  let running = false;

  const add = (key: string, entry: Entry) => {
    const backlog = backlogs.get(key) ?? [];
    if (backlog.length >= perKey) throw new QueueFull();
    backlogs.set(key, backlog);
    backlog.push(entry);
    if (++size > total) displaceOne();
  };

  const displaceOne = () => {
    const [key, longest] = [...backlogs].reduce((most, each) => (each[1].length > most[1].length ? each : most));
    const latest = longest.pop();
    if (longest.length === 0) backlogs.delete(key);
    size--;
    latest?.displace();
  };

  const next = () => {
    const [turn] = backlogs;
    if (running || turn === undefined) return;
    const [key, backlog] = turn;
    const entry = backlog.shift();
    // To the end of the turns.
    backlogs.delete(key);
    if (backlog.length > 0) backlogs.set(key, backlog);
    size--;
    running = true;
    void entry?.begin().finally(() => {
      running = false;
      next();
    });
  };

  return {
    run(key, work) {
      return new Promise((resolve, reject) => {
        const begin = () => work().then(resolve, reject);
        add(key, { begin, displace: () => reject(new QueueFull()) });
        next();
      });
    },
  };
}
