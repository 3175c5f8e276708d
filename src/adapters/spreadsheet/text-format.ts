import { prefixOf, type XmlPiece, xmlPieces } from './xml-pieces.ts';

// Adds the text format to the cell formats of a workbook (`cellXfs`, ECMA-376, part 1, section 18.8.10).

/** Returns the number of formats, which is the index of the next one; null if the part has none. */
export async function countFormats(bytes: AsyncIterable<Uint8Array>): Promise<number | null> {
  let count: number | null = null;
  let isInside = false;
  for await (const pieces of xmlPieces(bytes, ['cellXfs', 'xf'])) {
    for (const { name, kind } of pieces) {
      if (name === 'cellXfs') {
        isInside = kind === 'start';
        if (isInside) count = 0;
      } else if (isInside && name === 'xf' && kind !== 'end') count = (count ?? 0) + 1;
    }
  }
  return count;
}

/** Adds the text format at the end. In a cell with it, typed values stay texts, too. */
export async function* withTextFormat(
  bytes: AsyncIterable<Uint8Array>,
  count: number,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const pieces of xmlPieces(bytes, ['cellXfs']))
    yield Buffer.from(pieces.map((each) => changed(each, count)).join(''));
}

function changed(piece: XmlPiece, count: number): string {
  const { name, kind, raw } = piece;
  if (name !== 'cellXfs') return raw;
  if (kind === 'start') return raw.replace(/\scount\s*=\s*(?:"[^"]*"|'[^']*')/, ` count="${count + 1}"`);
  const prefix = prefixOf(piece);
  return `<${prefix}xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>${raw}`;
}
