import { closeSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../store/database.ts';
import { contentOf, type FileContent } from '../store/inspect.ts';
import { applyLog } from './apply-log.ts';

/**
 * Takes up the log of a copied data file, checks every row of it, and closes it as an engine does, with the checksums of
 * its pages, so that the next start is as fast as any.
 * @param folder of the file `engine.sqlite`
 * @param logBytes bytes of the log that must be whole. Behind them it may end anywhere, as after a power cut
 * @returns what the file holds
 * @throws an Error with the reason when file or log is damaged or of another version
 */
export function settleCopy(folder: string, logBytes: number): FileContent {
  const path = join(folder, 'engine.sqlite');
  const file = openSync(path, 'r+');
  try {
    applyLog(file, `${path}-wal`, logBytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  const database = openDatabase(folder, true);
  try {
    return contentOf(database.sqlite);
  } finally {
    database.close();
  }
}
