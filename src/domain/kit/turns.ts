/**
 * Waiting items whose keys take turns: a key with many waiting items delays the others no more than a key with few. Use
 * it where the caller decides when an item may begin; where only places are limited, use `fair-queue.ts`.
 */
export interface Turns<Item> {
  /** Number of items that wait. */
  readonly size: number;
  /** Number of items of a key that wait. */
  waitingOf(key: string): number;
  /** Adds an item behind the others of its key. One that waits already keeps its place. */
  add(key: string, item: Item): void;
  /** @returns whether the item waited */
  delete(key: string, item: Item): boolean;
  /**
   * Removes and returns the item whose turn it is: of the key that holds the fewest places, the item that has waited
   * longest. Among several such keys, the one that has waited longest since its last turn.
   */
  take(): Item | undefined;
  /** Returns the latest item of the key with the most waiting items. */
  latestOfMost(): Item | undefined;
  /** Returns all items, those of each key in their order. */
  all(): Item[];
}

/**
 * @param heldBy number of places that a key holds; `Infinity` for a key that must wait. Default: 0, so that one key
 *   comes after the other
 */
export function createTurns<Item>(heldBy: (key: string) => number = () => 0): Turns<Item> {
  /** Keys and the items of each, both in the order of their turns. */
  const waiting = new Map<string, Set<Item>>();
  let size = 0;

  /** Ends at the first key that holds no place, so it examines at most one key more than there are places. */
  function nextKey(): string | undefined {
    let next: string | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const key of waiting.keys()) {
      const held = heldBy(key);
      if (held < fewest) [next, fewest] = [key, held];
      if (fewest === 0) break;
    }
    return next;
  }

  function remove(key: string, item: Item): boolean {
    const own = waiting.get(key);
    if (!own?.delete(item)) return false;
    size--;
    if (own.size === 0) waiting.delete(key);
    return true;
  }

  return {
    get size() {
      return size;
    },
    waitingOf: (key) => waiting.get(key)?.size ?? 0,
    add(key, item) {
      const own = waiting.get(key) ?? new Set();
      if (!own.has(item)) size++;
      waiting.set(key, own.add(item));
    },
    delete: remove,
    take() {
      const key = nextKey();
      const own = key === undefined ? undefined : waiting.get(key);
      if (key === undefined || !own) return undefined;
      const [item] = own as Iterable<Item> as [Item];
      remove(key, item);
      // Behind the other keys.
      if (waiting.delete(key)) waiting.set(key, own);
      return item;
    },
    latestOfMost() {
      const most = [...waiting.values()].reduce((a, b) => (b.size > a.size ? b : a), new Set<Item>());
      return [...most].at(-1);
    },
    all: () => [...waiting.values()].flatMap((own) => [...own]),
  };
}
