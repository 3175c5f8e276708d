/** Maximum number of bytes that wait for clients, in total. */
const UNREAD_BYTES = 64 * 1024 * 1024;
/** The size in bytes from which answers are counted. A smaller one costs little more than its connection. */
export const COUNTED_BYTES = 64 * 1024;

interface Waiting {
  readonly bytes: number;
  /** Frees the memory, for example by resetting the connection. */
  drop(): void;
}

/**
 * Counts the memory that waits for clients in this process, by sharer: answers and messages of streams that clients
 * have not read, and operations whose results they are not ready to read.
 */
export class UnreadAnswers {
  readonly #limit: number;
  /** The waiting items of each sharer, oldest first. */
  readonly #sharers = new Map<string, { bytes: number; readonly waiting: Set<Waiting> }>();
  #bytes = 0;

  constructor(limit = UNREAD_BYTES) {
    this.#limit = limit;
  }

  /** Number of bytes that wait now. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds an item. While the total exceeds the limit, the oldest item of the sharer with the most bytes is dropped,
   * possibly the new one.
   * @param sharer by `sharerOf`; empty for callers without a credential
   * @returns a function that removes the item
   */
  add(sharer: string, one: Waiting): () => void {
    const own = this.#sharers.get(sharer) ?? { bytes: 0, waiting: new Set() };
    this.#sharers.set(sharer, own);
    own.waiting.add(one);
    own.bytes += one.bytes;
    this.#bytes += one.bytes;
    while (this.#bytes > this.#limit) this.#dropOne();
    return () => this.#remove(sharer, one);
  }

  #dropOne(): void {
    const [sharer, { waiting }] = [...this.#sharers].reduce((most, each) =>
      each[1].bytes > most[1].bytes ? each : most,
    );
    const [oldest] = waiting as Iterable<Waiting> as [Waiting];
    this.#remove(sharer, oldest);
    oldest.drop();
  }

  #remove(sharer: string, one: Waiting): void {
    const own = this.#sharers.get(sharer);
    if (!own?.waiting.delete(one)) return;
    own.bytes -= one.bytes;
    this.#bytes -= one.bytes;
    if (own.waiting.size === 0) this.#sharers.delete(sharer);
  }
}
