import type { CommandError } from '../errors.ts';

/** A write that has paused. */
export interface RunningWrite {
  readonly session: string | undefined;
  /** Set for a retryable one, which the next command of its session waits for. */
  readonly ended: PromiseWithResolvers<void> | null;
  /** Why it must end; null if it may go on. */
  interruption: CommandError | null;
  /** Called when it must end, so that it waits for nothing any more. */
  onInterrupt: () => void;
}

/** The writes that pause between documents. */
export class RunningWrites {
  readonly #running = new Set<RunningWrite>();
  /** The retryable ones, by session. */
  readonly #retryable = new Map<string, RunningWrite>();
  #lastTurn: Promise<void> = Promise.resolve();

  /** Resolves when the retryable write of the session that is under way has ended; undefined if there is none. */
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

  /** Ends the writes of these sessions after their present slice. */
  interrupt(isMeant: (session: string | undefined) => boolean, why: CommandError): void {
    for (const write of [...this.#running]) {
      if (!isMeant(write.session)) continue;
      write.interruption = why;
      write.onInterrupt();
    }
  }

  /**
   * Resolves when a write may run its next slice: one write after the other, so that others wait for one slice at most.
   * @param pause lets others run
   */
  turn(pause: () => Promise<void>): Promise<void> {
    this.#lastTurn = this.#lastTurn.then(pause);
    return this.#lastTurn;
  }
}
