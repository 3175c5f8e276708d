import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { readNote } from './note.ts';

/** Version of the tables below; a file of a newer version is refused. */
const SCHEMA_VERSION = 1;
/** Files up to this size are checked whole at start, structure and every document's checksum; larger ones prove themselves as they are read. */
const CHECKED_BYTES = 1024 ** 3;
const BUSY = 5;

const SCHEMA = `
  CREATE TABLE coll(id INTEGER PRIMARY KEY, db TEXT NOT NULL, name TEXT NOT NULL, uuid BLOB NOT NULL, options BLOB NOT NULL,
    UNIQUE(db, name));
  CREATE TABLE ind(id INTEGER PRIMARY KEY, coll INTEGER NOT NULL, spec BLOB NOT NULL, multikey INTEGER NOT NULL);
  CREATE TABLE doc(rid INTEGER PRIMARY KEY, sum INTEGER NOT NULL, bson BLOB NOT NULL);
  CREATE TABLE idx(i INTEGER NOT NULL, key BLOB NOT NULL, rid INTEGER NOT NULL, PRIMARY KEY(i, key, rid)) WITHOUT ROWID;
  CREATE TABLE oplog(seq INTEGER PRIMARY KEY, pos INTEGER NOT NULL, wall INTEGER NOT NULL, op TEXT NOT NULL, db TEXT NOT NULL,
    coll TEXT NOT NULL, id BLOB, body BLOB);
  CREATE TABLE retry(lsid BLOB PRIMARY KEY, txn INTEGER NOT NULL, at INTEGER NOT NULL, reply BLOB NOT NULL) WITHOUT ROWID;
  CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** The folder's SQLite file, with its statements prepared once. */
export class Database {
  readonly path: string;
  readonly sqlite: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(path: string, sqlite: DatabaseSync) {
    this.path = path;
    this.sqlite = sqlite;
  }

  /** The prepared statement of `sql`, kept for the life of the file. */
  prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.sqlite.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  close(): void {
    this.#statements.clear();
    this.sqlite.close();
  }
}

/**
 * Opens (or makes) the database of a folder and takes its lock, which the operating system frees when the holder dies, however it dies.
 * Commits reach the disk before they are acknowledged (WAL, synchronous FULL).
 * Nothing else in this process may open the file: POSIX drops a process's locks on a file when it closes any descriptor of it.
 * Throws an Error with a readable reason when another engine serves the folder, or when the file is damaged or of another version.
 */
export function openDatabase(folder: string): Database {
  const path = join(folder, 'engine.sqlite');
  const sqlite = openFile(folder, path);
  try {
    sqlite.exec('PRAGMA locking_mode = EXCLUSIVE');
    sqlite.exec('PRAGMA journal_mode = WAL');
    sqlite.exec(
      'PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864',
    );
    sqlite.exec('BEGIN IMMEDIATE; COMMIT');
    prepareSchema(sqlite, path);
  } catch (error) {
    sqlite.close();
    throw explain(error, folder, path);
  }
  return new Database(path, sqlite);
}

/** The file and the ones that SQLite makes beside it are for their owner alone. */
function openFile(folder: string, path: string): DatabaseSync {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
    return new DatabaseSync(path, { timeout: 0 });
  } catch (error) {
    throw new Error(`The folder ${folder} can't hold the data: ${(error as Error).message}`);
  }
}

function prepareSchema(sqlite: DatabaseSync, path: string): void {
  const version = sqlite.prepare('PRAGMA user_version').get()?.user_version;
  const tables = sqlite.prepare("SELECT count(*) AS n FROM sqlite_master WHERE type = 'table'").get()?.n;
  if (version === 0 && tables === 0) {
    sqlite.exec(`BEGIN; ${SCHEMA} COMMIT`);
    return;
  }
  if (version !== SCHEMA_VERSION)
    throw new Refusal(`it has schema version ${version}, this engine reads ${SCHEMA_VERSION}`);
  if (statSync(path).size > CHECKED_BYTES) return;
  const report = sqlite.prepare('PRAGMA quick_check(1)').get() as Record<string, unknown>;
  const verdict = Object.values(report)[0];
  if (verdict !== 'ok') throw new Refusal(`the check of its structure says: ${verdict}`);
  sqlite.function('crc32', { deterministic: true, directOnly: true }, (bytes) => crc32(bytes as Uint8Array));
  const damagedRows = sqlite.prepare('SELECT count(*) AS n FROM doc WHERE crc32(bson) <> sum').get()?.n;
  if (damagedRows !== 0) throw new Refusal(`${damagedRows} documents do not have their checksum`);
}

class Refusal extends Error {}

function explain(error: unknown, folder: string, path: string): Error {
  const code = (error as { errcode?: number }).errcode ?? 0;
  if ((code & 0xff) === BUSY)
    return new Error(`Another engine serves the folder ${folder}${holder(folder)}; only one at a time may.`);
  if (error instanceof Refusal) return damaged(path, error.message);
  return damaged(path, (error as Error).message);
}

export function damaged(path: string, reason: string): Error {
  return new Error(
    `The data file ${path} is damaged or of another version: ${reason}. Nothing was changed; restore it from a backup or move it away.`,
  );
}

function holder(folder: string): string {
  const note = readNote(folder);
  return note ? ` (process ${note.pid}, ${note.uri})` : '';
}
