import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { endianness } from 'node:os';
import { crc32 } from 'node:zlib';

const MAGIC = `page sums 1 ${endianness()}`;
/** A sector: it is written as a whole or not at all. */
const HEADER_BYTES = 512;
const STATE_BYTES = HEADER_BYTES - 4;
/** The sum of a page, and the same with its page number, which shows that neither is damaged. */
const ENTRY_BYTES = 8;
/** Sums that are written together. */
const BLOCK_SUMS = 512;

/** The facts in the file about the data file and its log. */
export interface SumsState {
  /** Number of pages of the data file that have a sum. */
  readonly count: number;
  /** The salts of the log in use, in hex; empty after a stop, which leaves no log. */
  readonly log: string;
  /** Whether pages of that log may have been copied to the data file. */
  readonly isCopied: boolean;
  /** Whether there was a crash since all pages were last compared. */
  readonly isAfterCrash: boolean;
  /** What the file system said of the data file after the last stop; null while the engine runs, and after a crash. */
  readonly closed: string | null;
  /** A page that was found damaged. */
  readonly damage: PageDamage | null;
}

export interface PageDamage {
  readonly page: number;
  /** Whether what the damaged page said may have been written to others. */
  readonly isSpread: boolean;
}

/** The file with the checksums of pages. It survives a power failure at any moment; it may be deleted while closed. */
export class SumsFile {
  readonly path: string;
  /** Null while there is none. */
  #file: number | null;

  constructor(path: string) {
    this.path = path;
    this.#file = existsSync(path) ? openSync(path, 'r+') : null;
  }

  /** @returns null if there is no intact file */
  readState(): SumsState | null {
    if (this.#file === null) return null;
    const header = Buffer.alloc(HEADER_BYTES);
    readSync(this.#file, header, 0, HEADER_BYTES, 0);
    if (header.readUInt32LE(STATE_BYTES) !== crc32(header.subarray(0, STATE_BYTES))) return null;
    const { magic, ...state } = JSON.parse(header.toString('latin1', 0, STATE_BYTES)) as SumsState & { magic: string };
    return magic === MAGIC ? state : null;
  }

  /** The sums of `count` pages. @returns null if one of them is damaged */
  readSums(count: number): Uint32Array<ArrayBuffer> | null {
    const bytes = new Uint32Array(count * 2);
    const wanted = count * ENTRY_BYTES;
    if (this.#file === null || fstatSync(this.#file).size < HEADER_BYTES + wanted) return null;
    readSync(this.#file, Buffer.from(bytes.buffer), 0, wanted, HEADER_BYTES);
    const sums = new Uint32Array(count);
    for (let at = 0; at < count; at++) {
      sums[at] = bytes[2 * at] as number;
      if (bytes[2 * at + 1] !== guard(sums[at] as number, at)) return null;
    }
    return sums;
  }

  /**
   * Writes the state and the sums of these pages, and syncs them.
   * @param sums by page number less one
   * @param changed page numbers less one; 'all' for a file whose content is unknown
   */
  write(state: SumsState, sums: Uint32Array, changed: Iterable<number> | 'all'): void {
    let blocks = new Set<number>();
    if (changed === 'all' || this.#file === null) {
      blocks = new Set(Array.from({ length: Math.ceil(state.count / BLOCK_SUMS) }, (_, block) => block));
    } else for (const at of changed) blocks.add(Math.floor(at / BLOCK_SUMS));
    this.#file ??= openSync(this.path, 'w+', 0o600);
    for (const block of blocks) {
      const from = block * BLOCK_SUMS;
      const until = Math.min(from + BLOCK_SUMS, state.count);
      if (until <= from) continue;
      const entries = new Uint32Array((until - from) * 2);
      for (let at = from; at < until; at++) {
        entries[2 * (at - from)] = sums[at] as number;
        entries[2 * (at - from) + 1] = guard(sums[at] as number, at);
      }
      const bytes = Buffer.from(entries.buffer);
      writeSync(this.#file, bytes, 0, bytes.length, HEADER_BYTES + from * ENTRY_BYTES);
    }
    const header = Buffer.alloc(HEADER_BYTES, ' ');
    header.write(JSON.stringify({ magic: MAGIC, ...state }), 'latin1');
    header.writeUInt32LE(crc32(header.subarray(0, STATE_BYTES)), STATE_BYTES);
    writeSync(this.#file, header, 0, HEADER_BYTES, 0);
    fsyncSync(this.#file);
    if (changed === 'all') ftruncateSync(this.#file, HEADER_BYTES + state.count * ENTRY_BYTES);
  }

  /** Removes the file, so that no start trusts it. The next `write` makes it again, with everything. */
  discard(): void {
    this.close();
    rmSync(this.path, { force: true });
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}

function guard(sum: number, at: number): number {
  return (~sum ^ Math.imul(at + 1, 0x9e3779b1)) >>> 0;
}
