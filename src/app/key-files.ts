import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Only its lock matters. It is no part of a backup. */
export const KEY_LOCK_FILE = 'master.key.lock';

/** How long copies wait for a rotation, milliseconds. A rotation does not wait for copies, which may take hours. */
const WAIT_MS = 2000;

/**
 * Locks the files of the master key in DATA_DIR: `shared` for whoever copies them together with the data that they seal,
 * `exclusive` for whoever replaces them. The lock is one of SQLite, so that the operating system releases it when the
 * process ends, however it does.
 * @returns a function that releases it
 * @throws when others hold it; the message says what to do
 */
export function lockKeyFiles(dataDir: string, how: 'shared' | 'exclusive'): () => void {
  const file = join(dataDir, KEY_LOCK_FILE);
  const lock = new DatabaseSync(file, { timeout: how === 'shared' ? WAIT_MS : 0 });
  try {
    chmodSync(file, 0o600);
    // Without a file for the journal beside it.
    lock.exec('PRAGMA journal_mode = MEMORY');
    lock.exec(how === 'shared' ? 'BEGIN; SELECT count(*) FROM sqlite_master' : 'BEGIN EXCLUSIVE');
  } catch (cause) {
    lock.close();
    // SQLITE_BUSY
    if ((cause as { errcode?: number }).errcode !== 5) throw cause;
    throw new Error(
      how === 'shared'
        ? 'The master key is being rotated: try again in a moment.'
        : 'A backup is being made or followed, or the master key is being rotated. A copy must not get the data without its key: stop backup --follow, rotate, and start it again.',
      { cause },
    );
  }
  return () => lock.close();
}
