import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';

const decompressed = promisify(brotliDecompress);

/**
 * Returns a function that reports whether a font has a glyph for a code point, by the `cmap` subtables of formats 4 and
 * 12.
 * @param woff2 a font file with one face (WOFF2, W3C Recommendation)
 * @throws {Error} when the file is not a WOFF2 font or has no `cmap` table
 */
export async function fontCoverage(woff2: Buffer): Promise<(codePoint: number) => boolean> {
  const table = await characterMap(woff2);
  const spans = [...spansOf(table)].sort(([one], [other]) => one - other);
  return (codePoint) => {
    let [low, high] = [0, spans.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (spans[middle]![1] < codePoint) low = middle + 1;
      else high = middle;
    }
    const span = spans[low];
    return span !== undefined && span[0] <= codePoint;
  };
}

type Span = readonly [first: number, last: number];

const HEADER = 48;
const KNOWN_TAG = 0x3f;
const CMAP = 0;
const [GLYF, LOCA] = [10, 11];

/** Returns the table `cmap`. WOFF2 compresses all tables as one stream, in the order of the table directory. */
async function characterMap(font: Buffer): Promise<Buffer> {
  if (font.toString('latin1', 0, 4) !== 'wOF2') throw new Error('not a WOFF2 font');
  const reader = { at: HEADER };
  let offset = 0;
  let found: Span | null = null;
  for (let tables = font.readUInt16BE(12); tables > 0; tables -= 1) {
    const flags = font.readUInt8(reader.at++);
    const tag = flags & KNOWN_TAG;
    const custom = tag === KNOWN_TAG ? font.toString('latin1', reader.at, reader.at + 4) : null;
    if (custom !== null) reader.at += 4;
    let length = base128(font, reader);
    // Transformation version 3 for glyf and loca, and 0 for all other tables, means "not transformed".
    if (flags >> 6 !== (tag === GLYF || tag === LOCA ? 3 : 0)) length = base128(font, reader);
    if (tag === CMAP || custom === 'cmap') found = [offset, offset + length];
    offset += length;
  }
  if (found === null) throw new Error('the font has no cmap table');
  const stream = font.subarray(reader.at, reader.at + font.readUInt32BE(20));
  return (await decompressed(stream)).subarray(...found);
}

function base128(font: Buffer, reader: { at: number }): number {
  for (let value = 0; ; ) {
    const octet = font.readUInt8(reader.at++);
    value = value * 128 + (octet & 0x7f);
    if (octet < 0x80) return value;
  }
}

/**
 * Yields the spans of code points of all subtables. Subtables for the basic plane and for all planes agree where they
 * overlap.
 */
function* spansOf(table: Buffer): Generator<Span> {
  for (let index = 0; index < table.readUInt16BE(2); index += 1) {
    const subtable = table.subarray(table.readUInt32BE(4 + index * 8 + 4));
    const format = subtable.readUInt16BE(0);
    if (format === 4) yield* segments(subtable);
    else if (format === 12) yield* groups(subtable);
  }
}

function* segments(subtable: Buffer): Generator<Span> {
  const size = subtable.readUInt16BE(6);
  const [ends, starts, deltas, offsets] = [14, 16 + size, 16 + 2 * size, 16 + 3 * size] as const;
  for (let at = 0; at < size; at += 2) {
    const [first, last] = [subtable.readUInt16BE(starts + at), subtable.readUInt16BE(ends + at)];
    const [delta, offset] = [subtable.readUInt16BE(deltas + at), subtable.readUInt16BE(offsets + at)];
    for (let code = first; code <= last && code !== 0xffff; code += 1) {
      const listed = offset === 0 ? code : subtable.readUInt16BE(offsets + at + offset + 2 * (code - first));
      // Glyph 0 is .notdef: the font has no glyph for the code point.
      if (listed !== 0 && ((listed + delta) & 0xffff) !== 0) yield [code, code];
    }
  }
}

function* groups(subtable: Buffer): Generator<Span> {
  for (let index = 0; index < subtable.readUInt32BE(12); index += 1) {
    const at = 16 + index * 12;
    const first = subtable.readUInt32BE(at);
    yield [subtable.readUInt32BE(at + 8) === 0 ? first + 1 : first, subtable.readUInt32BE(at + 4)];
  }
}
