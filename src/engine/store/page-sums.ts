import { closeSync, fstatSync, openSync, readSync, utimesSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { DamageFound, LogGone } from './data-file-errors.ts';
import { isOutOfSpace } from './disk.ts';
import {
  equalSums,
  FRAME_HEADER_BYTES,
  frameSum,
  HEADER_BYTES,
  type LogHeader,
  logBytes,
  readLogHeader,
  type Sum,
  storedSum,
} from './log-format.ts';
import { SumsFile, type SumsState, sumsPath } from './sums-file.ts';

export const PAGE_BYTES = 4096;
const FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES;
/** Number of pages, or of log frames, read together. */
const AT_ONCE = 256;
/** A stop sets the data file's modification time this many seconds into the past: any later write changes it. */
const MARKED_AGO_S = 3;
/** The number, less one, of the page that SQLite never uses, because it contains the bytes for locks. */
const LOCK_PAGE = 0x40000000 / PAGE_BYTES;

/**
 * The CRC-32 of every page of a data file, in memory (1 MiB for each GiB of data) and in a file beside it.
 *
 * SQLite writes a page to the data file only in a checkpoint, from its write-ahead log. Each frame of the log is read
 * back and verified by its own checksum. The version of the page that a frame replaces is verified by its sum here: had
 * that version been damaged, SQLite might have copied the damage into what it wrote. The sums of a checkpoint are on
 * disk before the log can begin again. So after a crash, every page whose sum may be older than the page is still in
 * the log.
 */
export class PageSums {
  readonly #dataPath: string;
  readonly #logPath: string;
  readonly #file: SumsFile;
  /** Closed only after SQLite's descriptor: closing any descriptor of the file would release the process's lock. */
  readonly #dataFile: number;
  #logFile: number | null = null;
  readonly #replaced = Buffer.allocUnsafeSlow(PAGE_BYTES);
  /** The buffer for compared pages. It is reused, because allocating memory would cost more than the comparison. */
  readonly #pages = Buffer.allocUnsafeSlow(AT_ONCE * PAGE_BYTES);
  #logHeader: LogHeader | null = null;
  /** The checksum of the last log frame that was read. */
  #logSum: Sum = [0, 0];
  /** The sums of the pages in the frames read so far. */
  #frameSums: number[] = [];
  /** For each page in the log, its last frame; by page number less one. */
  readonly #logged = new Map<number, number>();
  /** Whether the next commit may begin a new log, because all of this one is in the data file. */
  #mayBeginAgain = false;
  /** Number of pages of the database as of the last commit read from the log; 0 if none was read. */
  #loggedPages = 0;
  /** The sums by page number less one. Only the first `#state.count` entries are valid. */
  #sums = new Uint32Array();
  #state: SumsState = { count: 0, log: '', isCopied: false, isAfterCrash: false, closed: null, damage: null };
  /** Whether the file with the sums must be written as a whole. */
  #isLost = true;
  /** Whether damage is recorded for the next start. False during `examine`, which finds the damage again then. */
  #isExamined = true;
  /** The page at which the comparison continues. */
  #next = 0;
  /** Whether some pages were not compared since the start. */
  #isFirstRound = true;

  /** Opens the files. Call it after SQLite has locked the data file. */
  constructor(dataPath: string) {
    this.#dataPath = dataPath;
    this.#logPath = `${dataPath}-wal`;
    this.#file = new SumsFile(sumsPath(dataPath));
    this.#dataFile = openSync(dataPath, 'r');
  }

  /**
   * Compares the data file, as found at the start, with the sums. If the file was not written to since the engine was
   * stopped, the comparison is left to `compareNext`, which also finds pages that change on disk while the engine runs.
   * @param frames number of frames of all commits in the log
   * @param ms after this time, the rest is left to `compareNext`; infinite: all pages are compared in any case
   * @returns false if the sums cannot tell whether the file is intact: there are no intact sums, or pages differ in a
   *   file without a log, which may have been replaced. The caller must then check the content and call `learn`.
   * @throws DamageFound also when differing pages were not compared since a crash: the disk may have lost writes to
   *   them, and an older page has valid content
   */
  examine(frames: number, ms: number): boolean {
    const state = this.#file.readState();
    const sums = state && this.#file.readSums(state.count);
    if (state?.damage?.isSpread)
      throw new DamageFound(`its page ${state.damage.page} had changed on disk, and was written again since`);
    if (!state || !sums || (state.damage && !state.isAfterCrash)) {
      this.#readLog(frames, false);
      return false;
    }
    this.#sums = sums;
    const isUntouched = frames <= 0 && state.closed === this.#mark();
    // A change of a closed file is the responsibility of the person or program that made it.
    const isAfterCrash = frames > 0 || (state.isAfterCrash && (state.closed === null || isUntouched));
    const isLeft = isUntouched && !isAfterCrash && Number.isFinite(ms);
    this.#state = { ...state, isAfterCrash, closed: null };
    this.#isLost = false;
    this.#isExamined = false;
    // Written now: if this start refuses the file, that changes the file's times, and `closed` would no longer match.
    if (isAfterCrash && state.closed !== null) this.#write([]);
    // If damage was recorded, the file may since have been replaced, so all pages are compared.
    const end = isLeft ? 0 : state.damage ? Number.POSITIVE_INFINITY : performance.now() + ms;
    try {
      this.#checkLogBelongs(frames, this.#state);
      this.#readLog(frames, !this.#state.isCopied);
      if (frames <= 0 && fstatSync(this.#dataFile).size !== state.count * PAGE_BYTES) return false;
      while (this.#isFirstRound && performance.now() < end) this.compareNext();
      return true;
    } catch (error) {
      if (!(error instanceof DamageFound) || error instanceof LogGone || isAfterCrash) throw error;
      return false;
    } finally {
      this.#isExamined = true;
    }
  }

  /** The salts of the log, in hex; empty if it has no commits. */
  #saltsOfLog(frames: number): string {
    return frames > 0 ? this.#openLog().salts.toString('hex') : '';
  }

  /** Checks that the log is the one in use or its successor. Any other belongs to another state of the data file. */
  #checkLogBelongs(frames: number, { log, isCopied }: SumsState): void {
    const found = this.#saltsOfLog(frames);
    if (found === log) return;
    if (found === '') {
      if (!isCopied) this.#refuseWithoutLog();
      // The log was empty when the engine ended. SQLite takes random salts for the next log; `follow` records them.
      this.#state = { ...this.#state, log: '', isCopied: false };
      this.#write([]);
      return;
    }
    const isNext =
      isCopied && Number.parseInt(found.slice(0, 8), 16) === (Number.parseInt(log.slice(0, 8), 16) + 1) % 2 ** 32;
    // A log's first commit changes only the first page (`openDatabase`).
    const isFirst = log === '' && frames === 1;
    if (!isNext && !isFirst) throw new DamageFound('its write-ahead log was not written for this file');
    this.#state = { ...this.#state, log: found, isCopied: false };
    // Written before any commit is acknowledged, because `follow` writes only if it finds a log that is new to it.
    this.#write([]);
  }

  /**
   * Refuses the data file, because its log is gone, which may have had commits.
   * @throws DamageFound if pages differ: another program, such as the SQLite shell, has then copied the log to the
   *   file, and the content must be checked. Otherwise LogGone
   */
  #refuseWithoutLog(): never {
    if (fstatSync(this.#dataFile).size !== this.#state.count * PAGE_BYTES)
      throw new DamageFound('its size changed on disk');
    while (this.#isFirstRound) this.compareNext();
    throw new LogGone(this.#file.path);
  }

  /** Accepts the data file and its log as they are, and computes all sums again. @param frames as for `examine` */
  learn(frames: number): void {
    const pages = Math.floor(fstatSync(this.#dataFile).size / PAGE_BYTES);
    this.#resize(pages);
    for (let first = 0; first < pages; first += AT_ONCE)
      this.#eachPage(first, Math.min(pages, first + AT_ONCE), (at, sum) => {
        this.#sums[at] = sum;
      });
    this.#state = {
      count: pages,
      log: this.#saltsOfLog(frames),
      isCopied: true,
      isAfterCrash: false,
      closed: null,
      damage: null,
    };
    this.#isFirstRound = false;
    this.#isLost = true;
    this.#write([]);
  }

  /**
   * Deletes the file with the sums. The next checkpoint writes it again. If the engine starts before that, it checks
   * the content.
   */
  discard(): void {
    this.#file.discard();
    this.#isLost = true;
  }

  /** Number of frames read from the log. */
  get framesRead(): number {
    return this.#frameSums.length;
  }

  /** Whether a commit may have begun a new log since the last `follow`. */
  get mayHaveBegunAgain(): boolean {
    return this.#mayBeginAgain;
  }

  /**
   * Verifies the new frames of the log and the pages that they replace. Also records on disk which log is in use,
   * because a start refuses a file whose log was removed. Call it after the first commit of a log, before that commit
   * is acknowledged. Call it also before the log can begin again, which it does with the first write after a complete
   * checkpoint.
   * @param frames number of frames of all commits in the log
   * @throws DamageFound
   */
  follow(frames: number): void {
    const { log } = this.#state;
    this.#readLog(frames, true);
    if (this.#state.log !== log && !this.#isLost) this.#write([]);
  }

  #readLog(frames: number, isChecked: boolean): void {
    if (frames <= 0) return;
    const header = this.#openLog();
    const buffer = Buffer.allocUnsafeSlow(Math.min(AT_ONCE, Math.max(0, frames - this.framesRead)) * FRAME_BYTES);
    while (this.framesRead < frames) {
      const first = this.framesRead;
      const length = Math.min(AT_ONCE, frames - first) * FRAME_BYTES;
      readSync(this.#logFile as number, buffer, 0, length, logBytes(first, PAGE_BYTES) || HEADER_BYTES);
      for (let at = 0; at < length; at += FRAME_BYTES) {
        const frame = buffer.subarray(at, at + FRAME_BYTES);
        this.#logSum = frameSum(frame, this.#logSum, header.isSwapped);
        if (!equalSums(this.#logSum, storedSum(frame, 16)))
          throw new DamageFound(`frame ${this.framesRead} of its write-ahead log changed on disk`);
        const page = frame.readUInt32BE(0) - 1;
        if (isChecked) this.#checkReplaced(page);
        this.#logged.set(page, this.framesRead);
        this.#frameSums.push(crc32(frame.subarray(FRAME_HEADER_BYTES)));
        this.#loggedPages = frame.readUInt32BE(4) || this.#loggedPages;
      }
    }
  }

  /** Reads the header of the log. If it is a new log, starts over at its first frame. */
  #openLog(): LogHeader {
    this.#logFile ??= openSync(this.#logPath, 'r');
    const bytes = Buffer.allocUnsafeSlow(HEADER_BYTES);
    readSync(this.#logFile, bytes, 0, HEADER_BYTES, 0);
    const header = readLogHeader(bytes);
    if (!header) throw new DamageFound('the header of its write-ahead log is wrong');
    this.#mayBeginAgain = false;
    if (this.#logHeader?.salts.equals(header.salts)) return this.#logHeader;
    const isNext = this.#logHeader !== null || this.#state.log === '';
    this.#logHeader = header;
    this.#logSum = header.sum;
    this.#frameSums = [];
    if (isNext) this.#state = { ...this.#state, log: header.salts.toString('hex'), isCopied: false };
    return header;
  }

  /** Verifies the page version that a frame replaces. */
  #checkReplaced(at: number): void {
    const frame = this.#logged.get(at);
    const sum = frame === undefined ? this.#sums[at] : this.#frameSums[frame];
    if (frame === undefined && at >= this.#state.count) return;
    const page = this.#replaced;
    if (frame === undefined) readSync(this.#dataFile, page, 0, PAGE_BYTES, at * PAGE_BYTES);
    else
      readSync(this.#logFile as number, page, 0, PAGE_BYTES, HEADER_BYTES + frame * FRAME_BYTES + FRAME_HEADER_BYTES);
    if (crc32(page) !== sum) this.#fail(at, true);
  }

  /**
   * Call it before pages of the log are copied to the data file.
   * @throws when the disk is full; then nothing is lost
   */
  beforeCheckpoint(): void {
    if (this.#state.isCopied) return;
    this.#state = { ...this.#state, isCopied: true };
    this.#write([]);
  }

  /**
   * Call it when all pages of the log are in the data file, before the next write to the log. @throws when the disk is
   * full
   */
  checkpointed(): void {
    const before = this.#state.count;
    const changed: number[] = [];
    if (this.#loggedPages > 0) {
      this.#resize(this.#loggedPages);
      this.#state = { ...this.#state, count: this.#loggedPages };
    }
    for (const [at, frame] of this.#logged) {
      if (at >= this.#state.count) continue;
      this.#sums[at] = this.#frameSums[frame] as number;
      changed.push(at);
    }
    // The file also grew by free pages, which SQLite never wrote to the log.
    for (let at = before; at < this.#state.count; at++) {
      if (this.#logged.has(at)) continue;
      this.#eachPage(at, at + 1, (_, sum) => {
        this.#sums[at] = sum;
      });
      changed.push(at);
    }
    this.#logged.clear();
    this.#loggedPages = 0;
    this.#mayBeginAgain = true;
    this.#write(changed);
  }

  /** Compares the next pages with their sums, which takes less than a millisecond. @throws DamageFound */
  compareNext(): void {
    const pages = this.#loggedPages || this.#state.count;
    // The file may have shrunk since the last comparison.
    const from = Math.min(this.#next, pages);
    const until = Math.min(pages, from + AT_ONCE);
    this.#eachPage(from, until, (at, sum) => {
      if (at < this.#state.count && !this.#logged.has(at) && sum !== this.#sums[at]) this.#fail(at, false);
    });
    this.#next = until;
    if (until < pages) return;
    this.#next = 0;
    this.#isFirstRound = false;
    if (!this.#state.isAfterCrash) return;
    this.#state = { ...this.#state, isAfterCrash: false, damage: null };
    // A file that must be written as a whole is left to the next checkpoint: until then it must not name a log that
    // began without it.
    if (!this.#isLost) this.#write([]);
  }

  /** Whether some pages were not compared since the start. */
  get isFirstRound(): boolean {
    return this.#isFirstRound;
  }

  /** Call it after SQLite has closed the file. @param isComplete whether all pages of the log are in the data file */
  close({ isComplete }: { isComplete: boolean }): void {
    if (isComplete && !this.#state.damage) {
      this.#state = { ...this.#state, log: '', isCopied: false, closed: this.#setMark() };
      this.#write([]);
    }
    this.#file.close();
    for (const file of [this.#dataFile, this.#logFile]) if (file !== null) closeSync(file);
  }

  /**
   * Sets the data file's modification time to one that no later write can give it, even within the resolution of the
   * clock.
   * @returns the file's attributes then; null if the time could not be set
   */
  #setMark(): string | null {
    try {
      const at = Date.now() / 1000 - MARKED_AGO_S;
      utimesSync(this.#dataPath, at, at);
      return this.#mark();
    } catch {
      return null;
    }
  }

  /** The file's attributes that change with each write to it and when it is replaced. */
  #mark(): string {
    const { ino, size, mtimeNs, ctimeNs } = fstatSync(this.#dataFile, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join(' ');
  }

  #fail(at: number, isSpread: boolean): never {
    if (this.#isExamined) {
      this.#state = { ...this.#state, damage: { page: at + 1, isSpread } };
      this.#write([]);
    }
    const advice = `; the disk may have lost a write in a crash: restore a backup, or delete ${this.#file.path} to let the content decide`;
    throw new DamageFound(`its page ${at + 1} changed on disk${this.#state.isAfterCrash && !isSpread ? advice : ''}`);
  }

  /**
   * @param until at most `AT_ONCE` pages behind `from` @param each called with the number, less one, and the sum of
   *   each page
   */
  #eachPage(from: number, until: number, each: (at: number, sum: number) => void): void {
    const buffer = this.#pages.subarray(0, (until - from) * PAGE_BYTES);
    buffer.fill(0, readSync(this.#dataFile, buffer, 0, buffer.length, from * PAGE_BYTES));
    for (let at = from; at < until; at++) {
      if (at === LOCK_PAGE) continue;
      const start = (at - from) * PAGE_BYTES;
      each(at, crc32(buffer.subarray(start, start + PAGE_BYTES)));
    }
  }

  #resize(count: number): void {
    if (count <= this.#sums.length) return;
    const larger = new Uint32Array(Math.max(count, Math.ceil(this.#sums.length * 1.5)));
    larger.set(this.#sums);
    this.#sums = larger;
  }

  #write(changed: readonly number[]): void {
    try {
      this.#file.write(this.#state, this.#sums, this.#isLost ? 'all' : changed);
      this.#isLost = false;
    } catch (error) {
      // The sums in the file may be out of date, and would report intact pages as damaged.
      this.discard();
      if (!isOutOfSpace(error)) throw error;
    }
  }
}
