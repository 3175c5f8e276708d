/** Maximum number of bytes that wait for clients, in total. */
const UNREAD_BYTES = 64 * 1024 * 1024;
/** The size in bytes from which answers are counted. A smaller one costs little more than its connection. */
export const COUNTED_BYTES = 64 * 1024;

interface Waiting {
  readonly bytes: number;
  /** Frees the memory, for example by resetting the connection. */
  drop(): void;
}

/** What waits for somebody, and its bytes in total. */
interface Held<Part> {
  bytes: number;
  readonly parts: Part;
}
/** What waits for a caller, oldest first. */
type OfCaller = Held<Set<Waiting>>;
/** What waits for the callers of a sharer. */
type OfSharer = Held<Map<string, OfCaller>>;

/**
 * Counts the memory that waits for clients in this process, by sharer and caller: answers and messages of streams that
 * clients have not read, operations whose results they are not ready to read, and documents of running subscriptions.
 */
export class UnreadAnswers {
  readonly #limit: number;
  readonly #sharers = new Map<string, OfSharer>();
  #bytes = 0;
  #dropping = false;

  constructor(limit = UNREAD_BYTES) {
    this.#limit = limit;
  }

  /** Number of bytes that wait now. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds an item. While the total exceeds the limit, the oldest item of the caller with the most bytes, of the sharer
   * with the most bytes, is dropped, possibly the new one.
   * @param sharer by `sharerOf`; empty for callers without a credential
   * @param caller by `callerOf`
   * @returns a function that removes the item
   */
  add(sharer: string, one: Waiting, caller = ''): () => void {
    const all: OfSharer = this.#sharers.get(sharer) ?? { bytes: 0, parts: new Map() };
    const own: OfCaller = all.parts.get(caller) ?? { bytes: 0, parts: new Set() };
    this.#sharers.set(sharer, all);
    all.parts.set(caller, own);
    own.parts.add(one);
    own.bytes += one.bytes;
    all.bytes += one.bytes;
    this.#bytes += one.bytes;
    this.#dropExcess();
    return () => this.#remove(sharer, caller, one);
  }

  #dropExcess(): void {
    // What is dropped may add an item. The loop below goes on with it, because calls within calls would fill the stack.
    if (this.#dropping) return;
    this.#dropping = true;
    try {
      while (this.#bytes > this.#limit) this.#dropOne();
    } finally {
      this.#dropping = false;
    }
  }

  #dropOne(): void {
    const [sharer, { parts: callers }] = largest(this.#sharers);
    const [caller, { parts: waiting }] = largest(callers);
    const [oldest] = waiting as Iterable<Waiting> as [Waiting];
    this.#remove(sharer, caller, oldest);
    oldest.drop();
  }

  #remove(sharer: string, caller: string, one: Waiting): void {
    const all = this.#sharers.get(sharer);
    const own = all?.parts.get(caller);
    if (!all || !own?.parts.delete(one)) return;
    own.bytes -= one.bytes;
    all.bytes -= one.bytes;
    this.#bytes -= one.bytes;
    if (own.parts.size === 0) all.parts.delete(caller);
    if (all.parts.size === 0) this.#sharers.delete(sharer);
  }
}

/** Returns the entry with the most bytes; the first of equal ones. */
function largest<One extends Held<unknown>>(held: ReadonlyMap<string, One>): [string, One] {
  return [...held].reduce((most, each) => (each[1].bytes > most[1].bytes ? each : most));
}
