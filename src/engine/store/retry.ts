import type { Database } from './database.ts';

/** Answers of retryable writes by session: the last one of each, kept as long as a session may live. */
export class RetryRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The session's last recorded write. */
  find(session: Uint8Array): { txn: number; reply: Uint8Array } | undefined {
    const row = this.#database.prepare('SELECT txn, reply FROM retry WHERE lsid = ?').get(session);
    return row && { txn: Number(row.txn), reply: row.reply as Uint8Array };
  }

  /** Records an answer, inside the transaction of the write that it tells of. */
  record(session: Uint8Array, txn: number, reply: Uint8Array): void {
    this.#database
      .prepare('INSERT OR REPLACE INTO retry(lsid, txn, at, reply) VALUES(?, ?, ?, ?)')
      .run(session, txn, Date.now(), reply);
  }

  /** Forgets the answers given before `time` (milliseconds). */
  forgetBefore(time: number): void {
    this.#database.prepare('DELETE FROM retry WHERE at < ?').run(time);
  }
}
