import { closeSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import {
  equalSums,
  FRAME_HEADER_BYTES,
  frameSum,
  HEADER_BYTES,
  readLogHeader,
  type Sum,
  storedSum,
} from '../store/log-format.ts';

/**
 * Writes the pages of a copied write-ahead log over a copied data file, in their order. Repeating it changes nothing.
 * The log must end with a commit, as what a backup reads does; an empty log changes nothing.
 * @param file the data file, open for writing
 * @param end bytes of the log that are read: all of it unless given
 * @throws when a frame of the log is damaged, or its end is missing; the file then has a part of its pages
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
    const frame = Buffer.allocUnsafeSlow(FRAME_HEADER_BYTES + known.pageBytes);
    let sum: Sum = known.sum;
    let filePages = 0;
    for (let index = 0; ; index++) {
      const at = HEADER_BYTES + index * frame.length;
      const count = at < end ? readSync(log, frame, 0, frame.length, at) : 0;
      if (count === 0) break;
      sum = frameSum(frame, sum, known.isSwapped);
      const isWhole = count === frame.length && frame.subarray(8, 16).equals(known.salts);
      if (!isWhole || !equalSums(sum, storedSum(frame, 16))) throw damaged(logPath, `frame ${index} is wrong`);
      const page = frame.readUInt32BE(0);
      writeSync(file, frame, FRAME_HEADER_BYTES, known.pageBytes, (page - 1) * known.pageBytes);
      filePages = frame.readUInt32BE(4);
    }
    // The last frame of a commit has the size of the file behind it.
    if (filePages === 0) throw damaged(logPath, 'it does not end with a commit');
    ftruncateSync(file, filePages * known.pageBytes);
  } finally {
    closeSync(log);
  }
}

function damaged(path: string, reason: string): Error {
  return new Error(`The copied log ${path} is damaged: ${reason}.`);
}
