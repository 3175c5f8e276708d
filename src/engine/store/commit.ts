import type { StatementSync } from 'node:sqlite';
import type { Database } from './database.ts';

/**
 * Group commit: the writes of every command that arrives while the last commit is under way share one transaction, each inside a savepoint
 * of its own. What must not be seen before it is durable waits by `afterCommit`.
 */
export class GroupCommit {
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  readonly #savepoint: StatementSync;
  readonly #release: StatementSync;
  readonly #undo: StatementSync;
  readonly #inTransaction: () => boolean;
  #open = false;
  /** Set when SQLite gave up the whole transaction (a full disk, an I/O error): nothing in it may be acknowledged. */
  #broken: Error | undefined;
  #waiting: ((failure?: Error) => void)[] = [];
  /** Runs before each COMMIT, inside its transaction. */
  beforeCommit: () => void = () => {};
  /** Runs after each COMMIT, before any waiting reply goes out. */
  onCommit: () => void = () => {};
  /** Runs before each piece of work, and when it was undone, so that what is kept in memory is read anew. */
  onStart: () => void = () => {};
  onUndo: () => void = () => {};
  /** Runs when a COMMIT failed: everything since the last one is gone. */
  onLost: () => void = () => {};

  constructor(database: Database) {
    const prepare = (sql: string): StatementSync => database.sqlite.prepare(sql);
    this.#inTransaction = () => database.sqlite.isTransaction;
    this.#begin = prepare('BEGIN IMMEDIATE');
    this.#commit = prepare('COMMIT');
    this.#rollback = prepare('ROLLBACK');
    this.#savepoint = prepare('SAVEPOINT command');
    this.#release = prepare('RELEASE command');
    this.#undo = prepare('ROLLBACK TO command');
  }

  /** Runs `work` all or nothing, as part of the next commit. */
  write<T>(work: () => T): T {
    this.#enter();
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

  /** Runs `work` on a state that is undone afterwards, whatever it does to it. */
  view<T>(work: () => T): T {
    this.#enter();
    try {
      return work();
    } finally {
      if (this.#inTransaction()) {
        this.#undo.run();
        this.#release.run();
      } else this.#broken = new Error('SQLite gave up the transaction');
    }
  }

  #enter(): void {
    if (!this.#open) {
      this.#begin.run();
      this.#open = true;
      setImmediate(() => this.flush());
    }
    if (this.#broken) throw this.#broken;
    this.#savepoint.run();
  }

  /** Calls back when everything written so far is durable: now, if nothing is open; with an error when the commit failed. */
  afterCommit(callback: (failure?: Error) => void): void {
    if (this.#open) this.#waiting.push(callback);
    else callback();
  }

  /** Commits what is open. */
  flush(): void {
    if (!this.#open) return;
    const failure = this.#broken ?? this.#tryCommit();
    this.#open = false;
    this.#broken = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (failure) this.onLost();
    else this.onCommit();
    for (const callback of waiting) callback(failure);
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
