import { corrupt, rowSum } from './checksums.ts';
import type { Database } from './database.ts';

/** Answers of retryable writes by session: the last one of each, kept as long as a session may live. */
export class RetryRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The session's last recorded write. */
  find(session: Uint8Array): { txn: number; reply: Uint8Array } | undefined {
    const row = this.#database.prepare('SELECT txn, at, reply, sum FROM retry WHERE lsid = ?').get(session);
    if (!row) return undefined;
    const { txn, at, reply, sum } = row as unknown as { txn: number; at: number; reply: Uint8Array; sum: number };
    if (rowSum([session, reply], txn, at) !== sum) throw corrupt('the record of a retryable write');
    return { txn, reply };
  }

  /** Records an answer, inside the transaction of the write that it tells of. */
  record(session: Uint8Array, txn: number, reply: Uint8Array): void {
    const at = Date.now();
    this.#database
      .prepare('INSERT OR REPLACE INTO retry(lsid, txn, at, reply, sum) VALUES(?, ?, ?, ?, ?)')
      .run(session, txn, at, reply, rowSum([session, reply], txn, at));
  }

  /** Forgets the answers given before `time` (milliseconds). */
  forgetBefore(time: number): void {
    this.#database.prepare('DELETE FROM retry WHERE at < ?').run(time);
  }
}
