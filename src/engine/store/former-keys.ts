import { DatabaseSync, type StatementSync } from 'node:sqlite';

/** An index key that a document had before a change. */
export interface FormerKey {
  readonly index: number;
  readonly key: Uint8Array;
}

/**
 * The index keys that documents had before the changes kept by `Versions`, in memory, to find changed documents by a
 * key range.
 */
export class FormerKeys {
  readonly #sqlite = new DatabaseSync(':memory:');
  readonly #add: StatementSync;
  readonly #remove: StatementSync;
  readonly #find: StatementSync;

  constructor() {
    this.#sqlite.exec(
      'CREATE TABLE former(i INTEGER, key BLOB, rid INTEGER, at INTEGER, PRIMARY KEY(i, key, rid, at)) WITHOUT ROWID',
    );
    this.#add = this.#sqlite.prepare('INSERT OR IGNORE INTO former(i, key, rid, at) VALUES(?, ?, ?, ?)');
    this.#remove = this.#sqlite.prepare('DELETE FROM former WHERE i = ? AND key = ? AND rid = ? AND at = ?');
    this.#find = this.#sqlite.prepare('SELECT DISTINCT rid FROM former WHERE i = ? AND key >= ? AND key < ?');
  }

  /** @param at the time of the change; no two changes have the same */
  add(keys: readonly FormerKey[], rid: number, at: number): void {
    for (const { index, key } of keys) this.#add.run(index, key, rid, at);
  }

  remove(keys: readonly FormerKey[], rid: number, at: number): void {
    for (const { index, key } of keys) this.#remove.run(index, key, rid, at);
  }

  clear(): void {
    this.#sqlite.exec('DELETE FROM former');
  }

  /** Finds the rows that had a key from `low` (inclusive) to `high` (exclusive). */
  within(index: number, low: Uint8Array, high: Uint8Array): number[] {
    return this.#find.all(index, low, high).map(({ rid }) => rid as number);
  }
}
