import { PAUSE, type Pause, type Pausing, type Steps } from './pause.ts';

/** Number of entries that are sorted together as one run, which takes about a millisecond. */
const RUN = 1024;
/** If at most this many entries are wanted, the others are dropped while entries are added. */
const MOST_KEPT = 2000;

/**
 * Sorts entries without blocking for long: in runs, which are merged when they are read. Entries that compare as equal
 * keep their order.
 */
export class Sorter<T> {
  readonly #compare: (a: T, b: T) => number;
  readonly #keep: number;
  readonly #onDrop: (entry: T) => void;
  readonly #runs: T[][] = [];
  #last: T[] = [];

  /**
   * @param keep number of wanted entries, the first in order; Infinity for all
   * @param onDrop called for each entry that turns out not to be wanted
   */
  constructor(compare: (a: T, b: T) => number, keep: number, onDrop: (entry: T) => void) {
    this.#compare = compare;
    this.#keep = keep;
    this.#onDrop = onDrop;
  }

  add(entry: T): void {
    this.#last.push(entry);
    if (this.#keep <= MOST_KEPT) {
      if (this.#last.length >= 2 * this.#keep + RUN) this.dropUnwanted();
    } else if (this.#last.length === RUN) this.#endRun();
  }

  /** Drops all but the wanted entries of those added so far. Does nothing if many are wanted. */
  dropUnwanted(): void {
    if (this.#keep > MOST_KEPT) return;
    this.#last.sort(this.#compare);
    for (const entry of this.#last.splice(this.#keep)) this.#onDrop(entry);
  }

  /** Yields the wanted entries in order. Call it once, after the last `add`. */
  *sorted(): Generator<T | Pause> {
    this.#endRun();
    let left = this.#keep;
    if (left === 0) return;
    for (const entry of mergeSorted(this.#runs, this.#compare)) {
      yield entry;
      if (entry !== PAUSE && --left === 0) return;
    }
  }

  #endRun(): void {
    if (this.#last.length > 0) this.#runs.push(this.#last.sort(this.#compare));
    this.#last = [];
  }
}

interface Head<T> {
  /** The position of the source in the list, which decides between equal items. */
  n: number;
  items: Iterator<T | Pause>;
  first: T;
}

/** Merges sorted sources into one order. Of equal items, those of the earlier source come first. */
export function* mergeSorted<T>(
  sources: readonly Pausing<T>[],
  compare: (a: T, b: T, ofA: number, ofB: number) => number,
): Generator<T | Pause> {
  const heap: Head<T>[] = [];
  const isBefore = (a: Head<T>, b: Head<T>): boolean => (compare(a.first, b.first, a.n, b.n) || a.n - b.n) < 0;
  /** Moves a head down the heap, from a position to where it belongs. */
  const sink = (head: Head<T>, from: number): void => {
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Head<T>, heap[child] as Head<T>)) child++;
      if (!isBefore(heap[child] as Head<T>, head)) break;
      heap[at] = heap[child] as Head<T>;
      at = child;
    }
    heap[at] = head;
  };
  try {
    for (const [n, source] of sources.entries()) {
      const items = source[Symbol.iterator]();
      const { done, value } = yield* nextItem(items);
      if (!done) heap.push({ n, items, first: value });
    }
    for (let at = Math.floor(heap.length / 2) - 1; at >= 0; at--) sink(heap[at] as Head<T>, at);
    while (heap.length > 0) {
      const head = heap[0] as Head<T>;
      yield head.first;
      const { done, value } = yield* nextItem(head.items);
      if (!done) head.first = value;
      const top = done ? (heap.pop() as Head<T>) : head;
      if (heap.length > 0) sink(top, 0);
    }
  } finally {
    for (const { items } of heap) items.return?.();
  }
}

function* nextItem<T>(items: Iterator<T | Pause>): Steps<IteratorResult<T>> {
  for (;;) {
    const next = items.next();
    if (next.done || next.value !== PAUSE) return next as IteratorResult<T>;
    yield PAUSE;
  }
}
