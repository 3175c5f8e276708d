import { IMPORT_LIMITS } from '../../domain/imports/limits.ts';
import { attributeOf, type XmlPiece, xmlPieces } from './xml-pieces.ts';

/** The used part of a sheet. */
export interface SheetExtent {
  /** Number of columns up to the last cell with content. */
  readonly columns: number;
  /** Number of the last row. */
  readonly rows: number;
  /** The format of the last heading, as written; null if it has none. */
  readonly headingStyle: string | null;
  /** The range of its automatic filter, as written; null if it has none. */
  readonly filter: string | null;
}

/** Maximum width of merged cells that show where the table ends, columns. */
const WIDEST_MERGE = IMPORT_LIMITS.columns;

/**
 * Measures a sheet. Cells that contain only blanks, and cells beyond the columns that are read, have no content.
 * @param headerRow from 1. Merged cells above it are titles, which may be wider than the table
 * @param blanks the indexes of shared texts that are blank
 */
export async function sheetExtent(
  bytes: AsyncIterable<Uint8Array>,
  headerRow: number,
  blanks: ReadonlySet<number>,
): Promise<SheetExtent> {
  const places = new Places();
  let [columns, rows] = [0, 0];
  let headingStyle: string | null = null;
  let filter: string | null = null;
  let cell: XmlPiece | null = null;
  /** The text being read: a value, or a part of an inline text. */
  let text: string | null = null;
  const hasContent = (of: XmlPiece) => {
    if (places.column >= IMPORT_LIMITS.columns) return;
    columns = Math.max(columns, places.column + 1);
    if (places.row === headerRow) headingStyle = attributeOf(of, 's');
  };
  for await (const pieces of xmlPieces(bytes, NAMES)) {
    for (const piece of pieces) {
      if (piece.kind === 'other') {
        if (text !== null) text += piece.raw;
        continue;
      }
      if (piece.name === 'mergeCell' && piece.kind !== 'end') {
        const [last, row] = endOfRange(attributeOf(piece, 'ref') ?? '');
        if (row >= headerRow && last <= WIDEST_MERGE) columns = Math.max(columns, last);
      }
      if (piece.name === 'autoFilter') filter ??= attributeOf(piece, 'ref');
      if (piece.kind === 'end') {
        if (piece.name === 'c') cell = null;
        else if (cell && text !== null && !isBlank(text, cell, blanks)) {
          hasContent(cell);
          cell = null;
        }
        text = null;
        continue;
      }
      if (piece.name === 'row') rows = Math.max(rows, places.enterRow(piece));
      else if (piece.name === 'c') {
        places.enterCell(piece);
        cell = piece.kind === 'start' ? piece : null;
      } else if (cell && piece.name === 'f') {
        hasContent(cell);
        cell = null;
      } else if (cell && piece.kind === 'start' && TEXTS.has(piece.name)) text = '';
    }
  }
  return { columns, rows, headingStyle, filter };
}

/** The elements that hold the content of a cell: a value, or a part of an inline text. */
const TEXTS = new Set(['v', 't']);
const NAMES = ['row', 'c', 'f', ...TEXTS, 'mergeCell', 'autoFilter'];

function isBlank(text: string, cell: XmlPiece, blanks: ReadonlySet<number>): boolean {
  return attributeOf(cell, 't') === 's' ? blanks.has(Number(text)) : text.trim() === '';
}

/** Returns the indexes of shared texts (section 18.4) that contain only blanks. */
export async function blankTexts(bytes: AsyncIterable<Uint8Array>): Promise<ReadonlySet<number>> {
  const blanks = new Set<number>();
  let index = -1;
  let isText = false;
  for await (const pieces of xmlPieces(bytes, ['si', 't'])) {
    for (const { kind, name, raw } of pieces) {
      if (name === 'si' && kind !== 'end') blanks.add(++index);
      else if (name === 't') isText = kind === 'start';
      else if (isText && raw.trim() !== '') blanks.delete(index);
    }
  }
  return blanks;
}

/** Tracks the positions of rows and cells. A row or cell without a stated position follows the previous one. */
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

/** Number of letters of the last column, `XFD`. */
const MOST_LETTERS = 3;

/** `B2` → 1; null if the text is no cell reference. */
export function columnOf(place: string): number | null {
  let column = 0;
  for (let i = 0; i < MOST_LETTERS + 1; i++) {
    const code = place.charCodeAt(i);
    if (code >= 65 && code <= 90) column = column * 26 + code - 64;
    else return i > 0 && code >= 48 && code <= 57 ? column - 1 : null;
  }
  return null;
}

/** `A1:C3` → the number of its last column, from 1, and of its last row. */
function endOfRange(range: string): [columns: number, row: number] {
  const end = range.split(':').at(-1) ?? '';
  return [(columnOf(end) ?? -1) + 1, Number(/\d+$/.exec(end)?.[0] ?? 0)];
}
