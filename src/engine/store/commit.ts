import type { StatementSync } from 'node:sqlite';
import type { Database } from './database.ts';

/** Milliseconds after which unhurried writes are committed even if no reply waits, so that a commit stays short. */
const LONGEST_UNHURRIED_MS = 100;

/**
 * Group commit: the writes of all commands that arrive while the previous commit is in progress share one SQLite
 * transaction, each in its own savepoint. Replies wait for the commit through `afterCommit`.
 */
export class GroupCommit {
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  readonly #savepoint: StatementSync;
  readonly #release: StatementSync;
  readonly #undo: StatementSync;
  readonly #inTransaction: () => boolean;
  readonly #database: Database;
  #open = false;
  #openedAt = 0;
  #isScheduled = false;
  /**
   * Set when SQLite rolled back the whole transaction (full disk, I/O error). None of its writes may be acknowledged.
   */
  #broken: Error | undefined;
  /** Whether a COMMIT that failed may have left frames in the log. */
  #leftFrames = false;
  /** Number of failed COMMITs. */
  lost = 0;
  /** The error of the last failed COMMIT. */
  failure: Error | undefined;
  #waiting: ((failure?: Error) => void)[] = [];
  /** Runs before each COMMIT, inside its transaction. */
  beforeCommit: () => void = () => {};
  /** Runs after each COMMIT, before any waiting reply is sent. */
  onCommit: () => void = () => {};
  /** Runs before each write, to prepare state in memory for `onUndo`. */
  onStart: () => void = () => {};
  /** Runs after the rollback of a write, to restore state in memory. */
  onUndo: () => void = () => {};
  /** Runs when a COMMIT failed: all writes since the previous commit are lost. */
  onLost: () => void = () => {};

  constructor(database: Database) {
    const prepare = (sql: string): StatementSync => database.sqlite.prepare(sql);
    this.#inTransaction = () => database.sqlite.isTransaction;
    this.#database = database;
    this.#begin = prepare('BEGIN IMMEDIATE');
    this.#commit = prepare('COMMIT');
    this.#rollback = prepare('ROLLBACK');
    this.#savepoint = prepare('SAVEPOINT command');
    this.#release = prepare('RELEASE command');
    this.#undo = prepare('ROLLBACK TO command');
  }

  /** Runs `work` in a savepoint of the next commit; an exception rolls back all of its writes. */
  write<T>(work: () => T): T {
    this.#schedule();
    return this.writeUnhurried(work);
  }

  /**
   * Like `write`, but does not start a commit. The next `write`, `flush` or waiting reply does, or a later write if the
   * open transaction is older than 100 ms.
   */
  writeUnhurried<T>(work: () => T): T {
    this.#enter();
    if (performance.now() - this.#openedAt > LONGEST_UNHURRIED_MS) this.#schedule();
    this.onStart();
    try {
      const result = work();
      this.#release.run();
      return result;
    } catch (error) {
      if (this.#inTransaction()) {
        this.#undo.run();
        this.#release.run();
      } else this.#broken = error as Error;
      this.onUndo();
      throw error;
    }
  }

  /** Runs `work` and rolls back everything that it wrote. */
  view<T>(work: () => T): T {
    this.#schedule();
    this.#enter();
    try {
      return work();
    } finally {
      if (this.#inTransaction()) {
        this.#undo.run();
        this.#release.run();
      } else this.#broken = new Error('SQLite rolled back the transaction');
    }
  }

  #enter(): void {
    if (!this.#open) {
      if (this.#leftFrames) {
        this.#database.cutLog();
        this.#leftFrames = false;
      }
      this.#begin.run();
      this.#open = true;
      this.#openedAt = performance.now();
    }
    if (this.#broken) throw this.#broken;
    this.#savepoint.run();
  }

  /**
   * Calls back when all writes so far are durable: immediately if no commit is pending, with an error if the commit
   * failed.
   */
  afterCommit(callback: (failure?: Error) => void): void {
    if (!this.#open) {
      callback();
      return;
    }
    this.#waiting.push(callback);
    this.#schedule();
  }

  /** Whether there are writes that are not durable yet. Reads see them. */
  get hasWrites(): boolean {
    return this.#open;
  }

  /** Whether answers wait for the next commit. */
  get isPending(): boolean {
    return this.#isScheduled;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.flush());
  }

  /** Commits the pending writes. */
  flush(): void {
    this.#isScheduled = false;
    if (!this.#open) return;
    const failure = this.#broken ?? this.#tryCommit();
    this.#open = false;
    this.#broken = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (failure) {
      this.lost++;
      this.failure = failure;
      this.#leftFrames = true;
      this.onLost();
    } else this.onCommit();
    for (const callback of waiting) callback(failure);
    if (!failure) this.#database.committed();
  }

  #tryCommit(): Error | undefined {
    try {
      this.beforeCommit();
      this.#commit.run();
      return undefined;
    } catch (error) {
      if (this.#inTransaction()) this.#rollback.run();
      return error as Error;
    }
  }
}
