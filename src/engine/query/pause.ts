/**
 * A source yields this mark now and then between documents, so that a long read can let other commands run. Every stage
 * passes it on; `commands/slices.ts` decides whether to stop there.
 */
export const PAUSE = Symbol('pause');
export type Pause = typeof PAUSE;

/** Items with pauses between them. */
export type Pausing<T> = Iterable<T | Pause>;

/** Work that pauses until it returns its result. */
export type Steps<T> = Generator<Pause, T, undefined>;

/** Number of items after which a loop over many of them pauses: less than a millisecond of work. */
export const PAUSE_ITEMS = 128;

/**
 * Milliseconds of work after which a loop pauses earlier: one large document can take as long as thousands of small
 * ones.
 */
const PAUSE_MS = 1;
/** Number of items between two reads of the clock. Reading it for each would cost more than cheap items do. */
const UNTIMED_ITEMS = 8;

/** Decides when a loop over many items should pause: after {@link PAUSE_ITEMS} items or a millisecond. */
export class Pace {
  #items = 0;
  #nextLook = 1;
  #last = performance.now();

  /** Whether to pause. Call it after each item. */
  isDue(): boolean {
    if (++this.#items < this.#nextLook) return false;
    const now = performance.now();
    const isDue = this.#items >= PAUSE_ITEMS || now - this.#last >= PAUSE_MS;
    if (isDue) {
      this.#items = 0;
      this.#last = now;
    }
    this.#nextLook = isDue ? 1 : Math.min(this.#items + UNTIMED_ITEMS, PAUSE_ITEMS);
    return isDue;
  }
}

/** Yields the results of `change` for the items. */
export function* mapped<A, B>(source: Pausing<A>, change: (item: A) => B): Generator<B | Pause> {
  for (const item of source) yield item === PAUSE ? PAUSE : change(item as A);
}

/** Yields the items that pass the test. Also pauses during a long series of items that do not pass. */
export function* filtered<T>(source: Pausing<T>, test: (item: T) => boolean): Generator<T | Pause> {
  const pace = new Pace();
  for (const item of source) {
    if (item === PAUSE || test(item as T)) yield item;
    else if (pace.isDue()) yield PAUSE;
  }
}

/** Calls `each` with every item. Pauses where the source does, and as {@link Pace} says. */
export function* drained<T>(source: Pausing<T>, each: (item: T) => void): Steps<void> {
  const pace = new Pace();
  for (const item of source) {
    if (item !== PAUSE) each(item as T);
    if (item === PAUSE || pace.isDue()) yield PAUSE;
  }
}

/** Yields the items without the pause marks, for a reader that cannot pause. */
export function* withoutPauses<T>(source: Pausing<T>): Generator<T> {
  for (const item of source) if (item !== PAUSE) yield item as T;
}
