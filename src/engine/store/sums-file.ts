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
/** Size of the header: one disk sector, which is written completely or not at all. */
const HEADER_BYTES = 512;
const STATE_BYTES = HEADER_BYTES - 4;
/** Bytes of an entry: the sum of a page, and the sum mixed with the page number, which reveals damage to either. */
const ENTRY_BYTES = 8;
/** Number of sums that are written together. */
const BLOCK_SUMS = 512;

/** The state of the data file and its log, as recorded in the file of sums. */
export interface SumsState {
  /** Number of pages of the data file that have a sum. */
  readonly count: number;
  /** The salts of the log in use, in hex; empty after a stop, when there is no log. */
  readonly log: string;
  /** Whether pages of the log may have been copied to the data file. */
  readonly isCopied: boolean;
  /** Whether there was a crash since all pages were last compared. */
  readonly isAfterCrash: boolean;
  /** The data file's attributes after the last stop; null while the engine runs, and after a crash. */
  readonly closed: string | null;
  /** The damaged page that was found; null if there is none. */
  readonly damage: PageDamage | null;
}

export interface PageDamage {
  readonly page: number;
  /** Whether content of the damaged page may have been copied to other pages. */
  readonly isSpread: boolean;
}

/**
 * The file with the checksums of pages. A power failure at any moment leaves it usable or detectably damaged. It may be
 * deleted while the engine is stopped.
 */
export class SumsFile {
  readonly path: string;
  /** The descriptor; null while there is no file. */
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

  /** Reads the sums of `count` pages. @returns null if one of them is damaged */
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
   * Writes the state and the sums of the changed pages, and syncs the file.
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

  /** Deletes the file, so that no start trusts it. The next `write` creates it again, with all sums. */
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

/** The path of the file with the sums of a data file. */
export function sumsPath(dataPath: string): string {
  return `${dataPath}.sums`;
}
