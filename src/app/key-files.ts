import { join } from 'node:path';
import { lockFile } from './file-lock.ts';

/** A file that is used only for its lock. Backups leave it out. */
export const KEY_LOCK_FILE = 'master.key.lock';

/** How long copies wait for a rotation, milliseconds. A rotation does not wait for copies, which may take hours. */
const WAIT_MS = 2000;

/**
 * Locks the files of the master key in DATA_DIR: `shared` to copy them together with the data that they seal,
 * `exclusive` to replace them.
 * @returns a function that releases the lock
 * @throws when another process holds the lock; the message says what to do
 */
export function lockKeyFiles(dataDir: string, how: 'shared' | 'exclusive'): () => void {
  const file = join(dataDir, KEY_LOCK_FILE);
  if (how === 'shared') return lockFile(file, how, WAIT_MS, 'The master key is being rotated: try again in a moment.');
  return lockFile(
    file,
    how,
    0,
    'A backup is being made or followed, or the master key is being rotated. A copy must not get the data without its key: stop backup --follow, rotate, and start it again.',
  );
}
