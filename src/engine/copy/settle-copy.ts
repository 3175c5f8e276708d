import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../store/database.ts';
import { contentOf, type FileContent } from '../store/inspect.ts';
import { applyLog, cutLog } from './apply-log.ts';

/**
 * Takes up the log of a copied data file, checks every row of it, and closes it as an engine does, with the checksums of
 * its pages, so that the next start is as fast as any.
 * @param folder of the file `engine.sqlite`
 * @param logBytes bytes of the log that must be whole. What follows is used up to the first frame that is not valid, and
 *   cut there
 * @returns what the file holds
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
  // An engine refuses such a log of its own, because it may have lost commits; this one has all that was promised.
  if (existsSync(log)) cutLog(log);
  const database = openDatabase(folder, { checkAll: true });
  try {
    return contentOf(database.sqlite);
  } finally {
    database.close();
  }
}
