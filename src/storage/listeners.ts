import { setImmediate as turn } from 'node:timers/promises';

/** Listeners by the key that they listen to. */
export interface Listeners<Listener> {
  /** @returns a function that ends the subscription */
  add(key: string, listener: Listener): () => void;
  has(key: string): boolean;
  keys(): string[];
  all(): Listener[];
  /** Number of listeners of all keys. */
  count(): number;
  /**
   * Calls `tell` for each listener of the key, except those removed meanwhile. Yields to the event loop after every 50
   * listeners, so that thousands of listeners delay neither the first ones nor other requests.
   */
  tell(key: string, tell: (listener: Listener) => void): Promise<void>;
}

/** Number of listeners called in one turn of the event loop: about a millisecond of work. */
const BATCH = 50;

export function createListeners<Listener>(): Listeners<Listener> {
  const byKey = new Map<string, Set<Listener>>();
  return {
    add(key, listener) {
      const set = byKey.get(key) ?? new Set();
      byKey.set(key, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0 && byKey.get(key) === set) byKey.delete(key);
      };
    },
    has: (key) => byKey.has(key),
    keys: () => [...byKey.keys()],
    all: () => [...byKey.values()].flatMap((set) => [...set]),
    count: () => [...byKey.values()].reduce((sum, set) => sum + set.size, 0),
    async tell(key, tell) {
      const listeners = byKey.get(key);
      if (!listeners) return;
      let told = 0;
      for (const listener of [...listeners]) {
        if (told++ % BATCH === 0 && told > 1) await turn();
        if (listeners.has(listener)) tell(listener);
      }
    },
  };
}
