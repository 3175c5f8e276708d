import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CommandError } from '../errors.ts';
import { CHECKPOINT_BYTES, type Database } from './database.ts';

/** When a log is moved, up to this many of its bytes that a client has not read are kept in memory for the client. */
const REST = 1024 * 1024;
/** As `REST`, for the longest logs. A reply has at most 16 MiB. */
const MOST_REST = 8 * 1024 * 1024;
/**
 * Maximum bytes of the log while a backup has not read it. Beyond it, slow backups are ended, and the log can be moved
 * again.
 */
const MOST_LOG = 256 * 1024 * 1024;
/** Milliseconds between two checks of the log's size. */
const LOOK_MS = 1000;

/** A running backup: a client copies the file while it is in use. */
interface Backup {
  /** Bytes of the current log that the client has. */
  read: number;
  /** The last bytes of the previous log, which the client may lack; null if there are none. */
  rest: LogRest | null;
}

/** The last bytes of a log that was moved into the file. */
export interface LogRest {
  readonly from: number;
  readonly bytes: Uint8Array;
}

/**
 * Backups: clients copy the data file while it is in use. A client reads the file and, meanwhile and afterwards, all
 * bytes that are written to the log, which holds whole pages. To restore, all pages of the log are written over the
 * file in their order. That gives the state of the last commit that the client has read, even if parts of the log were
 * moved into the file while the client read it. During a backup, the log is moved only when every client has read
 * nearly all of it. Each client then gets the rest from memory.
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

  /** The ids of the running backups. */
  get ids(): number[] {
    return [...this.#active.keys()];
  }

  /** Begins a backup. Call this and the other methods between commits. */
  begin(): { id: number; file: string; log: string; fileBytes: number } {
    if (this.#active.size === 0) {
      this.#database.moveLog();
      this.#database.holdsLog = true;
      this.#watch = setInterval(() => this.#endSlow(), LOOK_MS).unref();
    }
    const id = ++this.#last;
    this.#endedFor = 'it has ended';
    this.#active.set(id, { read: 0, rest: null });
    const { path: file, logPath: log } = this.#database;
    return { id, file: resolve(file), log: resolve(log), fileBytes: statSync(file).size };
  }

  /**
   * Returns where the current log ends, behind its last commit. If the log was moved since the last call, returns the
   * rest of the moved log instead. The client must then drop the bytes behind `rest.from` that it has read, and read
   * the new log from 0.
   * @param read bytes of the current log that the client has
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

  /** Ends a backup. Does nothing if it is not running. */
  end(id: number): void {
    if (!this.#active.delete(id) || this.#active.size > 0) return;
    clearInterval(this.#watch);
    this.#database.holdsLog = false;
  }

  /** Ends all backups. @param reason reported to their clients */
  endAll(reason: string): void {
    if (this.#active.size === 0) return;
    this.#endedFor = reason;
    for (const id of this.ids) this.end(id);
  }

  /** Ends all backups and moves the log, to free disk space after a failed commit. */
  endForSpace(): void {
    if (this.#active.size === 0) return;
    this.endAll('a write failed meanwhile: the disk may be full');
    try {
      this.#database.moveLog();
    } catch {
      // The next commit tries to copy the log again.
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

  /** Ends all backups after the log failed to move: where it begins is unknown, so none can continue. */
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
 * Whether a client has read so much of the log that the rest can be kept in memory. For a longer log more is kept,
 * because a single commit may be larger than the minimum.
 */
function isNear({ read, rest }: Backup, end: number): boolean {
  const kept = Math.max(REST, Math.min(MOST_REST, (end - CHECKPOINT_BYTES) / 2));
  return rest === null && end - read <= kept;
}
