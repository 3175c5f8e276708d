/** An indirect object of a PDF. */
export interface PdfObject {
  readonly number: number;
  /** The octets between `obj` and `endobj`. */
  readonly content: Buffer;
  readonly isStream: boolean;
}

/** A parsed PDF: its objects by number and the references of its trailer. */
export interface PrintedPdf {
  readonly objects: ReadonlyMap<number, PdfObject>;
  /** Object number of the catalog. */
  readonly root: number;
  /** Object number of the document information dictionary, if there is one. */
  readonly info: number | null;
}

/** Thrown when a PDF does not have the structure that Chromium gives to printed documents. */
export class UnknownPdfStructure extends Error {
  override readonly name = 'UnknownPdfStructure';
}

/**
 * Parses a PDF printed by Chromium: one cross-reference table, no encryption, no earlier revision (ISO 32000-1, section
 * 7.5). The objects are slices of `pdf`, not copies.
 * @throws {UnknownPdfStructure} for any other kind of PDF
 */
export function readPrintedPdf(pdf: Uint8Array): PrintedPdf {
  const file = Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength);
  const tail = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(file.toString('latin1', Math.max(0, file.length - 64)));
  const start = Number(tail?.[1] ?? Number.NaN);
  const table = file.toString('latin1', Number.isNaN(start) ? file.length : start);
  const head = /^xref\s+0 (\d+)\s*?\n/.exec(table);
  if (head === null) throw new UnknownPdfStructure('The printed PDF has no cross-reference table.');
  const count = Number(head[1]);
  const trailer = table.slice(head[0].length + count * ENTRY_LENGTH);
  const root = /\/Root (\d+) 0 R/.exec(trailer)?.[1];
  if (!trailer.startsWith('trailer') || root === undefined || /\/(?:Encrypt|Prev)\b/.test(trailer)) {
    throw new UnknownPdfStructure('The trailer of the printed PDF has an unexpected structure.');
  }
  const info = /\/Info (\d+) 0 R/.exec(trailer)?.[1];

  const places: { number: number; offset: number }[] = [];
  for (let number = 1; number < count; number += 1) {
    const entry = table.slice(head[0].length + number * ENTRY_LENGTH, head[0].length + (number + 1) * ENTRY_LENGTH);
    if (/^\d{10} 00000 n/.test(entry)) places.push({ number, offset: Number(entry.slice(0, 10)) });
  }
  places.sort((one, other) => one.offset - other.offset);
  const objects = new Map<number, PdfObject>();
  places.forEach(({ number, offset }, index) => {
    objects.set(number, readObject(file, number, offset, places[index + 1]?.offset ?? start));
  });
  return { objects, root: Number(root), info: info === undefined ? null : Number(info) };
}

const ENTRY_LENGTH = 20;
const END = Buffer.from('endobj');
const END_OF_STREAM = Buffer.from('endstream');

function readObject(file: Buffer, number: number, from: number, to: number): PdfObject {
  const head = Buffer.from(`${number} 0 obj\n`);
  const end = file.lastIndexOf(END, to);
  if (file.compare(head, 0, head.length, from, from + head.length) !== 0 || end < from) {
    throw new UnknownPdfStructure(
      `Object ${number} of the printed PDF is not at the offset in the cross-reference table.`,
    );
  }
  const content = file.subarray(from + head.length, trimmedEnd(file, end));
  const isStream = content.subarray(-END_OF_STREAM.length).equals(END_OF_STREAM);
  return { number, content, isStream };
}

function trimmedEnd(file: Buffer, end: number): number {
  let last = end;
  while (last > 0 && file[last - 1]! <= 0x20) last -= 1;
  return last;
}
