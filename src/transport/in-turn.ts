import type { Reader } from './stream-reservations.ts';

const DONE = { done: true, value: undefined } as const;

/**
 * The results of an operation, each made when the reader is ready for it. Until the next result is requested, no other
 * operation of that reader makes one. Ends when the events end or the reader is gone.
 */
export class InTurn<Event, Result> implements AsyncGenerator<Result> {
  readonly #events: AsyncIterator<Event>;
  readonly #reader: Reader;
  readonly #make: (event: Event) => Result | Promise<Result>;
  readonly #bytes: number;
  #leave: (() => void) | null = null;
  #ended = false;

  /**
   * @param make makes the result of an event; does not reject
   * @param bytes memory that is kept while an event waits for its turn, bytes
   */
  constructor(
    events: AsyncIterator<Event>,
    reader: Reader,
    make: (event: Event) => Result | Promise<Result>,
    bytes: number,
  ) {
    this.#events = events;
    this.#reader = reader;
    this.#make = make;
    this.#bytes = bytes;
  }

  async next(): Promise<IteratorResult<Result>> {
    this.#endTurn();
    const event = await this.#events.next();
    if (this.#ended) return DONE;
    if (event.done) return event;
    this.#leave = await this.#reader.turn(this.#bytes);
    if (this.#leave && !this.#ended) return { done: false, value: await this.#make(event.value) };
    return this.return();
  }

  /** Ends the results. An event that waits for its turn then produces no result. */
  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#ended = true;
    this.#endTurn();
    await this.#events.return?.();
    return DONE;
  }

  async throw(error: unknown): Promise<never> {
    await this.return();
    throw error;
  }

  #endTurn(): void {
    this.#leave?.();
    this.#leave = null;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}

/** Emits one event, for an operation with one result. */
export async function* once(): AsyncGenerator<undefined> {
  yield undefined;
}
