import { corruptionError, rowSum } from './checksums.ts';
import type { Database } from './database.ts';

/** The replies of retryable writes. The last one of each session is kept for the lifetime of the session. */
export class RetryRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The last recorded write of the session. */
  find(session: Uint8Array): { txn: number; reply: Uint8Array } | undefined {
    const row = this.#database.prepare('SELECT txn, at, reply, sum FROM retry WHERE lsid = ?').get(session);
    if (!row) return undefined;
    const { txn, at, reply, sum } = row as unknown as { txn: number; at: number; reply: Uint8Array; sum: number };
    if (rowSum([session, reply], txn, at) !== sum) throw corruptionError('a retry record');
    return { txn, reply };
  }

  /** Records a reply, inside the SQLite transaction of its write. */
  record(session: Uint8Array, txn: number, reply: Uint8Array): void {
    const at = Date.now();
    this.#database
      .prepare('INSERT OR REPLACE INTO retry(lsid, txn, at, reply, sum) VALUES(?, ?, ?, ?, ?)')
      .run(session, txn, at, reply, rowSum([session, reply], txn, at));
  }

  /** Deletes the records from before `time` (milliseconds since the epoch). */
  forgetBefore(time: number): void {
    this.#database.prepare('DELETE FROM retry WHERE at < ?').run(time);
  }
}
