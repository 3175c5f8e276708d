import { attributeOf, type XmlPiece, xmlPieces } from './xml-pieces.ts';

/** How far a sheet is used. */
export interface SheetExtent {
  /** Number of columns up to the last cell with content. */
  readonly columns: number;
  /** Number of the last row. */
  readonly rows: number;
  /** The format of the last heading, as written; null if it has none. */
  readonly headingStyle: string | null;
}

/** Merged cells that are wider say nothing of where the table ends, columns. */
const WIDEST_MERGE = 256;

/** Measures a sheet. @param headerRow from 1: merged cells above it are titles, which may be wider than the table */
export async function sheetExtent(bytes: AsyncIterable<Uint8Array>, headerRow: number): Promise<SheetExtent> {
  const places = new Places();
  let [columns, rows] = [0, 0];
  let headingStyle: string | null = null;
  let cell: XmlPiece | null = null;
  for await (const pieces of xmlPieces(bytes, NAMES)) {
    for (const piece of pieces) {
      if (piece.kind === 'other') continue;
      if (piece.name === 'mergeCell' && piece.kind !== 'end') {
        const [last, row] = endOfRange(attributeOf(piece, 'ref') ?? '');
        if (row >= headerRow && last <= WIDEST_MERGE) columns = Math.max(columns, last);
      }
      if (piece.kind === 'end') {
        if (piece.name === 'c') cell = null;
        continue;
      }
      if (piece.name === 'row') rows = Math.max(rows, places.enterRow(piece));
      else if (piece.name === 'c') {
        places.enterCell(piece);
        cell = piece.kind === 'start' ? piece : null;
      } else if (cell && HAS_CONTENT.has(piece.name)) {
        columns = Math.max(columns, places.column + 1);
        if (places.row === headerRow) headingStyle = attributeOf(cell, 's');
        cell = null;
      }
    }
  }
  return { columns, rows, headingStyle };
}

/** The members of a cell that has content: a value, a text, a formula. */
const HAS_CONTENT = new Set(['v', 'is', 'f']);
const NAMES = ['row', 'c', ...HAS_CONTENT, 'mergeCell'];

/** Follows the places of rows and cells, which may leave them out: then each follows the one before. */
export class Places {
  /** From 1. */
  row = 0;
  /** From 0. */
  column = -1;

  /** @returns the number of the row */
  enterRow(row: XmlPiece): number {
    const number = Number(attributeOf(row, 'r') ?? Number.NaN);
    this.row = Number.isSafeInteger(number) && number > 0 ? number : this.row + 1;
    this.column = -1;
    return this.row;
  }

  /** @returns the column */
  enterCell(cell: XmlPiece): number {
    this.column = columnOf(attributeOf(cell, 'r') ?? '') ?? this.column + 1;
    return this.column;
  }
}

/** Of the last column, `XFD`. */
const MOST_LETTERS = 3;

/** `B2` → 1; null if it is not the place of a cell. */
export function columnOf(place: string): number | null {
  let column = 0;
  for (let i = 0; i < MOST_LETTERS + 1; i++) {
    const code = place.charCodeAt(i);
    if (code >= 65 && code <= 90) column = column * 26 + code - 64;
    else return i > 0 && code >= 48 && code <= 57 ? column - 1 : null;
  }
  return null;
}

/** `A1:C3` → its number of columns up to the last, and its last row. */
function endOfRange(range: string): [columns: number, row: number] {
  const end = range.split(':').at(-1) ?? '';
  return [(columnOf(end) ?? -1) + 1, Number(/\d+$/.exec(end)?.[0] ?? 0)];
}
