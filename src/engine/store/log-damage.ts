import { closeSync, openSync, readSync } from 'node:fs';

// SQLite reads its write-ahead log up to the first frame that is not valid, and takes what follows for the remains of a
// commit that a crash interrupted. If that frame was damaged later, acknowledged commits vanish without a word. This
// module tells the two cases apart. The format is that of https://www.sqlite.org/fileformat2.html#walformat.

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Its lowest bit says that checksums read big-endian words. */
const MAGIC = 0x377f0682;

/** A checksum, or a difference of two: unsigned 32-bit numbers. */
type Sum = readonly [number, number];

/** The words that a checksum covers, in pairs. */
interface Words {
  readonly pairs: number;
  /** The word at this place, counted from the first pair. */
  at(index: number): number;
}

/** Bytes of a log with this number of frames. @param pageBytes bytes of a page of the database */
export function logBytes(frames: number, pageBytes: number): number {
  return frames === 0 ? 0 : HEADER_BYTES + frames * (FRAME_HEADER_BYTES + pageBytes);
}

/**
 * Looks for damage in a write-ahead log: a frame that is not valid although a later commit was written, which happens
 * only after the earlier one was on disk; or a frame that one flipped bit made invalid, which no interrupted write does.
 * Reads the log once, a frame at a time. The caller holds the lock of the database.
 * @returns what is damaged; null if the log is whole, ends within its last commit, or does not exist
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
  const isBigEndian = (header.readUInt32BE(0) & 1) === 1;
  const headerSum = sumOf(wordsOf(header, [[0, 24]], isBigEndian), [0, 0]);
  if ((header.readUInt32BE(0) & ~1) !== MAGIC || !equal(headerSum, storedSum(header, 24))) {
    // SQLite syncs the header before it writes the first frame.
    const hasFrames = readSync(file, Buffer.alloc(1), 0, 1, HEADER_BYTES) > 0;
    return hasFrames ? 'the header of its write-ahead log is wrong' : null;
  }
  const salts = header.subarray(16, 24);
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + header.readUInt32BE(8));
  const words = wordsOf(
    frame,
    [
      [0, 8],
      [FRAME_HEADER_BYTES, frame.length],
    ],
    isBigEndian,
  );
  let previous = storedSum(header, 24);
  /** The first frame that is not valid. */
  let broken: number | null = null;
  /** Whether a commit ends at or behind it: every valid frame that follows was written after that commit's fsync. */
  let isCommitted = false;
  for (let index = 0; isRead(file, frame, index); index++) {
    const hasSalts = frame.subarray(8, 16).equals(salts);
    const [computed, stored] = [sumOf(words, previous), storedSum(frame, 16)];
    const isValid = hasSalts && equal(computed, stored);
    if (isValid && isCommitted) return `frame ${broken} of its write-ahead log is wrong, and commits follow it`;
    if (!isValid && broken === null) {
      broken = index;
      const isFlipped = hasSalts
        ? isBitFlip(words, computed, stored)
        : equal(computed, stored) && bitsApart(frame.subarray(8, 16), salts) === 1;
      if (isFlipped) return `a bit of frame ${index} of its write-ahead log is wrong`;
    }
    if (broken !== null && hasSalts && frame.readUInt32BE(4) !== 0) isCommitted = true;
    previous = stored;
  }
  return null;
}

function isRead(file: number, frame: Buffer, index: number): boolean {
  return readSync(file, frame, 0, frame.length, HEADER_BYTES + index * frame.length) === frame.length;
}

/** @param ranges the bytes that are covered, from and until; each a multiple of 8 long */
function wordsOf(bytes: Buffer, ranges: readonly (readonly [number, number])[], isBigEndian: boolean): Words {
  const places = ranges.flatMap(([from, until]) =>
    Array.from({ length: (until - from) / 4 }, (_, index) => from + 4 * index),
  );
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return { pairs: places.length / 2, at: (index) => view.getUint32(places[index] as number, !isBigEndian) };
}

/** The checksum of the words, continued from `start`. */
function sumOf({ pairs, at }: Words, [first, second]: Sum): Sum {
  for (let pair = 0; pair < pairs; pair++) {
    first = (first + at(2 * pair) + second) >>> 0;
    second = (second + at(2 * pair + 1) + first) >>> 0;
  }
  return [first, second];
}

function storedSum(bytes: Buffer, at: number): Sum {
  return [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
}

function equal(a: Sum, b: Sum): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

/**
 * Whether one flipped bit of the words or of the stored checksum explains the difference. The checksum is linear: what
 * is added to a word is added to the checksum times two numbers, which depend on how many words follow.
 */
function isBitFlip({ pairs, at }: Words, computed: Sum, stored: Sum): boolean {
  const [first, second] = [computed[0] ^ stored[0], computed[1] ^ stored[1]];
  if ((first === 0 && isOneBit(second)) || (second === 0 && isOneBit(first))) return true;
  const missing: Sum = [(stored[0] - computed[0]) | 0, (stored[1] - computed[1]) | 0];
  /** What 1 more in the first and in the second word of a pair adds. */
  let ofFirst: Sum = [1, 1];
  let ofSecond: Sum = [0, 1];
  for (let pair = pairs - 1; pair >= 0; pair--) {
    if (isFlip(at(2 * pair), ofFirst, missing) || isFlip(at(2 * pair + 1), ofSecond, missing)) return true;
    [ofFirst, ofSecond] = [passOn(ofFirst), passOn(ofSecond)];
  }
  return false;
}

/** What an addition to the checksum becomes by one more pair of words. */
function passOn([first, second]: Sum): Sum {
  return [(first + second) | 0, (first + 2 * second) | 0];
}

/** Whether a flipped bit of the word adds `missing` to the checksum. */
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
