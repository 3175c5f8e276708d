import { chmodSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/**
 * Locks a file, which is made if there is none and has no content. The lock is one of SQLite, so that the operating
 * system releases it when the process ends, however it does.
 * @param waitMs how long others that hold it are waited for, milliseconds
 * @param held the message of the error when they still hold it then
 * @returns a function that releases it
 */
export function lockFile(file: string, how: 'shared' | 'exclusive', waitMs: number, held: string): () => void {
  const lock = new DatabaseSync(file, { timeout: waitMs });
  try {
    chmodSync(file, 0o600);
    // Without a file for the journal beside it.
    lock.exec('PRAGMA journal_mode = MEMORY');
    lock.exec(how === 'shared' ? 'BEGIN; SELECT count(*) FROM sqlite_master' : 'BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    // SQLITE_BUSY
    if ((cause as { errcode?: number }).errcode !== 5) throw cause;
    throw new Error(held, { cause });
  }
  return () => lock.close();
}
