import { closeSync, existsSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { endianness } from 'node:os';
import { crc32 } from 'node:zlib';

export const PAGE_BYTES = 4096;
/** https://www.sqlite.org/fileformat2.html#walformat */
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES;
/** Pages, or frames, that are read at once. */
const AT_ONCE = 256;

const MAGIC = Buffer.from(`sums 1${endianness()}`);
/** Sums that are written together: one block of most file systems. */
const BLOCK_SUMS = 1024;

/**
 * The CRC-32 of every page of a data file, in a file beside it, which tells in a second for each GiB whether the file
 * is as SQLite left it. Nothing is lost with that file: without it, or if a page differs, the rows are checked.
 *
 * SQLite writes a page to the data file only in a checkpoint, from its write-ahead log. The sums of a checkpoint are on
 * disk before the log is overwritten. After a crash the log therefore has every page whose sum may be older than the
 * page, and those of the log are not compared: its frames have checksums of their own.
 */
export class PageSums {
  readonly #logPath: string;
  readonly #sumsPath: string;
  /** Null if it does not exist yet. */
  #sumsFile: number | null;
  /** Never closed before SQLite's: with any descriptor of the file the process would lose its lock. */
  readonly #dataFile: number;
  #logFile: number | null = null;
  #salts = Buffer.alloc(8);
  /** Frames of the log that have been read. */
  #read = 0;
  /** The sums of the pages that are in the log, and the number of pages of the database after its last commit. */
  readonly #logged = new Map<number, number>();
  #loggedPages = 0;
  /** By page number less one. Only the first `#count` are sums. */
  #sums = new Uint32Array();
  #count = 0;
  readonly #changedBlocks = new Set<number>();

  /** Opens the files. Call it when SQLite has locked the data file. */
  constructor(dataPath: string) {
    this.#logPath = `${dataPath}-wal`;
    this.#dataFile = openSync(dataPath, 'r');
    this.#sumsPath = `${dataPath}.sums`;
    this.#sumsFile = existsSync(this.#sumsPath) ? openSync(this.#sumsPath, 'r+') : null;
    if (this.#sumsFile !== null) this.#load(this.#sumsFile);
  }

  #load(file: number): void {
    const { size } = fstatSync(file);
    const magic = Buffer.alloc(MAGIC.length);
    readSync(file, magic, 0, magic.length, 0);
    if (!magic.equals(MAGIC)) return;
    this.#resize(Math.floor((size - MAGIC.length) / 4));
    readSync(file, this.#bytes(0, this.#count), 0, this.#count * 4, MAGIC.length);
    this.#changedBlocks.clear();
  }

  /**
   * Reads committed frames of the log that were not read yet. Call it before the log can have begun again, which it does
   * with the first write after a complete checkpoint.
   * @param frames number of frames of all commits in the log, as `PRAGMA wal_checkpoint(NOOP)` tells
   */
  readLog(frames: number): void {
    if (frames <= 0) return;
    this.#logFile ??= openSync(this.#logPath, 'r');
    const header = Buffer.alloc(LOG_HEADER_BYTES);
    readSync(this.#logFile, header, 0, header.length, 0);
    if (!header.subarray(16, 24).equals(this.#salts)) {
      this.#salts = header.subarray(16, 24);
      this.#read = 0;
    }
    const buffer = Buffer.allocUnsafe(AT_ONCE * FRAME_BYTES);
    while (this.#read < frames) {
      const length = Math.min(AT_ONCE, frames - this.#read) * FRAME_BYTES;
      const got = readSync(this.#logFile, buffer, 0, length, LOG_HEADER_BYTES + this.#read * FRAME_BYTES);
      if (got < length) throw new Error(`${this.#logPath} is shorter than its commits`);
      for (let at = 0; at < length; at += FRAME_BYTES) {
        this.#logged.set(buffer.readUInt32BE(at), crc32(buffer.subarray(at + FRAME_HEADER_BYTES, at + FRAME_BYTES)));
        this.#loggedPages = buffer.readUInt32BE(at + 4) || this.#loggedPages;
      }
      this.#read += length / FRAME_BYTES;
    }
  }

  /** Number of frames of the log that were read. */
  get framesRead(): number {
    return this.#read;
  }

  /** Whether every page of the data file that is not in the log has its sum. */
  match(): boolean {
    const pages = this.#loggedPages || Math.ceil(fstatSync(this.#dataFile).size / PAGE_BYTES);
    let right = 0;
    for (const page of this.#logged.keys()) if (page <= pages) right++;
    this.#eachPage(pages, (page, sum) => {
      if (!this.#logged.has(page) && page <= this.#count && this.#sums[page - 1] === sum) right++;
    });
    return right === pages;
  }

  /** Takes the data file as it is for right, and keeps its sums. */
  learn(): void {
    const pages = Math.ceil(fstatSync(this.#dataFile).size / PAGE_BYTES);
    this.#resize(pages);
    this.#eachPage(pages, (page, sum) => this.#set(page, sum));
    this.#write();
  }

  /**
   * Writes the sums of the pages in the log, which a complete checkpoint has just copied to the data file. Call it before
   * the next write to the log. @throws when the disk is full; the next call writes them then
   */
  checkpointed(): void {
    if (this.#loggedPages > 0) this.#resize(this.#loggedPages);
    for (const [page, sum] of this.#logged) if (page <= this.#count) this.#set(page, sum);
    this.#logged.clear();
    this.#loggedPages = 0;
    this.#write();
  }

  /** Call it after SQLite has closed the file. */
  close(): void {
    for (const file of [this.#dataFile, this.#sumsFile, this.#logFile]) if (file !== null) closeSync(file);
  }

  #eachPage(pages: number, each: (page: number, sum: number) => void): void {
    const buffer = Buffer.allocUnsafe(AT_ONCE * PAGE_BYTES);
    for (let first = 0; first < pages; first += AT_ONCE) {
      const got = readSync(this.#dataFile, buffer, 0, buffer.length, first * PAGE_BYTES);
      const last = Math.min(pages, first + Math.floor(got / PAGE_BYTES));
      for (let page = first; page < last; page++) {
        const at = (page - first) * PAGE_BYTES;
        each(page + 1, crc32(buffer.subarray(at, at + PAGE_BYTES)));
      }
      if (got < buffer.length) return;
    }
  }

  #set(page: number, sum: number): void {
    this.#sums[page - 1] = sum;
    this.#changedBlocks.add(Math.floor((page - 1) / BLOCK_SUMS));
  }

  #resize(count: number): void {
    if (count > this.#sums.length) {
      const larger = new Uint32Array(Math.max(count, this.#sums.length * 2));
      larger.set(this.#sums);
      this.#sums = larger;
    }
    this.#count = count;
  }

  #write(): void {
    this.#sumsFile ??= openSync(this.#sumsPath, 'w+', 0o600);
    const file = this.#sumsFile;
    ftruncateSync(file, MAGIC.length + this.#count * 4);
    writeSync(file, MAGIC, 0, MAGIC.length, 0);
    for (const block of this.#changedBlocks) {
      const from = block * BLOCK_SUMS;
      const bytes = this.#bytes(from, Math.min(from + BLOCK_SUMS, this.#count));
      if (bytes.length > 0) writeSync(file, bytes, 0, bytes.length, MAGIC.length + from * 4);
    }
    fsyncSync(file);
    this.#changedBlocks.clear();
  }

  /** The sums from one place to another, as the bytes of the file. */
  #bytes(from: number, until: number): Buffer {
    return Buffer.from(this.#sums.buffer, from * 4, Math.max(0, until - from) * 4);
  }
}
