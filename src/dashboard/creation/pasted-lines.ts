import { EMPTY_LINE, type TypedLine } from './typed-line.ts';

/** The columns of a spreadsheet, from the field into which they are pasted. */
const COLUMNS = ['description', 'quantity', 'unitPrice', 'taxRate'] as const;
type ColumnName = (typeof COLUMNS)[number];

/** Maximum number of lines of a form. */
export const MOST_LINES = 100;

/** Maximum length of a pasted text that is read, characters. */
const MOST_CHARACTERS = 200_000;

/** The result of a paste: all rows, or none. */
export type Pasted = { readonly lines: readonly TypedLine[] } | { readonly refused: TooMuch };

/** Why nothing is pasted. */
export interface TooMuch {
  /** Number of rows; null if the text is too long to be read. */
  readonly rows: number | null;
  /** Maximum number of rows from the line on into which they are pasted. */
  readonly most: number;
}

/** A number with signs for thousands, with or without decimals after another sign. */
const GROUPED = /^[1-9]\d{0,2}(?:(?:\.\d{3})+(?:,\d+)?|(?:,\d{3})+(?:\.\d+)?)$/;
/** Texts that spreadsheets write beside a number. */
const UNITS = /(?:MAD|DHS?|درهم|%)\s*$/i;
/** A cell, in quotation marks where it has line ends, and what follows it. */
const CELL = /(?:"((?:[^"]|"")*)"|([^\t\n]*))(\t|\n|$)/g;

/**
 * Fills lines with cells that were copied from a spreadsheet: rows on lines of their own, columns between tabs.
 * @param index the line into which it is pasted, counted from 0
 * @param column the field into which it is pasted; a single column fills this field of the lines
 * @returns the lines, or why there are too many; null if the text is one value, which the browser pastes
 */
export function withPasted(
  lines: readonly TypedLine[],
  { index, column, text }: { readonly index: number; readonly column: string; readonly text: string },
): Pasted | null {
  const first = COLUMNS.indexOf(column as ColumnName);
  if (first < 0 || !/[\t\n]/.test(text.trim())) return null;
  const most = Math.max(MOST_LINES, lines.length) - index;
  if (text.length > MOST_CHARACTERS) return { refused: { rows: null, most } };
  const rows = rowsOf(text, first);
  if (rows.length > most) return { refused: { rows: rows.length, most } };
  const filled = rows.map((cells, row): TypedLine => {
    const before = lines[index + row] ?? EMPTY_LINE;
    const given = cells.slice(0, COLUMNS.length - first).map((cell, nth) => {
      const name = COLUMNS[first + nth] as ColumnName;
      return [name, name === 'description' ? cell : plainNumber(cell)] as const;
    });
    // An empty cell of a row states nothing: the line keeps its quantity and its rate.
    return { ...before, ...Object.fromEntries(given.filter(([, cell]) => cell !== '')) };
  });
  return { lines: [...lines.slice(0, index), ...filled, ...lines.slice(index + filled.length)] };
}

/** Splits a text into rows and cells. A first row of names above numbers is left out. */
function rowsOf(text: string, first: number): readonly (readonly string[])[] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain = '', end] of text.replaceAll('\r\n', '\n').matchAll(CELL)) {
    rows.at(-1)?.push((quoted?.replaceAll('""', '"') ?? plain).replaceAll(/\s+/g, ' ').trim());
    if (end === '\n') rows.push([]);
  }
  const [head = [], ...others] = rows.filter((cells) => cells.some((cell) => cell !== ''));
  const figuresOf = (cells: readonly string[]) => cells.filter((_cell, nth) => first + nth > 0);
  const hasFigures = (cells: readonly string[] = []) => figuresOf(cells).some((cell) => /\d/.test(cell));
  return figuresOf(head).length > 0 && !hasFigures(head) && hasFigures(others[0]) ? others : [head, ...others];
}

/**
 * Writes a number of a spreadsheet as people type it: `1 234,50 MAD`, `1,234.5` and `1.234,5` → `1234,50`, `1234,5`. A
 * text that is no number, or is ambiguous like `1,234`, stays as it is.
 */
export function plainNumber(cell: string): string {
  const number = cell.replace(UNITS, '').replaceAll(/\s/g, '');
  if (/^[1-9]\d{0,2}[.,]\d{3}$/.test(number)) return number;
  if (!GROUPED.test(number)) return number.replace('.', ',');
  const signs = number.match(/[.,]/g) ?? [];
  const decimal = signs.at(-1) ?? '';
  if (signs.every((sign) => sign === decimal)) return number.replaceAll(decimal, '');
  const [whole = '', decimals = ''] = number.split(decimal);
  return `${whole.replaceAll(/[.,]/g, '')},${decimals}`;
}
