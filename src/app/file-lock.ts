import { chmodSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5;

/**
 * Locks a file, which is made if there is none and has no content. The lock is one of SQLite, so that the operating
 * system releases it when the process ends, however it does.
 * @param waitMs how long others that hold it are waited for, milliseconds
 * @param held the message of the error when they still hold it then
 * @returns a function that releases it
 * @throws when others hold it, and when the file system has no locks or the file cannot be written; the message says what to do
 */
export function lockFile(file: string, how: 'shared' | 'exclusive', waitMs: number, held: string): () => void {
  let lock: DatabaseSync | null = null;
  try {
    lock = new DatabaseSync(file, { timeout: waitMs });
    chmodSync(file, 0o600);
    // Without a file for the journal beside it.
    lock.exec('PRAGMA journal_mode = MEMORY');
    lock.exec(how === 'shared' ? 'BEGIN; SELECT count(*) FROM sqlite_master' : 'BEGIN EXCLUSIVE');
  } catch (cause) {
    lock?.close();
    const { errcode, message } = cause as Error & { errcode?: number };
    // Not of SQLite: it names the file.
    if (errcode === undefined) throw cause;
    if (errcode === SQLITE_BUSY) throw new Error(held, { cause });
    throw new Error(
      `${file} cannot be locked (${message}). Choose a folder on a local disk that can be written: not every network file system has locks.`,
      { cause },
    );
  }
  const taken = lock;
  return () => taken.close();
}
