import type { RetryRecords } from './retry.ts';

/** A retryable write that has paused between two of its statements. */
interface RunningWrite {
  readonly number: number;
  readonly ended: PromiseWithResolvers<void>;
  /** The retry record of what has run; null if the stored one is up to date. */
  encode: (() => Uint8Array) | null;
  /** How long the last recording took, milliseconds. */
  recordMs: number;
}

/**
 * Retryable writes that have paused, by session. What has run of each is recorded with every commit, so that a repeated
 * command goes on from there after a crash.
 */
export class RunningWrites {
  readonly #retry: RetryRecords;
  readonly #running = new Map<string, RunningWrite>();

  constructor(retry: RetryRecords) {
    this.#retry = retry;
  }

  /** Resolves when the write of the session that is under way has ended; undefined if there is none. */
  ended(session: string): Promise<void> | undefined {
    return this.#running.get(session)?.ended.promise;
  }

  begin(session: string, number: number): void {
    this.#running.set(session, { number, ended: Promise.withResolvers(), encode: null, recordMs: 0 });
  }

  /** More of the write has run. @param encode makes its retry record @returns how long the last recording took, milliseconds */
  advance(session: string, encode: () => Uint8Array): number {
    const running = this.#running.get(session);
    if (!running) return 0;
    running.encode = encode;
    return running.recordMs;
  }

  end(session: string): void {
    const running = this.#running.get(session);
    this.#running.delete(session);
    running?.ended.resolve();
  }

  /** Records what has run. Call it before each commit, inside of its transaction. */
  record(): void {
    for (const [session, running] of this.#running) {
      if (!running.encode) continue;
      const start = performance.now();
      this.#retry.record(Buffer.from(session, 'hex'), running.number, running.encode());
      running.encode = null;
      running.recordMs = performance.now() - start;
    }
  }
}
