/**
 * An iterator over values that other code delivers. A subclass keeps the values, and rings when it has one. It is a
 * class, not closures or an async generator, because a process holds tens of thousands of them, and because `return`
 * must end it also while `next` waits.
 */
export abstract class Watch<Value extends object> implements AsyncIterableIterator<Value> {
  #isOver = false;
  #wake: (() => void) | null = null;

  /** The next value that is in memory; null: none is. */
  protected abstract take(): Value | null;

  /** Called when the iteration has ended, possibly more than once, so that the delivery of values can stop. */
  protected abstract onEnd(): void;

  /** Loads values into memory, after which `next` checks again; null: only a ring can bring a value. */
  protected read(): Promise<void> | null {
    return null;
  }

  /** Wakes a `next` that waits. */
  protected ring(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  /** Ends the iteration; a value that `take` returns afterwards is not sent. */
  protected finish() {
    this.#isOver = true;
    this.onEnd();
    this.ring();
    return { done: true, value: undefined } as const;
  }

  /** Returns the result that `next` has without waiting; null if it must wait. */
  #now(): IteratorResult<Value> | null {
    if (this.#isOver) return this.finish();
    const value = this.take();
    return value && { done: false, value };
  }

  /**
   * No async function: each waiting stream would keep its suspended state. A ring resolves the waiting promise with the
   * result itself, because a promise of it would take three more turns for each stream.
   */
  next(): Promise<IteratorResult<Value>> {
    const result = this.#now();
    if (result) return Promise.resolve(result);
    const reading = this.read();
    if (reading) return reading.then(() => this.next());
    return new Promise((resolve) => {
      this.#wake = () => resolve(this.#now() ?? this.next());
    });
  }

  /** May be called while `next` waits. */
  async return(): Promise<IteratorResult<Value>> {
    return this.finish();
  }

  async throw(error: unknown): Promise<never> {
    this.finish();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
