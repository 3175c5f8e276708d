import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { damagedRows, defineChecksums } from './checksums.ts';
import { isOutOfSpace } from './disk.ts';
import { readInstanceFile } from './instance-file.ts';
import { findLogDamage, logBytes } from './log-damage.ts';
import { breakSeal, isSealed, seal, sealState } from './seal.ts';

/** Identify our files and the version of the tables below. A file with another id or version is refused. */
const APPLICATION_ID = 0x466d6462;
const SCHEMA_VERSION = 4;
/** Files of this version have no unfinished indexes; otherwise they are the same. */
const EARLIER_VERSION = 3;
/**
 * A file up to this size is fully checked at each start; a larger one only if its seal is missing or does not match.
 */
const ALWAYS_CHECKED_BYTES = 1024 ** 3;
const PAGE_BYTES = 4096;
const BUSY = 5;

const SCHEMA = `
  CREATE TABLE coll(id INTEGER PRIMARY KEY, db TEXT NOT NULL, name TEXT NOT NULL, uuid BLOB NOT NULL, options BLOB NOT NULL,
    sum INTEGER NOT NULL, UNIQUE(db, name));
  CREATE TABLE ind(id INTEGER PRIMARY KEY, coll INTEGER NOT NULL, spec BLOB NOT NULL, multikey INTEGER NOT NULL, sum INTEGER NOT NULL);
  CREATE TABLE doc(rid INTEGER PRIMARY KEY, sum INTEGER NOT NULL, bson BLOB NOT NULL);
  CREATE TABLE idx(i INTEGER NOT NULL, key BLOB NOT NULL, rid INTEGER NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY(i, key, rid))
    WITHOUT ROWID;
  CREATE TABLE oplog(seq INTEGER PRIMARY KEY, pos INTEGER NOT NULL, wall INTEGER NOT NULL, op TEXT NOT NULL, db TEXT NOT NULL,
    coll TEXT NOT NULL, uuid BLOB, id BLOB, body BLOB, extra BLOB, sum INTEGER NOT NULL);
  CREATE TABLE retry(lsid BLOB PRIMARY KEY, txn INTEGER NOT NULL, at INTEGER NOT NULL, reply BLOB NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** The SQLite file of a data folder, with a cache of prepared statements. */
export class Database {
  readonly path: string;
  readonly sqlite: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(path: string, sqlite: DatabaseSync) {
    this.path = path;
    this.sqlite = sqlite;
  }

  /** The prepared statement for `sql`, cached until the file is closed. */
  prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.sqlite.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /**
   * Cuts the write-ahead log behind its last commit. A COMMIT that failed may leave whole frames there; when later
   * commits overwrite some of them, the rest looks like damage after a crash (`findLogDamage`).
   * @throws when the log cannot be cut
   */
  cutLog(): void {
    // Does nothing but count (SQLite 3.51 and later). -1: there is no log.
    const frames = Number(this.prepare('PRAGMA wal_checkpoint(NOOP)').get()?.log ?? -1);
    const path = walPath(this.path);
    if (frames < 0 || !existsSync(path)) return;
    const bytes = logBytes(frames, PAGE_BYTES);
    if (statSync(path).size > bytes) truncateSync(path, bytes);
  }

  /**
   * Closes the file and releases its lock. `sealed` writes a seal that lets the next start skip the full check; pass
   * true only if the content is known to be good.
   */
  close({ sealed }: { sealed: boolean }): void {
    this.#statements.clear();
    this.sqlite.close();
    if (sealed && !existsSync(walPath(this.path))) seal(this.path);
  }
}

/**
 * Opens or creates the database of a folder and locks it. The operating system releases the lock when the process ends,
 * however it ends. Commits are on disk before they are acknowledged (WAL, synchronous FULL). Nothing else in this
 * process may open the file: POSIX releases a process's locks on a file when the process closes any descriptor of that
 * file. Throws an Error with a readable reason when another engine uses the folder, or when the file is damaged or of
 * another version.
 * @param alwaysCheckedBytes size up to which the whole file is checked even if it was closed properly
 */
export function openDatabase(folder: string, alwaysCheckedBytes = ALWAYS_CHECKED_BYTES): Database {
  const path = join(folder, 'engine.sqlite');
  const sealed = sealState(path);
  // Asked before the file is opened, because SQLite creates the log with the first query.
  const hadLog = existsSync(walPath(path));
  const sqlite = openFile(folder, path);
  try {
    defineChecksums(sqlite);
    sqlite.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = ${PAGE_BYTES}`);
    // Only in a new file, because it writes.
    if (statSync(path).size === 0) sqlite.exec('PRAGMA auto_vacuum = INCREMENTAL');
    // The first query takes the lock, so that no other engine writes to the log meanwhile.
    sqlite.prepare('PRAGMA schema_version').get();
    const damage = findLogDamage(walPath(path));
    if (damage) throw new Refusal(damage);
    const isNew = checkFormat(sqlite);
    const verified = sealed === 'intact' && !hadLog && statSync(path).size > alwaysCheckedBytes;
    sqlite.exec('PRAGMA journal_mode = WAL');
    sqlite.exec(
      'PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864',
    );
    sqlite.exec('BEGIN IMMEDIATE; COMMIT');
    if (isNew) sqlite.exec(`BEGIN; ${SCHEMA} COMMIT`);
    else if (!verified) checkContent(sqlite);
    if (!isNew && versionOf(sqlite) === EARLIER_VERSION) sqlite.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    breakSeal(path);
  } catch (error) {
    if (isBusy(error)) sqlite.close();
    else closeUntouched(sqlite, path, hadLog);
    throw readableError(error, folder, path);
  }
  return new Database(path, sqlite);
}

/** Opens the file. It and the files that SQLite creates beside it are readable by their owner only. */
function openFile(folder: string, path: string): DatabaseSync {
  const hadContent = isSealed(path) || existsSync(walPath(path));
  if (hadContent && !existsSync(path))
    throw damagedFileError(path, 'it is gone, but its seal or write-ahead log shows that it had content');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
    accessSync(folder, constants.W_OK);
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new Error(`The folder ${folder} cannot be used for the data: ${(error as Error).message}`);
  }
  const { size } = statSync(path);
  if (size === 0 && hadContent) {
    throw damagedFileError(path, 'it is empty, but its seal or write-ahead log shows that it had content');
  }
  // After a crash during a page write the write-ahead log exists. Without it, SQLite would read the missing part as
  // zeros.
  if (size % PAGE_BYTES > 0 && !existsSync(walPath(path))) throw damagedFileError(path, 'it is truncated');
  try {
    return new DatabaseSync(path, { timeout: 0 });
  } catch (error) {
    throw new Error(`The folder ${folder} cannot be used for the data: ${(error as Error).message}`);
  }
}

/**
 * Closes a file that is refused. SQLite would copy the log into the file and delete it, which destroys what is left to
 * repair; it does neither when the file is no longer at its path.
 */
function closeUntouched(sqlite: DatabaseSync, path: string, hadLog: boolean): void {
  const aside = `${path}.refused`;
  renameSync(path, aside);
  try {
    sqlite.close();
  } finally {
    renameSync(aside, path);
  }
  if (!hadLog) rmSync(walPath(path), { force: true });
}

/** SQLite's write-ahead log. It exists while the file is open, and after a crash. */
function walPath(path: string): string {
  return `${path}-wal`;
}

function versionOf(sqlite: DatabaseSync): unknown {
  return sqlite.prepare('PRAGMA user_version').get()?.user_version;
}

/** True if the file is new. Refuses files of other programs or versions before anything is written to them. */
function checkFormat(sqlite: DatabaseSync): boolean {
  const value = (sql: string): unknown => Object.values(sqlite.prepare(sql).get() ?? {})[0];
  const version = versionOf(sqlite);
  const id = value('PRAGMA application_id');
  if (id === 0 && version === 0 && value('SELECT count(*) FROM sqlite_master') === 0) return true;
  if (id !== APPLICATION_ID && id !== 0) throw new Refusal('it belongs to another program');
  if ((version !== SCHEMA_VERSION && version !== EARLIER_VERSION) || id === 0)
    throw new Refusal(`it has schema version ${version}, this engine supports ${SCHEMA_VERSION}`);
  return false;
}

/** Checks the structure of the file and the checksum of every row. */
function checkContent(sqlite: DatabaseSync): void {
  const report = sqlite.prepare('PRAGMA quick_check(1)').get() as Record<string, unknown>;
  const verdict = Object.values(report)[0];
  if (verdict !== 'ok') throw new Refusal(`SQLite's integrity check reports: ${verdict}`);
  const damage = damagedRows(sqlite);
  if (damage) throw new Refusal(damage);
}

class Refusal extends Error {}

/** Whether another engine holds the lock. */
function isBusy(error: unknown): boolean {
  const { errcode = 0 } = error as { errcode?: number };
  return (errcode & 0xff) === BUSY;
}

function readableError(error: unknown, folder: string, path: string): Error {
  if (isBusy(error))
    return new Error(
      `Another engine uses the folder ${folder}${lockHolder(folder)}. Only one engine at a time can use a folder.`,
    );
  if (isOutOfSpace(error))
    return new Error(`The folder ${folder} is on a full disk: ${(error as Error).message}.`, { cause: error });
  if (error instanceof Refusal) return damagedFileError(path, error.message);
  return damagedFileError(path, (error as Error).message);
}

export function damagedFileError(path: string, reason: string): Error {
  return new Error(
    `The data file ${path} is damaged or of another version: ${reason}. It was not modified. Restore it from a backup or move it away.`,
  );
}

function lockHolder(folder: string): string {
  const instance = readInstanceFile(folder);
  return instance ? ` (process ${instance.pid}, ${instance.uri})` : '';
}
