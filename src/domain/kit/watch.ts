/**
 * An iterator of values that others bring. A subclass keeps them, and rings when it has one. A class, not closures or an
 * async generator: a process holds tens of thousands, and `return` ends it also while `next` waits.
 */
export abstract class Watch<Value extends object> implements AsyncIterableIterator<Value> {
  #isOver = false;
  #wake: (() => void) | null = null;

  /** The next value that is in memory; null: none is. */
  protected abstract take(): Value | null;

  /** Called when the iteration has ended, possibly more than once: whoever brings values may stop. */
  protected abstract onEnd(): void;

  /** Brings values into memory, for `next` to look again; null: there is nothing to wait for but a ring. */
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

  /** What `next` has without waiting; null if it must wait. */
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
