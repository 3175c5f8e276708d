/** A client whose bytes are held: requests that are not complete or wait their turn, answers that it has not read. */
export interface Holder {
  /** Ends it and frees what it holds. */
  drop(): void;
}

/**
 * Bounds the bytes held for all clients together. Whoever goes past the bound makes room: the client goes that has held something without any
 * progress for the longest time.
 */
export class HeldBytes {
  readonly #limit: number;
  /** Those that hold anything, the one longest without progress first. */
  readonly #holders = new Map<Holder, number>();
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get total(): number {
    return this.#total;
  }

  /** Records what `holder` holds now; told after each progress of it. */
  set(holder: Holder, bytes: number): void {
    this.#total += bytes - (this.#holders.get(holder) ?? 0);
    this.#holders.delete(holder);
    if (bytes > 0) this.#holders.set(holder, bytes);
    while (this.#total > this.#limit) {
      const [stalest] = this.#holders.keys();
      if (!stalest) return;
      this.set(stalest, 0);
      stalest.drop();
    }
  }
}
