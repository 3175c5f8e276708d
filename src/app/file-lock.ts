import { chmodSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { giveToOwner } from './folder-owner.ts';

const SQLITE_BUSY = 5;

/**
 * Locks a file. Creates it without content if it does not exist. Uses a lock of SQLite, which the operating system
 * releases when the process ends for any reason.
 * @param waitMs how long to wait for other holders, milliseconds
 * @param held the message of the error when another process still holds the lock after that
 * @returns a function that releases the lock
 * @throws when another process holds the lock, the file system has no locks, or the file cannot be written; the message
 * says what to do
 */
export function lockFile(file: string, how: 'shared' | 'exclusive', waitMs: number, held: string): () => void {
  let lock: DatabaseSync | null = null;
  try {
    lock = new DatabaseSync(file, { timeout: waitMs });
    if ((statSync(file).mode & 0o777) !== 0o600) chmodSync(file, 0o600);
    giveToOwner(file);
    // Keeps SQLite's journal in memory, so that no journal file appears beside the lock file.
    lock.exec('PRAGMA journal_mode = MEMORY');
    lock.exec(how === 'shared' ? 'BEGIN; SELECT count(*) FROM sqlite_master' : 'BEGIN EXCLUSIVE');
  } catch (cause) {
    lock?.close();
    const { errcode, message } = cause as Error & { errcode?: number };
    // An error of the file system, not of SQLite. It already names the file.
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

/** Returns the user id of a file's owner, if that is not this process's user; null otherwise. */
function foreignOwner(file: string): number | null {
  const uid = statSync(file, { throwIfNoEntry: false })?.uid;
  return uid === undefined || uid === process.getuid?.() ? null : uid;
}
