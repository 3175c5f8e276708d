import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { UnreadableFile } from '../../domain/imports/reading.ts';

/** The encodings of CSV files. Node decodes all of them. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252' | 'windows-1256';

/** How many bytes tell whether a file without a mark is UTF-16. */
const SAMPLE = 4096;

/**
 * Decides the encoding of a file by all of its bytes: by its mark; by the zeros of UTF-16; as UTF-8 if that is possible,
 * because no other text happens to be; else by how its letters stand: those of Arabic follow each other, French accents
 * stand alone.
 * @throws {UnreadableFile} `not_a_spreadsheet` for what is no text
 */
export async function decideEncoding(file: string): Promise<Encoding> {
  let first: Buffer | null = null;
  let tail: Buffer = Buffer.alloc(0);
  let isPossible = true;
  let hasZeros = false;
  const letters = { alone: 0, inRows: 0 };
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    if (first === null) {
      first = chunk.subarray(0, SAMPLE);
      const marked = encodingOfMark(first) ?? encodingOfZeros(first);
      if (marked !== null) return marked;
    }
    hasZeros ||= chunk.includes(0);
    if (hasZeros) throw new UnreadableFile('not_a_spreadsheet');
    if (isPossible) {
      const joined = tail.length === 0 ? chunk : Buffer.concat([tail, chunk]);
      const end = joined.length - unfinished(joined);
      isPossible = isUtf8(joined.subarray(0, end));
      tail = Buffer.from(joined.subarray(end));
    }
    countLetters(chunk, letters);
  }
  if (isPossible && tail.length === 0) return 'utf-8';
  return letters.inRows > letters.alone ? 'windows-1256' : 'windows-1252';
}

function encodingOfMark(bytes: Buffer): Encoding | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null;
}

/** Signs and digits of UTF-16 have a zero byte, each on the same side. */
function encodingOfZeros(bytes: Buffer): Encoding | null {
  const zeros = [0, 0];
  for (const [index, byte] of bytes.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const isOften = (count: number, other: number) => count * 10 > bytes.length && count > 20 * other;
  if (isOften(odd, even)) return 'utf-16le';
  return isOften(even, odd) ? 'utf-16be' : null;
}

/** Number of bytes at the end that begin a character of UTF-8 whose other bytes follow. */
function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

/** Counts the bytes above 127 that are letters: those beside at least two more, and the others. */
function countLetters(bytes: Buffer, letters: { alone: number; inRows: number }): void {
  let length = 0;
  for (const byte of bytes) {
    // 0xd7 and 0xf7 are signs of calculation in Windows-1252.
    if (byte >= 0xc0) {
      length++;
      continue;
    }
    if (length >= 3) letters.inRows += length;
    else letters.alone += length;
    length = 0;
  }
}

/**
 * Decodes a file, without its mark.
 * @throws {UnreadableFile} `bad_encoding` for bytes that the encoding does not have, such as half a character
 */
export async function* decodeFile(file: string, encoding: Encoding, end?: number): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder(encoding, { fatal: true });
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
