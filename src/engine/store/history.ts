import { randomInt } from 'node:crypto';
import { SUMS } from './checksums.ts';
import type { Database } from './database.ts';
import type { Oplog } from './oplog.ts';

/** Name of the row of the table `meta` that has the data file's id. */
const ID = 'history';

/** Identifies a state of a data file: by the file's id and the newest entry of its oplog. */
export interface HistoryState {
  /** Id of the data file. All copies of a file have the same. */
  readonly id: number;
  /** Position of the newest oplog entry; 0 if there is none. */
  readonly seq: number;
  /**
   * Checksum of the newest oplog entry. If two copies of a file are both written to, these differ at the same position.
   */
  readonly sum: number;
}

/**
 * The history of a data file. It shows whether the file is a continuation of a copy. The time of the newest entry would
 * not show that: after an old state was restored, new entries are soon written to it.
 */
export class History {
  readonly #database: Database;
  readonly #oplog: Oplog;

  constructor(database: Database, oplog: Oplog) {
    this.#database = database;
    this.#oplog = oplog;
  }

  /** Gives the data file an id if it has none. Call it inside a write. */
  begin(): void {
    if (this.#id() !== undefined) return;
    this.#database
      .prepare(`INSERT INTO meta(name, value, sum)
          SELECT name, value, ${SUMS.meta} FROM (SELECT ? AS name, ? AS value)`)
      .run(ID, randomInt(1, 2 ** 48 - 1));
  }

  /** The state after the last commit. Call it between commits. @throws when the data file has no id yet */
  state(): HistoryState {
    const id = this.#id();
    if (id === undefined) throw new Error('the data file has no id, because it could not be written');
    const newest = this.#database.prepare('SELECT seq, sum FROM oplog ORDER BY seq DESC LIMIT 1').get();
    return { id, seq: Number(newest?.seq ?? 0), sum: Number(newest?.sum ?? 0) };
  }

  /**
   * Whether the data has been in this state. Call it between commits. For a state older than the oldest oplog entry,
   * only the id can be compared.
   * @param isExact whether to return false for a state that old
   */
  includes({ id, seq, sum }: HistoryState, isExact = false): boolean {
    if (id !== this.#id()) return false;
    if (seq <= this.#oplog.floor) return !isExact;
    return this.#database.prepare('SELECT sum FROM oplog WHERE seq = ?').get(seq)?.sum === sum;
  }

  #id(): number | undefined {
    const row = this.#database.prepare('SELECT value FROM meta WHERE name = ?').get(ID);
    return row && Number(row.value);
  }
}
