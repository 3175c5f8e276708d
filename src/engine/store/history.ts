import { randomInt } from 'node:crypto';
import { SUMS } from './checksums.ts';
import type { Database } from './database.ts';
import type { Oplog } from './oplog.ts';

/** Row of the table `meta` with the id. */
const ID = 'history';

/** A state of a data file: which file it is, and the newest entry of its oplog. */
export interface HistoryState {
  /** The same for a data file and all of its copies. */
  readonly id: number;
  /** Position of the entry; 0 if there is none. */
  readonly seq: number;
  /** Its checksum: two copies of a file that are both written to have different entries at the same position. */
  readonly sum: number;
}

/**
 * The history of a data file, which tells whether the file continues what a copy has. The time of the newest entry does
 * not tell it: an older state that was put back is soon written to again.
 */
export class History {
  readonly #database: Database;
  readonly #oplog: Oplog;

  constructor(database: Database, oplog: Oplog) {
    this.#database = database;
    this.#oplog = oplog;
  }

  /** Gives the data file its id, if it has none. Call it inside a write. */
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
   * Whether the data has been in this state. Call it between commits. Of a state from before the oldest entry only the
   * id can be compared.
   * @param isExact whether such a state counts as one that the data has not been in
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
