import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { reference, streamObject } from './pdf-syntax.ts';
import type { PdfObject } from './printed-pdf.ts';

const compressed = promisify(deflate) as (data: Uint8Array) => Promise<Buffer>;

export interface PdfFile {
  readonly objects: readonly PdfObject[];
  /** Object number of the catalog. */
  readonly root: number;
  readonly info: number;
  /** File identifier, 16 octets. */
  readonly id: Uint8Array;
  /** An object to write uncompressed, so that its offset in the file is known. */
  readonly plain: PdfObject;
}

export interface WrittenPdf {
  readonly bytes: Buffer;
  /** Offset of the content of the plain object. */
  readonly plainAt: number;
}

/** Number of objects per object stream. A reader decompresses the whole stream to read one object. */
const PACK = 500;

/**
 * Writes a PDF 1.7 with one revision. Dictionaries are packed into compressed object streams and listed in a
 * cross-reference stream (ISO 32000-1, sections 7.5.7 and 7.5.8), which reduces the structure of a tagged document to a
 * tenth of its size.
 */
export async function writePdf({ objects, root, info, id, plain }: PdfFile): Promise<WrittenPdf> {
  let next = Math.max(plain.number, ...objects.map(({ number }) => number)) + 1;
  const pieces: Buffer[] = [];
  const rows = new Map<number, readonly [type: number, place: number, index: number]>();
  let length = 0;
  const push = (piece: Buffer) => {
    pieces.push(piece);
    length += piece.length;
  };
  /** Appends an object to the file. @returns the offset of its content */
  const add = (number: number, content: Buffer): number => {
    rows.set(number, [1, length, 0]);
    push(Buffer.from(`${number} 0 obj\n`));
    const at = length;
    push(content);
    push(END_OF_OBJECT);
    return at;
  };

  push(HEADER);
  for (const { number, content, isStream } of objects) if (isStream) add(number, content);
  const dictionaries = objects.filter(({ isStream }) => !isStream);
  const packs = await Promise.all(inGroups(dictionaries, PACK).map(objectStream));
  packs.forEach((pack, group) => {
    const number = next++;
    add(number, pack);
    dictionaries.slice(group * PACK, (group + 1) * PACK).forEach((each, index) => {
      rows.set(each.number, [2, number, index]);
    });
  });
  const plainAt = add(plain.number, plain.content);

  const number = next++;
  const start = length;
  rows.set(number, [1, start, 0]);
  const entries = `/Type/XRef/Size ${next}/W[1 4 2]/Root ${reference(root)}/Info ${reference(info)}${identifiers(id)}${COLUMNS}`;
  const table = await compressed(predicted(crossReferences(rows, next)));
  add(number, streamObject(entries, table));
  push(Buffer.from(`startxref\n${start}\n%%EOF\n`));
  return { bytes: Buffer.concat(pieces, length), plainAt };
}

/** The comment with octets above 127 marks the file as binary (section 7.5.2). */
const HEADER = Buffer.from('%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n', 'latin1');
const END_OF_OBJECT = Buffer.from('\nendobj\n');
const ROW = 7;
const COLUMNS = `/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns ${ROW}>>`;

function identifiers(id: Uint8Array): string {
  const hex = Buffer.from(id).toString('hex').toUpperCase();
  return `/ID[<${hex}><${hex}>]`;
}

function inGroups<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, group) =>
    all.slice(group * size, (group + 1) * size),
  );
}

async function objectStream(objects: readonly PdfObject[]): Promise<Buffer> {
  let offset = 0;
  const index: string[] = [];
  const bodies: Buffer[] = [];
  for (const { number, content } of objects) {
    index.push(`${number} ${offset}`);
    bodies.push(content, NEW_LINE);
    offset += content.length + 1;
  }
  const head = Buffer.from(`${index.join(' ')}\n`);
  const entries = `/Type/ObjStm/N ${objects.length}/First ${head.length}/Filter/FlateDecode`;
  return streamObject(entries, await compressed(Buffer.concat([head, ...bodies])));
}

const NEW_LINE = Buffer.from('\n');

function crossReferences(rows: ReadonlyMap<number, readonly [number, number, number]>, count: number): Buffer {
  const table = Buffer.alloc(count * ROW);
  table.writeUInt16BE(0xffff, 5);
  for (const [number, [type, place, index]] of rows) {
    table[number * ROW] = type;
    table.writeUInt32BE(place, number * ROW + 1);
    table.writeUInt16BE(index, number * ROW + 5);
  }
  return table;
}

/**
 * Encodes each row as its difference from the previous one (PNG's "Up" filter). This compresses better, because few
 * octets differ.
 */
function predicted(table: Buffer): Buffer {
  const UP = 2;
  const filtered = Buffer.alloc((table.length / ROW) * (ROW + 1));
  for (let row = 0; row * ROW < table.length; row += 1) {
    filtered[row * (ROW + 1)] = UP;
    for (let column = 0; column < ROW; column += 1) {
      const at = row * ROW + column;
      filtered[row * (ROW + 1) + 1 + column] = table[at]! - (row === 0 ? 0 : table[at - ROW]!);
    }
  }
  return filtered;
}
