import { createReadStream } from 'node:fs';
import { UnreadableFile } from '../../domain/imports/reading.ts';

/** The encodings of CSV files. Node decodes all of them. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' | 'windows-1256';

/** Number of bytes from which UTF-16 without a byte order mark is recognized. */
const SAMPLE = 4096;

/**
 * Decides the encoding of a file from all of its bytes. First by its byte order mark, then by the zero bytes of UTF-16.
 * It is UTF-8 if most of its characters beyond ASCII are valid UTF-8, because other texts are not valid by chance. Else
 * the positions of its letters decide: Arabic letters stand side by side, French accented letters stand alone.
 * @throws {UnreadableFile} `not_a_spreadsheet` if the file is no text, `bad_encoding` for an encoding of DOS or of old
 *   Macs
 */
export async function decideEncoding(file: string): Promise<Encoding> {
  let first: Buffer | null = null;
  let hasZeros = false;
  const utf8 = { sequences: 0, faults: 0, pending: 0 };
  const letters = { alone: 0, inRows: 0, onlyWestern: 0, odd: 0, before: 0 };
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    if (first === null) {
      first = chunk.subarray(0, SAMPLE);
      const marked = encodingOfMark(first) ?? encodingOfZeros(first);
      if (marked !== null) return marked;
    }
    hasZeros ||= chunk.includes(0);
    if (hasZeros) throw new UnreadableFile('not_a_spreadsheet');
    countSequences(chunk, utf8);
    countLetters(chunk, letters);
  }
  // A few bytes in another encoding, as in joined files, are faults of their cells.
  if (utf8.sequences >= utf8.faults) return 'utf-8';
  // Excel in Morocco writes French beside Arabic in Windows-1256, which has the usual French accents.
  if (letters.inRows > (letters.onlyWestern > 0 ? letters.alone : 0)) return 'windows-1256';
  if (letters.odd > letters.alone) throw new UnreadableFile('bad_encoding', { encoding: 'Windows-1252' });
  return 'windows-1252';
}

function encodingOfMark(bytes: Buffer): Encoding | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null;
}

/** In UTF-16, signs and digits have a zero byte, always on the same side. */
function encodingOfZeros(bytes: Buffer): Encoding | null {
  const zeros = [0, 0];
  for (const [index, byte] of bytes.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const isOften = (count: number, other: number) => count * 10 > bytes.length && count > 20 * other;
  if (isOften(odd, even)) return 'utf-16le';
  return isOften(even, odd) ? 'utf-16be' : null;
}

/** Counts the characters of several bytes that are valid UTF-8, and the bytes that are not. */
function countSequences(bytes: Buffer, count: { sequences: number; faults: number; pending: number }): void {
  for (const byte of bytes) {
    if (count.pending > 0 && byte >= 0x80 && byte < 0xc0) {
      if (--count.pending === 0) count.sequences++;
      continue;
    }
    if (count.pending > 0) count.faults++;
    count.pending = 0;
    if (byte >= 0xf0 && byte < 0xf5) count.pending = 3;
    else if (byte >= 0xe0 && byte < 0xf0) count.pending = 2;
    else if (byte >= 0xc2 && byte < 0xe0) count.pending = 1;
    else if (byte >= 0x80) count.faults++;
  }
}

/**
 * Bytes that are accented letters in DOS (CP850) or on old Macs, but rare signs in Windows: `Soci‚t‚`, `SociŽtŽ`.
 */
const ODD = new Set([0x82, 0x83, 0x84, 0x85, 0x87, 0x88, 0x89, 0x8a, 0x8d, 0x8e, 0x8f, 0x90, 0x93, 0x97]);
const isAscii = (byte: number) => (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);

/** Accented letters with the same byte in Windows-1252 and Windows-1256: `àâçèéêëîïôùûü`. */
const OF_BOTH = new Set([0xe0, 0xe2, 0xe7, 0xe8, 0xe9, 0xea, 0xeb, 0xee, 0xef, 0xf4, 0xf9, 0xfb, 0xfc]);

/**
 * Counts the bytes above 127 that are letters: `inRows` in runs of at least three, `alone` in shorter runs. Of the
 * latter, `onlyWestern` are single ones beside an ASCII letter that Windows-1256 lacks (`É`). `odd` are bytes of
 * {@link ODD} after an ASCII letter.
 */
function countLetters(
  bytes: Buffer,
  letters: { alone: number; inRows: number; onlyWestern: number; odd: number; before: number },
): void {
  let length = 0;
  let beforeRun = letters.before;
  for (const byte of bytes) {
    const { before } = letters;
    if (ODD.has(byte) && isAscii(before)) letters.odd++;
    letters.before = byte;
    if (byte >= 0xc0) {
      if (length++ === 0) beforeRun = before;
      continue;
    }
    if (length >= 3) letters.inRows += length;
    else letters.alone += length;
    if (length === 1 && !OF_BOTH.has(before) && (isAscii(beforeRun) || isAscii(byte))) letters.onlyWestern++;
    length = 0;
  }
}

/**
 * Decodes a file, without its byte order mark.
 * @throws {UnreadableFile} `bad_encoding` for invalid bytes, such as half a character
 */
export async function* decodeFile(file: string, encoding: Encoding, end?: number): AsyncGenerator<string, void, void> {
  // Invalid UTF-8 becomes U+FFFD, which is a fault of its cell.
  const decoder = new TextDecoder(encoding, { fatal: encoding !== 'utf-8' });
  try {
    for await (const chunk of createReadStream(file, end === undefined ? {} : { end }) as AsyncIterable<Buffer>)
      yield decoder.decode(chunk, { stream: true });
    // The beginning of a file may end within a character.
    yield end === undefined ? decoder.decode() : '';
  } catch (error) {
    if (error instanceof TypeError) throw new UnreadableFile('bad_encoding', { encoding });
    throw error;
  }
}
