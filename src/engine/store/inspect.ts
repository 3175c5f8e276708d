import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { ridRange } from './catalog.ts';
import { defineChecksums } from './checksums.ts';
import { damagedFileError, refusedFileError } from './data-file-errors.ts';
import { checkContent, checkFormat, versionOf } from './database.ts';

/** Summary of a data file's content. */
export interface FileContent {
  /** Version of the file's tables. */
  readonly fileVersion: number;
  /** Number of documents of each collection, by `database.collection`. */
  readonly documents: Readonly<Record<string, number>>;
}

/**
 * Checks a data file that no engine uses and that has no log: its format, its structure and every row's checksum. Does
 * not write to it, and blocks for some seconds per GiB.
 * @throws an Error with the reason when the file is damaged, or of another program or version
 */
export function inspectFile(path: string): FileContent {
  if (statSync(path).size === 0) throw damagedFileError(path, 'it is empty');
  const address = pathToFileURL(path);
  // Without this, SQLite would look for a log, and write files beside this one.
  address.search = 'immutable=1';
  const sqlite = new DatabaseSync(address, { readOnly: true });
  try {
    defineChecksums(sqlite);
    if (checkFormat(sqlite)) throw new Error('it has no tables');
    checkContent(sqlite);
    return contentOf(sqlite);
  } catch (error) {
    throw refusedFileError(path, error as Error);
  } finally {
    sqlite.close();
  }
}

/** Summarizes the content of an open data file. */
export function contentOf(sqlite: DatabaseSync): FileContent {
  const documents: Record<string, number> = {};
  const count = sqlite.prepare('SELECT count(*) AS n FROM doc WHERE rid BETWEEN ? AND ?');
  for (const { id, db, name } of sqlite.prepare('SELECT id, db, name FROM coll ORDER BY db, name').all()) {
    const { firstRid, lastRid } = ridRange(Number(id));
    documents[`${db}.${name}`] = Number(count.get(firstRid, lastRid)?.n);
  }
  return { fileVersion: Number(versionOf(sqlite)), documents };
}
