import type { CommandError } from '../errors.ts';

/** A paused write. */
export interface RunningWrite {
  readonly session: string | undefined;
  /** Set for a retryable write: the next command of its session waits until it has ended. */
  readonly ended: PromiseWithResolvers<void> | null;
  /** The reason why the write must end; null if it may continue. */
  interruption: CommandError | null;
  /** Called when the write must end, so that it stops waiting. */
  onInterrupt: () => void;
}

/** The writes that have paused between documents. */
export class RunningWrites {
  readonly #running = new Set<RunningWrite>();
  /** The retryable writes, by session. */
  readonly #retryable = new Map<string, RunningWrite>();
  #lastTurn: Promise<void> = Promise.resolve();

  /** Resolves when the session's running retryable write has ended; undefined if there is none. */
  ended(session: string): Promise<void> | undefined {
    return this.#retryable.get(session)?.ended?.promise;
  }

  begin(session: string | undefined, isRetryable: boolean): RunningWrite {
    const ended = isRetryable ? Promise.withResolvers<void>() : null;
    const write: RunningWrite = { session, ended, interruption: null, onInterrupt: () => {} };
    this.#running.add(write);
    if (session !== undefined && ended) this.#retryable.set(session, write);
    return write;
  }

  end(write: RunningWrite): void {
    this.#running.delete(write);
    if (write.session === undefined || !write.ended) return;
    this.#retryable.delete(write.session);
    write.ended.resolve();
  }

  /** Ends the writes of the selected sessions after their current slice. */
  interrupt(isMeant: (session: string | undefined) => boolean, why: CommandError): void {
    for (const write of [...this.#running]) {
      if (!isMeant(write.session)) continue;
      write.interruption = why;
      write.onInterrupt();
    }
  }

  /**
   * Resolves when a write may run its next slice. Writes take turns, so that other commands wait for at most one slice.
   * @param pause waits until others have run
   */
  turn(pause: () => Promise<void>): Promise<void> {
    this.#lastTurn = this.#lastTurn.then(pause);
    return this.#lastTurn;
  }
}
