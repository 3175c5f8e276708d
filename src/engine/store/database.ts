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
import { DamageFound, damagedFileError, isBusy, LaterVersion, Refusal, readableError } from './data-file-errors.ts';
import { isOutOfSpace } from './disk.ts';
import { findLogDamage } from './log-damage.ts';
import { logBytes } from './log-format.ts';
import { PAGE_BYTES, PageSums } from './page-sums.ts';
import { sumsPath } from './sums-file.ts';

/** Marks a data file as ours. A file with another id is refused. */
const APPLICATION_ID = 0x466d6462;
/** The version of the tables. A file with another version is refused. */
const SCHEMA_VERSION = 1;
/**
 * The log is copied to the file (checkpoint) when it has this many pages, 4 MiB. The copy syncs the file, and all
 * commands wait meanwhile.
 */
const CHECKPOINT_PAGES = 1000;
export const CHECKPOINT_BYTES = logBytes(CHECKPOINT_PAGES, PAGE_BYTES);
/** New pages of the log are verified in groups of this size, so that a checkpoint need not verify all of them. */
const VERIFIED_PAGES = 128;
/**
 * Milliseconds for which a start compares pages with their sums: a GiB or more. The rest is compared while the engine
 * runs.
 */
const EXAMINED_MS = 1500;

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

/**
 * Restores, for a command on a snapshot, the rows that others have changed since, in a savepoint that is rolled back.
 * Only rows that the command reads are restored, so the cost does not depend on how much others wrote.
 */
export interface PastRows {
  /** Restores all rows that had a key in the range. @param index id of the index */
  range(index: number, low: Uint8Array, high: Uint8Array): void;
  /** Restores the changed rows among these. @returns whether there were any; then the rows must be read again */
  rows(rids: Iterable<number>): boolean;
  /** Restores every row of a collection. */
  all(collection: { readonly id: number }): void;
}

/** The SQLite file of a data folder, with a cache of prepared statements. */
export class Database {
  readonly path: string;
  readonly sqlite: DatabaseSync;
  readonly sums: PageSums;
  /** Set while a command on a snapshot runs. Code that reads rows must pass it the ranges and rows that it reads. */
  past: PastRows | undefined;
  /** Whether commits leave the log as it is, because backups read it. */
  holdsLog = false;
  readonly #statements = new Map<string, StatementSync>();
  readonly #logState: StatementSync;
  readonly #checkpoint: StatementSync;

  constructor(path: string, sqlite: DatabaseSync, sums: PageSums) {
    this.path = path;
    this.sqlite = sqlite;
    this.sums = sums;
    this.#logState = sqlite.prepare(LOG_STATE);
    this.#checkpoint = sqlite.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  }

  /**
   * Verifies the new pages of the log, and copies a long log to the file, as SQLite would do within the commit. Call it
   * after each commit. @throws Error when the file was damaged
   */
  committed(): void {
    this.#explained(() => {
      const { log } = this.#frames();
      if (log >= CHECKPOINT_PAGES && !this.holdsLog) this.#copyLog();
      else if (this.sums.mayHaveBegunAgain || log - this.sums.framesRead >= VERIFIED_PAGES) this.sums.follow(log);
    });
  }

  /** Copies the log to the file, and updates the sums of its pages. @throws Error when the file was damaged */
  checkpoint(): void {
    this.#explained(() => this.#copyLog());
  }

  /**
   * Moves the log into the file: copies and empties it, so that the next commit begins a new log. Not inside a
   * transaction. @throws Error when the file was damaged, or the disk is full
   */
  moveLog(): void {
    this.checkpoint();
    const { log, checkpointed } = this.#frames();
    if (log !== checkpointed) throw new Error('the write-ahead log could not be copied to the file');
    // If SQLite empties an empty log, it raises the log's salts twice, and a start would refuse the next log.
    if (log <= 0) return;
    const { busy } = this.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {};
    if (busy !== 0) throw new Error('the write-ahead log is in use');
  }

  /** Bytes of the write-ahead log up to its last commit. Not inside a transaction. */
  logEnd(): number {
    return logBytes(Math.max(0, this.#frames().log), PAGE_BYTES);
  }

  get logPath(): string {
    return walPath(this.path);
  }

  /** Compares the next pages of the file with their sums. @throws Error when the file was damaged */
  comparePages(): void {
    this.#explained(() => this.sums.compareNext());
  }

  #explained(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof DamageFound)) throw error;
      throw new Error(
        `The data file ${this.path} is damaged: ${error.message}. The engine ends, so that nothing wrong is answered. The next start checks the file.`,
        { cause: error },
      );
    }
  }

  #copyLog(): void {
    this.sums.follow(this.#frames().log);
    this.sums.beforeCheckpoint();
    try {
      const { log, checkpointed } = this.#checkpoint.get() as unknown as LogState;
      if (log === checkpointed) this.sums.checkpointed();
    } catch (error) {
      // The commits stay in the log, and the next commit tries to copy it again.
      if (!isOutOfSpace(error)) throw error;
    }
  }

  #frames(): LogState {
    return this.#logState.get() as unknown as LogState;
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
   * Truncates the write-ahead log behind its last commit. A COMMIT that failed may leave whole frames there. If later
   * commits overwrite only some of them, the rest looks like damage after a crash (`findLogDamage`).
   * @throws when the log cannot be cut
   */
  cutLog(): void {
    const frames = this.#frames().log;
    const path = walPath(this.path);
    if (frames < 0 || !existsSync(path)) return;
    const bytes = logBytes(frames, PAGE_BYTES);
    if (statSync(path).size > bytes) truncateSync(path, bytes);
  }

  /** Closes the file and releases its lock. Damage found meanwhile is not thrown: the next start reports it. */
  close(): void {
    this.#statements.clear();
    let isComplete = false;
    try {
      this.#copyLog();
      const { log, checkpointed } = this.#frames();
      isComplete = log === checkpointed;
    } catch (error) {
      if (!(error instanceof DamageFound)) throw error;
    } finally {
      this.sqlite.close();
      this.sums.close({ isComplete: isComplete && !existsSync(walPath(this.path)) });
    }
  }
}

/** How a folder is opened. */
export interface OpenOptions {
  /** Whether to check every row, even if the checksums of pages show that nothing changed. */
  readonly checkAll?: boolean;
  /** Milliseconds for which pages are compared with their sums before the file is used. Default 1,500. */
  readonly examinedMs?: number;
}

/**
 * Opens or creates the database of a folder and locks it. The operating system releases the lock when the process ends,
 * however it ends. Commits are on disk before they are acknowledged (WAL, synchronous FULL). Nothing else in this
 * process may open the file: POSIX releases a process's locks on a file when the process closes any descriptor of that
 * file. Throws an Error with a readable reason when another engine uses the folder, or when the file is damaged or of
 * another version.
 */
export function openDatabase(
  folder: string,
  { checkAll = false, examinedMs = EXAMINED_MS }: OpenOptions = {},
): Database {
  const path = join(folder, 'engine.sqlite');
  // Checked before the file is opened, because SQLite creates the log with the first query.
  const hadLog = existsSync(walPath(path));
  const sqlite = openFile(folder, path);
  let sums: PageSums | undefined;
  try {
    defineChecksums(sqlite);
    sqlite.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = ${PAGE_BYTES}`);
    // Only for a new file, because this writes to it.
    if (statSync(path).size === 0) sqlite.exec('PRAGMA auto_vacuum = INCREMENTAL');
    // The first query takes the lock, so that no other engine can write to the log meanwhile.
    sqlite.prepare('PRAGMA schema_version').get();
    const damage = findLogDamage(walPath(path));
    if (damage) throw new Refusal(damage);
    const isNew = checkFormat(sqlite);
    const frames = (): number => (sqlite.prepare(LOG_STATE).get() as unknown as LogState).log;
    sums = new PageSums(path);
    const isKnown = isNew || (sums.examine(frames(), checkAll ? Number.POSITIVE_INFINITY : examinedMs) && !checkAll);
    sqlite.exec('PRAGMA journal_mode = WAL');
    sqlite.exec(
      'PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 67108864',
    );
    sqlite.exec('BEGIN IMMEDIATE; COMMIT');
    if (isNew) sqlite.exec(`BEGIN; ${SCHEMA} COMMIT`);
    else if (!isKnown) checkContent(sqlite);
    if (isNew || !isKnown) sums.learn(frames());
    if (!isNew) beginLog(sqlite, sums);
    sums.follow(frames());
  } catch (error) {
    if (isBusy(error)) sqlite.close();
    else closeUntouched(sqlite, path, hadLog);
    sums?.close({ isComplete: false });
    throw readableError(error, folder, path);
  }
  return new Database(path, sqlite, sums);
}

/**
 * Writes the first page, so that a log exists. Its salts are stored in the file with the sums. After a crash they show
 * whether the log that is found belongs to the data file.
 */
function beginLog(sqlite: DatabaseSync, sums: PageSums): void {
  try {
    sqlite.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  } catch (error) {
    if (!isOutOfSpace(error)) throw error;
    // The disk is full: the sums are dropped, and the engine can still serve reads.
    sums.discard();
  }
}

/** Opens the file. It and the files that SQLite creates beside it are readable by their owner only. */
function openFile(folder: string, path: string): DatabaseSync {
  const hadContent = [walPath, sumsPath].some((beside) => existsSync(beside(path)));
  if (hadContent && !existsSync(path))
    throw damagedFileError(path, 'it is gone, but the files beside it show that it had content');
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
    throw damagedFileError(path, 'it is empty, but the files beside it show that it had content');
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
 * Closes a file that the engine refuses, and keeps its log. SQLite would copy the log into the file and delete it,
 * which destroys what could be used for a repair. It does neither when the file is no longer at its path.
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

export function versionOf(sqlite: DatabaseSync): unknown {
  return sqlite.prepare('PRAGMA user_version').get()?.user_version;
}

/** Returns true if the file is new. Refuses files of other programs or versions before anything is written to them. */
export function checkFormat(sqlite: DatabaseSync): boolean {
  const value = (sql: string): unknown => Object.values(sqlite.prepare(sql).get() ?? {})[0];
  const version = versionOf(sqlite);
  const id = value('PRAGMA application_id');
  if (id === 0 && version === 0 && value('SELECT count(*) FROM sqlite_master') === 0) return true;
  if (id !== APPLICATION_ID && id !== 0) throw new Refusal('it belongs to another program');
  if (id === APPLICATION_ID && Number(version) > SCHEMA_VERSION) throw new LaterVersion();
  if (version !== SCHEMA_VERSION || id === 0)
    throw new Refusal(`it has schema version ${version}, this engine supports ${SCHEMA_VERSION}`);
  return false;
}

/** Checks the structure of the file and the checksum of every row. */
export function checkContent(sqlite: DatabaseSync): void {
  const report = sqlite.prepare('PRAGMA quick_check(1)').get() as Record<string, unknown>;
  const verdict = Object.values(report)[0];
  if (verdict !== 'ok') throw new Refusal(`SQLite's integrity check reports: ${verdict}`);
  const damage = damagedRows(sqlite);
  if (damage) throw new Refusal(damage);
}

/** Queries the state of the log without copying it (SQLite 3.51 and later). */
const LOG_STATE = 'PRAGMA wal_checkpoint(NOOP)';

/**
 * Numbers of frames in the log: `log` of all commits, `checkpointed` of those already in the file. -1 without a log.
 */
interface LogState {
  readonly log: number;
  readonly checkpointed: number;
}
