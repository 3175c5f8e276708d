import { chmodSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { giveToOwner } from './folder-owner.ts';

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
    if ((statSync(file).mode & 0o777) !== 0o600) chmodSync(file, 0o600);
    giveToOwner(file);
    // Without a file for the journal beside it.
    lock.exec('PRAGMA journal_mode = MEMORY');
    lock.exec(how === 'shared' ? 'BEGIN; SELECT count(*) FROM sqlite_master' : 'BEGIN EXCLUSIVE');
  } catch (cause) {
    lock?.close();
    const { errcode, message } = cause as Error & { errcode?: number };
    // Not of SQLite: it names the file.
    if (errcode === undefined) throw cause;
    if (errcode === SQLITE_BUSY) throw new Error(held, { cause });
    const owner = foreignOwner(file);
    if (owner !== null)
      throw new Error(
        `${file} belongs to another user (${owner}), and this one may not write to it. Run as root: chown --reference=${dirname(file)} ${file}`,
        { cause },
      );
    throw new Error(
      `${file} cannot be locked (${message}). Choose a folder on a local disk that can be written: not every network file system has locks.`,
      { cause },
    );
  }
  const taken = lock;
  return () => taken.close();
}

/** The user id of a file's owner, if that is not this user; null otherwise. */
function foreignOwner(file: string): number | null {
  const uid = statSync(file, { throwIfNoEntry: false })?.uid;
  return uid === undefined || uid === process.getuid?.() ? null : uid;
}
