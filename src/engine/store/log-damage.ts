import { closeSync, openSync, readSync } from 'node:fs';
import {
  equalSums,
  FRAME_HEADER_BYTES,
  frameSum,
  HEADER_BYTES,
  logBytes,
  readLogHeader,
  type Sum,
  storedSum,
} from './log-format.ts';

// SQLite reads its write-ahead log up to the first invalid frame, and assumes that a crash interrupted the commit
// there. If that frame was damaged later, acknowledged commits disappear silently. This module distinguishes the two
// cases.

/** The 32-bit words that a frame's checksum covers, in pairs. */
interface Words {
  readonly pairs: number;
  /** The word at this index, counted from the first pair. */
  at(index: number): number;
}

/**
 * Looks for damage in a write-ahead log, in two forms. One is an invalid frame before a later commit, which is written
 * only after the earlier one is on disk. The other is a frame that a single flipped bit made invalid, which no
 * interrupted write does. Reads the log once, frame by frame. The caller holds the lock of the database.
 * @returns a description of the damage; null if the log is intact, ends within its last commit, or does not exist
 */
export function findLogDamage(path: string): string | null {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    return damageOf(file);
  } finally {
    closeSync(file);
  }
}

function damageOf(file: number): string | null {
  const header = Buffer.alloc(HEADER_BYTES);
  if (readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return null;
  const known = readLogHeader(header);
  if (!known) {
    // SQLite syncs the header before it writes the first frame.
    const hasFrames = readSync(file, Buffer.alloc(1), 0, 1, HEADER_BYTES) > 0;
    return hasFrames ? 'the header of its write-ahead log is wrong' : null;
  }
  const { salts, isSwapped } = known;
  const frame = Buffer.allocUnsafeSlow(FRAME_HEADER_BYTES + known.pageBytes);
  let previous = known.sum;
  /** The index of the first invalid frame. */
  let broken: number | null = null;
  /**
   * Whether a commit ends at or behind the invalid frame. Valid frames behind that end were written after that commit's
   * fsync.
   */
  let isCommitted = false;
  for (let index = 0; isRead(file, frame, index); index++) {
    const hasSalts = frame.subarray(8, 16).equals(salts);
    const [computed, stored] = [frameSum(frame, previous, isSwapped), storedSum(frame, 16)];
    const isValid = hasSalts && equalSums(computed, stored);
    if (isValid && isCommitted) return `frame ${broken} of its write-ahead log is wrong, and commits follow it`;
    if (!isValid && broken === null) {
      broken = index;
      const isFlipped = hasSalts
        ? isBitFlip(wordsOf(frame, header), computed, stored)
        : equalSums(computed, stored) && bitsApart(frame.subarray(8, 16), salts) === 1;
      if (isFlipped) return `a bit of frame ${index} of its write-ahead log is wrong`;
    }
    if (broken !== null && hasSalts && frame.readUInt32BE(4) !== 0) isCommitted = true;
    previous = stored;
  }
  return null;
}

function isRead(file: number, frame: Buffer, index: number): boolean {
  const at = logBytes(index, frame.length - FRAME_HEADER_BYTES) || HEADER_BYTES;
  return readSync(file, frame, 0, frame.length, at) === frame.length;
}

/** The words of a frame that the frame's checksum covers. */
function wordsOf(frame: Buffer, header: Buffer): Words {
  const isBigEndian = (header.readUInt32BE(0) & 1) === 1;
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  const place = (index: number): number => (index < 2 ? 4 * index : FRAME_HEADER_BYTES + 4 * (index - 2));
  return {
    pairs: (8 + frame.length - FRAME_HEADER_BYTES) / 8,
    at: (index) => view.getUint32(place(index), !isBigEndian),
  };
}

/**
 * Whether one flipped bit, in the words or in the stored checksum, explains why the checksums differ. The checksum is
 * linear: if a word grows by n, its two numbers grow by n · a and n · b. These factors depend on how many words follow.
 */
function isBitFlip({ pairs, at }: Words, computed: Sum, stored: Sum): boolean {
  const [first, second] = [computed[0] ^ stored[0], computed[1] ^ stored[1]];
  if ((first === 0 && isOneBit(second)) || (second === 0 && isOneBit(first))) return true;
  const missing: Sum = [(stored[0] - computed[0]) | 0, (stored[1] - computed[1]) | 0];
  /** The growth of the checksum when the first word of a pair grows by 1. */
  let ofFirst: Sum = [1, 1];
  /** The growth of the checksum when the second word of a pair grows by 1. */
  let ofSecond: Sum = [0, 1];
  for (let pair = pairs - 1; pair >= 0; pair--) {
    if (isFlip(at(2 * pair), ofFirst, missing) || isFlip(at(2 * pair + 1), ofSecond, missing)) return true;
    [ofFirst, ofSecond] = [passOn(ofFirst), passOn(ofSecond)];
  }
  return false;
}

/** Returns the growth of the checksum after one more pair of words, given the growth before it. */
function passOn([first, second]: Sum): Sum {
  return [(first + second) | 0, (first + 2 * second) | 0];
}

/** Whether flipping one bit of the word would change the checksum by `missing`. */
function isFlip(word: number, [first, second]: Sum, missing: Sum): boolean {
  for (let bit = 0; bit < 32; bit++) {
    const change = (word >>> bit) & 1 ? -(1 << bit) : 1 << bit;
    if (Math.imul(change, first) === missing[0] && Math.imul(change, second) === missing[1]) return true;
  }
  return false;
}

function isOneBit(value: number): boolean {
  return value !== 0 && (value & (value - 1)) === 0;
}

function bitsApart(a: Buffer, b: Buffer): number {
  let count = 0;
  a.forEach((byte, index) => {
    for (let rest = byte ^ (b[index] as number); rest > 0; rest &= rest - 1) count++;
  });
  return count;
}
