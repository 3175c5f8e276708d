/**
 * A connection with buffered bytes: incomplete or queued requests, and answers that are collected or that the client
 * has not read.
 */
export interface Holder {
  /** Closes the connection and frees its buffers. */
  drop(): void;
}

/**
 * Limits the bytes buffered for all connections together. From half of the limit on, answers with documents are kept
 * short (`isHigh`). Beyond the limit, the connection that made no progress for the longest time is closed, then the
 * next, until the total is below the limit. Clients that read their answers do not get each other closed: above half of
 * the limit, N connections with one request each add at most N short answers.
 */
export class HeldBytes {
  readonly #limit: number;
  /** Bytes of each connection; the one without progress for the longest time comes first. */
  readonly #holders = new Map<Holder, number>();
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get total(): number {
    return this.#total;
  }

  get isHigh(): boolean {
    return this.#total > this.#limit / 2;
  }

  /** Sets the number of bytes buffered for `holder`. Counts as progress of that connection. */
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
