import { closeSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import {
  equalSums,
  FRAME_HEADER_BYTES,
  frameSum,
  HEADER_BYTES,
  type LogHeader,
  readLogHeader,
  type Sum,
  storedSum,
} from '../store/log-format.ts';

/**
 * Writes the pages of a copied write-ahead log over a copied data file, in their order. Doing so again changes nothing.
 * The log must end with a commit, as every log read by a backup does. An empty log changes nothing.
 * @param file the data file, open for writing
 * @param end number of bytes of the log to apply; default: all of it
 * @throws when a frame of the log is damaged or its end is missing; some of the pages have been written by then
 */
export function applyLog(file: number, logPath: string, end = Number.POSITIVE_INFINITY): void {
  if (end === 0) return;
  const log = openSync(logPath, 'r');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    const length = readSync(log, header, 0, HEADER_BYTES, 0);
    if (length === 0) return;
    const known = length === HEADER_BYTES ? readLogHeader(header) : null;
    if (!known) throw damaged(logPath, 'its header is wrong');
    let filePages = 0;
    for (const { frame, index, isValid } of framesOf(log, known, end)) {
      if (!isValid) throw damaged(logPath, `frame ${index} is wrong`);
      const page = frame.readUInt32BE(0);
      writeSync(file, frame, FRAME_HEADER_BYTES, known.pageBytes, (page - 1) * known.pageBytes);
      filePages = frame.readUInt32BE(4);
    }
    // In the last frame of a commit, this field is the size of the database in pages; in other frames it is 0.
    if (filePages === 0) throw damaged(logPath, 'it does not end with a commit');
    ftruncateSync(file, filePages * known.pageBytes);
  } finally {
    closeSync(log);
  }
}

/**
 * Cuts a write-ahead log before its first invalid frame. A power cut may leave the last writes on disk in any order, so
 * nothing behind a gap can be used.
 */
export function cutLog(logPath: string): void {
  const log = openSync(logPath, 'r+');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    const known = readSync(log, header, 0, HEADER_BYTES, 0) === HEADER_BYTES ? readLogHeader(header) : null;
    let whole = known ? HEADER_BYTES : 0;
    for (const { frame, isValid } of known ? framesOf(log, known) : []) {
      if (!isValid) break;
      whole += frame.length;
    }
    ftruncateSync(log, whole);
  } finally {
    closeSync(log);
  }
}

/** Yields the frames of a log that begin before `end`. All are read into the same buffer. */
function* framesOf(
  log: number,
  { pageBytes, salts, sum: first, isSwapped }: LogHeader,
  end = Number.POSITIVE_INFINITY,
): Generator<{ frame: Buffer; index: number; isValid: boolean }> {
  const frame = Buffer.allocUnsafeSlow(FRAME_HEADER_BYTES + pageBytes);
  let sum: Sum = first;
  for (let [index, at] = [0, HEADER_BYTES]; at < end; index++, at += frame.length) {
    const count = readSync(log, frame, 0, frame.length, at);
    if (count === 0) return;
    sum = frameSum(frame, sum, isSwapped);
    const isWhole = count === frame.length && frame.subarray(8, 16).equals(salts);
    yield { frame, index, isValid: isWhole && equalSums(sum, storedSum(frame, 16)) };
  }
}

function damaged(path: string, reason: string): Error {
  return new Error(`The copied log ${path} is damaged: ${reason}.`);
}
