import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../store/database.ts';
import { contentOf, type FileContent } from '../store/inspect.ts';
import { applyLog, cutLog } from './apply-log.ts';

/**
 * Applies the log of a copied data file, checks every row, and closes the file as an engine does, with the checksums of
 * its pages. So the next start need not check everything.
 * @param folder the folder of the file `engine.sqlite`
 * @param logBytes number of bytes of the log that must be intact. Later bytes are used up to the first invalid frame;
 *   the log is cut there
 * @returns the content of the file
 * @throws an Error with the reason when file or log is damaged or of another version
 */
export function settleCopy(folder: string, logBytes: number): FileContent {
  const path = join(folder, 'engine.sqlite');
  const log = `${path}-wal`;
  const file = openSync(path, 'r+');
  try {
    applyLog(file, log, logBytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  // An engine refuses a damaged log of its own, because it may have lost commits. This log has all bytes that were
  // required.
  if (existsSync(log)) cutLog(log);
  const database = openDatabase(folder, { checkAll: true });
  try {
    return contentOf(database.sqlite);
  } finally {
    database.close();
  }
}
