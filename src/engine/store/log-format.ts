import { endianness } from 'node:os';

// The format of SQLite's write-ahead log: https://www.sqlite.org/fileformat2.html#walformat

export const HEADER_BYTES = 32;
export const FRAME_HEADER_BYTES = 24;
/** The first number of a log. If its lowest bit is set, checksums are computed over big-endian words. */
const MAGIC = 0x377f0682;

/** A checksum, or a difference of two checksums: a pair of unsigned 32-bit numbers. */
export type Sum = readonly [number, number];

export interface LogHeader {
  readonly pageBytes: number;
  /** 8 bytes that each frame of the log repeats. SQLite changes them when it begins the log again. */
  readonly salts: Buffer;
  /** The checksum of the header, from which the first frame's is continued. */
  readonly sum: Sum;
  /** Whether checksums are computed over words in the other byte order than this machine's. */
  readonly isSwapped: boolean;
}

/** Size in bytes of a log with this number of frames. @param pageBytes bytes of a page of the database */
export function logBytes(frames: number, pageBytes: number): number {
  return frames === 0 ? 0 : HEADER_BYTES + frames * (FRAME_HEADER_BYTES + pageBytes);
}

/** @param bytes the first `HEADER_BYTES` of a log @returns null if they are not a valid header */
export function readLogHeader(bytes: Buffer): LogHeader | null {
  const magic = bytes.readUInt32BE(0);
  const isSwapped = ((magic & 1) === 1) !== (endianness() === 'BE');
  const sum = storedSum(bytes, 24);
  if ((magic & ~1) !== MAGIC || !equalSums(continueSum([0, 0], bytes.subarray(0, 24), isSwapped), sum)) return null;
  return { pageBytes: bytes.readUInt32BE(8), salts: Buffer.from(bytes.subarray(16, 24)), sum, isSwapped };
}

/**
 * Computes a frame's checksum over the first 8 bytes of its header and its page, continued from the previous frame's.
 */
export function frameSum(frame: Buffer, previous: Sum, isSwapped: boolean): Sum {
  return continueSum(
    continueSum(previous, frame.subarray(0, 8), isSwapped),
    frame.subarray(FRAME_HEADER_BYTES),
    isSwapped,
  );
}

export function storedSum(bytes: Buffer, at: number): Sum {
  return [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
}

export function equalSums(a: Sum, b: Sum): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

/** @param bytes must be aligned to 4 bytes in memory, with a length that is a multiple of 8 */
function continueSum([first, second]: Sum, bytes: Buffer, isSwapped: boolean): Sum {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  let [a, b] = [first | 0, second | 0];
  if (isSwapped)
    for (let n = 0; n < words.length; n += 2) {
      a = (a + swapped(words[n] as number) + b) | 0;
      b = (b + swapped(words[n + 1] as number) + a) | 0;
    }
  else
    for (let n = 0; n < words.length; n += 2) {
      a = (a + (words[n] as number) + b) | 0;
      b = (b + (words[n + 1] as number) + a) | 0;
    }
  return [a >>> 0, b >>> 0];
}

function swapped(word: number): number {
  return (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24);
}
