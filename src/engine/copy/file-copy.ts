import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { applyLog } from './apply-log.ts';

/**
 * The copy is synced to the disk each time this many bytes were written, so that a large copy is not synced all at
 * once.
 */
const SYNC_BYTES = 32 * 1024 * 1024;

/**
 * A copy of an engine's data file in a folder, made while the engine runs. The folder looks as after a power cut: it
 * has `engine.sqlite` and its write-ahead log, which an engine applies when it opens the folder.
 */
export class FileCopy {
  readonly path: string;
  readonly #folder: string;
  readonly #file: FileHandle;
  #log: FileHandle | null = null;
  #unsynced = 0;
  /** Paths of finished logs that are not in the file yet: `engine.sqlite-log-1` and on. */
  #ended: string[] = [];
  #count = 0;
  /** Bytes of the current log. */
  logBytes = 0;
  /** Whether finished logs are kept beside the file, because the file is being read. */
  isHeld = false;

  private constructor(folder: string, file: FileHandle) {
    this.#folder = folder;
    this.path = join(folder, 'engine.sqlite');
    this.#file = file;
  }

  /** Begins a copy in a folder, which is created if missing. @throws when the folder already has a copy */
  static async create(folder: string): Promise<FileCopy> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new FileCopy(folder, await open(join(folder, 'engine.sqlite'), 'wx+', 0o600));
  }

  /** Writes bytes of the data file at an offset. */
  async writeFile(bytes: Uint8Array, offset: number): Promise<void> {
    await this.#file.write(bytes, 0, bytes.length, offset);
    this.#unsynced += bytes.length;
    if (this.#unsynced < SYNC_BYTES) return;
    this.#unsynced = 0;
    await this.#file.datasync();
  }

  /** Writes bytes of the current log at an offset, and drops all that was written behind them earlier. */
  async writeLog(bytes: Uint8Array, offset: number): Promise<void> {
    if (!this.#log) {
      this.#log = await open(`${this.path}-wal`, 'wx+', 0o600);
      // Without this, a power cut may bring back the previous log, whose pages are older than those of the file.
      await syncFolder(this.#folder);
    }
    await this.#log.write(bytes, 0, bytes.length, offset);
    this.logBytes = offset + bytes.length;
  }

  /** Waits until the log is on the disk. */
  async syncLog(): Promise<void> {
    await this.#log?.datasync();
  }

  /**
   * Ends the log. Its pages are written into the file, now or, while the file is held, on release.
   * @param needLog called with the number of bytes of the log without which the file is unusable from then on: all of
   *   them before the first page is written, 0 when all pages are on disk and before the log is deleted
   */
  async endLog(needLog: (logBytes: number) => Promise<void> = async () => undefined): Promise<void> {
    if (!this.#log) return;
    const bytes = this.logBytes;
    await this.#log.truncate(bytes);
    await this.#log.datasync();
    await this.#log.close();
    this.#log = null;
    this.logBytes = 0;
    if (this.isHeld) {
      const ended = `${this.path}-log-${++this.#count}`;
      await rename(`${this.path}-wal`, ended);
      this.#ended.push(ended);
      return;
    }
    await needLog(bytes);
    await this.#apply(`${this.path}-wal`);
    await needLog(0);
    await rm(`${this.path}-wal`);
  }

  /** Writes the pages of the current log into the file, and keeps the log. */
  async applySoFar(): Promise<void> {
    if (this.#log) await this.#apply(`${this.path}-wal`);
  }

  /** Ends the hold of the file, and writes the logs that have ended meanwhile into it. */
  async release(): Promise<void> {
    this.isHeld = false;
    for (const ended of this.#ended.splice(0)) {
      await this.#apply(ended);
      await rm(ended);
    }
  }

  /** Waits until the file and the log are on disk under their names. */
  async sync(): Promise<void> {
    await this.syncLog();
    await this.#file.sync();
    await syncFolder(this.#folder);
  }

  /** Syncs the copy to the disk and closes it. */
  async close(): Promise<void> {
    try {
      await this.sync();
    } finally {
      await this.#log?.close();
      await this.#file.close();
    }
  }

  async #apply(log: string): Promise<void> {
    applyLog(this.#file.fd, log);
    await this.#file.sync();
  }
}

/** Waits until the names in a folder are on disk. */
async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open folders; NTFS makes renames durable without this.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
