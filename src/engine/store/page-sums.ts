import { closeSync, fstatSync, openSync, readSync, utimesSync } from 'node:fs';
import { crc32 } from 'node:zlib';
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
import { SumsFile, type SumsState } from './sums-file.ts';

export const PAGE_BYTES = 4096;
const FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES;
/** Pages, or frames, that are read at once. */
const AT_ONCE = 256;
/** The time of the last write that a data file has after a stop is so long ago, in seconds: any write is later. */
const MARKED_AGO_S = 3;
/** The number, less one, of the page that SQLite never uses, because its lock bytes lie in it. */
const LOCK_PAGE = 0x40000000 / PAGE_BYTES;

/** Part of a data file is not as SQLite wrote it. The message goes on from "is damaged: ". */
export class DamageFound extends Error {}

/** The log of a crash was removed or emptied, and nobody had copied it to the data file. */
class LogGone extends DamageFound {
  constructor(sumsPath: string) {
    super(
      `its write-ahead log (-wal) is gone or empty, and may have had commits that the data file has not; put the log back, or delete ${sumsPath} to go on without them`,
    );
  }
}

/**
 * The CRC-32 of every page of a data file, in memory (1 MiB for each GiB of data) and in a file beside it.
 *
 * SQLite writes a page to the data file only in a checkpoint, from its write-ahead log. Each frame of the log is read
 * back and verified by its own checksum, and the version of the page that it replaces by its sum here: if that one was
 * damaged, SQLite may have read it and written the damage on. The sums of a checkpoint are on disk before the log can
 * begin again, so that after a crash every page whose sum may be older than the page is still in the log.
 */
export class PageSums {
  readonly #dataPath: string;
  readonly #logPath: string;
  readonly #file: SumsFile;
  /** Never closed before SQLite's: with any descriptor of the file the process would lose its lock. */
  readonly #dataFile: number;
  #logFile: number | null = null;
  readonly #replaced = Buffer.allocUnsafeSlow(PAGE_BYTES);
  /** The pages that are compared. Kept, because new memory for them costs more than the comparison. */
  readonly #pages = Buffer.allocUnsafeSlow(AT_ONCE * PAGE_BYTES);
  #logHeader: LogHeader | null = null;
  /** The checksum of the last frame that was read. */
  #logSum: Sum = [0, 0];
  /** The sums of the pages in the frames that were read; by page number less one, its last frame. */
  #frameSums: number[] = [];
  readonly #logged = new Map<number, number>();
  /** Whether the next commit may be the first of another log: all of this one is in the data file. */
  #mayBeginAgain = false;
  /** Number of pages of the database after the last commit that was read; 0 if none was. */
  #loggedPages = 0;
  /** By page number less one. Only the first `#state.count` are sums. */
  #sums = new Uint32Array();
  #state: SumsState = { count: 0, log: '', isCopied: false, isAfterCrash: false, closed: null, damage: null };
  /** Whether the file with the sums has to be written as a whole. */
  #isLost = true;
  /** Whether damage is recorded for the next start. False during `examine`, which would find it again there. */
  #isExamined = true;
  /** Where the comparison of all pages goes on, and whether it has not come round since the start. */
  #next = 0;
  #isFirstRound = true;

  /** Opens the files. Call it when SQLite has locked the data file. */
  constructor(dataPath: string) {
    this.#dataPath = dataPath;
    this.#logPath = `${dataPath}-wal`;
    this.#file = new SumsFile(sumsPath(dataPath));
    this.#dataFile = openSync(dataPath, 'r');
  }

  /**
   * Compares the data file, as it was found, with the sums. A file that nobody has written to since the engine was stopped
   * is left to `compareNext`, as a page is that changes by itself on the disk while the engine runs.
   * @param frames number of frames of all commits in the log
   * @param ms after this time the comparison is left to `compareNext`; infinite: all pages are compared, in any case
   * @returns false if nothing is known: without intact sums, or if pages of a file without a log differ, which somebody
   * may have put there. The content decides then, and `learn` is to be called.
   * @throws DamageFound also when pages differ that were not compared since a crash: the disk may have lost what was
   * written to them, and the content of an older page looks right
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
    // Whoever has written to a closed file since is responsible for it.
    const isAfterCrash = frames > 0 || (state.isAfterCrash && (state.closed === null || isUntouched));
    const isLeft = isUntouched && !isAfterCrash && Number.isFinite(ms);
    this.#state = { ...state, isAfterCrash, closed: null };
    this.#isLost = false;
    this.#isExamined = false;
    // A start that refuses the file changes its times.
    if (isAfterCrash && state.closed !== null) this.#write([]);
    // With a page that was found, another file may have been put back: all pages decide.
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

  /** A log that is not the one in use, nor its successor, belongs to another state of the data file. */
  #checkLogBelongs(frames: number, { log, isCopied }: SumsState): void {
    const found = this.#saltsOfLog(frames);
    if (found === log) return;
    if (found === '') {
      if (!isCopied) this.#refuseWithoutLog();
      // The log had been emptied when the engine ended. SQLite takes random salts for the next one, which `follow` notes.
      this.#state = { ...this.#state, log: '', isCopied: false };
      this.#write([]);
      return;
    }
    const isNext =
      isCopied && Number.parseInt(found.slice(0, 8), 16) === (Number.parseInt(log.slice(0, 8), 16) + 1) % 2 ** 32;
    // The log's first commit changes nothing but the first page (`openDatabase`).
    const isFirst = log === '' && frames === 1;
    if (!isNext && !isFirst) throw new DamageFound('its write-ahead log was not written for this file');
    this.#state = { ...this.#state, log: found, isCopied: false };
    // Before anything is acknowledged: `follow` writes only a log that it has found itself.
    this.#write([]);
  }

  /**
   * @throws DamageFound if the pages differ: then another program, such as the shell of SQLite, has copied the log, and
   * the content decides
   */
  #refuseWithoutLog(): never {
    if (fstatSync(this.#dataFile).size !== this.#state.count * PAGE_BYTES)
      throw new DamageFound('its size changed on disk');
    while (this.#isFirstRound) this.compareNext();
    throw new LogGone(this.#file.path);
  }

  /** Accepts the data file and its log as they are, and computes all sums from them. @param frames as for `examine` */
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

  /** Removes the file with the sums. The next checkpoint writes it again; a start before that checks the content. */
  discard(): void {
    this.#file.discard();
    this.#isLost = true;
  }

  /** Number of frames of the log that were read. */
  get framesRead(): number {
    return this.#frameSums.length;
  }

  /** Whether a commit may have begun another log since `follow`. */
  get mayHaveBegunAgain(): boolean {
    return this.#mayBeginAgain;
  }

  /**
   * Verifies the frames of the log that were not read yet, and what they replace, and notes on disk which log is in use:
   * a start refuses a file whose log was removed. Call it after the first commit of a log, before that is acknowledged,
   * and before the log can begin again, which it does with the first write after a complete checkpoint.
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

  /** The header of the log; begins at its first frame if it is another log than before. */
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

  /** Verifies the version of a page that a frame replaces. */
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

  /** Call it before pages of the log are copied to the data file. @throws when the disk is full; nothing is lost then */
  beforeCheckpoint(): void {
    if (this.#state.isCopied) return;
    this.#state = { ...this.#state, isCopied: true };
    this.#write([]);
  }

  /** Call it when all pages of the log are in the data file, before the next write to the log. @throws as `beforeCheckpoint` */
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
    // Pages that the file grew by and that SQLite never wrote: free ones.
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

  /** Compares the next pages with their sums: less than a millisecond of work. @throws DamageFound */
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
    // A file that is gone is written by the next checkpoint: it must not name a log that has begun without it.
    if (!this.#isLost) this.#write([]);
  }

  /** Whether pages have not been compared since the start. */
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
   * Gives the data file a time of its last write that no write gives it, also none within the resolution of the clock.
   * @returns what the file system says of it then; null if it does not have it
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

  /** Each write changes it, as does each replacement of the file. */
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

  /** @param until at most `AT_ONCE` pages @param each gets the pages that are there: their number less one, and their sum */
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
      // Old sums would accuse the pages of damage.
      this.discard();
      if (!isOutOfSpace(error)) throw error;
    }
  }
}

export function sumsPath(dataPath: string): string {
  return `${dataPath}.sums`;
}
