import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CommandError } from '../errors.ts';
import { CHECKPOINT_BYTES, type Database } from './database.ts';

/** Bytes that are kept for a client that has not read the end of a log before it is moved, and when the log is long: an answer
 * has at most 16 MiB. */
const REST = 1024 * 1024;
const MOST_REST = 8 * 1024 * 1024;
/** The log may grow to this size while a backup has not read it. Beyond, the backup ends, not the service. */
const MOST_LOG = 256 * 1024 * 1024;
const LOOK_MS = 1000;

/** A client that copies the file while it is in use. */
interface Backup {
  /** Bytes of the present log that the client has. */
  read: number;
  /** The end of the log before it was moved, which the client may not have. */
  rest: LogRest | null;
}

/** The end of a log that was moved into the file. */
export interface LogRest {
  readonly from: number;
  readonly bytes: Uint8Array;
}

/**
 * Copies of the data file that clients make while it is in use. A client reads the file, and meanwhile and afterwards
 * everything that is written to the log, which holds whole pages. The file, with all pages of the log written over it in
 * their order, is the state of the last commit that the client has read, whatever was moved from the log into the file
 * while it was read. While there is a backup, the log is moved only when each has nearly its end, and gets the rest.
 */
export class Backups {
  readonly #database: Database;
  readonly #mostLog: number;
  readonly #active = new Map<number, Backup>();
  #last = 0;
  #watch: NodeJS.Timeout | undefined;
  #endedFor = '';

  /** @param mostLog see {@link MOST_LOG} */
  constructor(database: Database, mostLog = MOST_LOG) {
    this.#database = database;
    this.#mostLog = mostLog;
  }

  /** The backups under way. */
  get ids(): number[] {
    return [...this.#active.keys()];
  }

  /** Begins a backup. Call it between commits, as every method. */
  begin(): { id: number; file: string; log: string; fileBytes: number; fileVersion: number } {
    if (this.#active.size === 0) {
      this.#database.moveLog();
      this.#database.holdsLog = true;
      this.#watch = setInterval(() => this.#endSlow(), LOOK_MS).unref();
    }
    const id = ++this.#last;
    this.#endedFor = 'it has ended';
    this.#active.set(id, { read: 0, rest: null });
    const { path: file, logPath: log, fileVersion } = this.#database;
    return { id, file: resolve(file), log: resolve(log), fileBytes: statSync(file).size, fileVersion };
  }

  /**
   * The end of the present log, behind its last commit; or the rest of the log that was moved since the last call.
   * Bytes that the client has read behind `rest.from` are then void, and the present log begins at 0.
   * @param read bytes of the present log that the client has
   */
  log(id: number, read: number): { end: number; rest: LogRest | null } {
    const backup = this.#find(id);
    const end = this.#database.logEnd();
    if (!backup.rest) {
      if (end < backup.read) throw this.#broken(new Error('it is shorter than before'));
      if (read < backup.read || read > end)
        throw new CommandError('BadValue', `'read' must be from ${backup.read} to ${end}, not ${read}`);
      backup.read = read;
      if (end >= CHECKPOINT_BYTES && [...this.#active.values()].every((each) => isNear(each, end))) this.#moveLog(end);
    }
    const { rest } = backup;
    backup.rest = null;
    return { end: rest ? 0 : end, rest };
  }

  /** Ends a backup. Without one that is under way it does nothing. */
  end(id: number): void {
    if (!this.#active.delete(id) || this.#active.size > 0) return;
    clearInterval(this.#watch);
    this.#database.holdsLog = false;
  }

  /** Ends all backups. @param reason what their clients are told */
  endAll(reason: string): void {
    if (this.#active.size === 0) return;
    this.#endedFor = reason;
    for (const id of this.ids) this.end(id);
  }

  /** Ends all backups and gives the log's space back, after a commit that failed. */
  endForSpace(): void {
    if (this.#active.size === 0) return;
    this.endAll('a write failed meanwhile: the disk may be full');
    try {
      this.#database.moveLog();
    } catch {
      // The next commit tries again.
    }
  }

  #moveLog(end: number): void {
    const backups = [...this.#active.values()];
    const rests = backups.map(({ read }) => ({ from: read, bytes: this.#read(read, end) }));
    try {
      this.#database.moveLog();
    } catch (error) {
      throw this.#broken(error as Error);
    }
    backups.forEach((backup, index) => {
      Object.assign(backup, { read: 0, rest: rests[index] });
    });
  }

  /** Nobody knows where the log begins: no backup can continue. */
  #broken(error: Error): Error {
    this.endAll(`the log could not be moved: ${error.message}`);
    return error;
  }

  #read(from: number, to: number): Uint8Array {
    const bytes = Buffer.alloc(to - from);
    const file = openSync(this.#database.logPath, 'r');
    try {
      readSync(file, bytes, 0, bytes.length, from);
      return bytes;
    } finally {
      closeSync(file);
    }
  }

  #endSlow(): void {
    const size = statSync(this.#database.logPath, { throwIfNoEntry: false })?.size ?? 0;
    if (size <= this.#mostLog) return;
    const slow = [...this.#active].filter(([, backup]) => !isNear(backup, size));
    this.#endedFor = 'it was slower than the writes meanwhile';
    for (const [id] of slow.length > 0 ? slow : [...this.#active]) this.end(id);
  }

  #find(id: number): Backup {
    const backup = this.#active.get(id);
    if (backup) return backup;
    throw new CommandError('OperationFailed', `there is no backup ${id}: ${this.#endedFor}`);
  }
}

/**
 * Whether a client has so much of the log that the rest can be kept for it. The longer the log, the more is kept: single
 * commits may be larger than what is kept at first.
 */
function isNear({ read, rest }: Backup, end: number): boolean {
  const kept = Math.max(REST, Math.min(MOST_REST, (end - CHECKPOINT_BYTES) / 2));
  return rest === null && end - read <= kept;
}
