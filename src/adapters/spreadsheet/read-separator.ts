import type { ColumnMapping } from '../../domain/imports/reading.ts';
import { countKnown } from '../../domain/imports/recognize-columns.ts';

export type Separator = ';' | ',' | '\t' | '|';

/** In the order of their frequency in Morocco, which decides between equal candidates. */
const SEPARATORS: readonly Separator[] = [';', ',', '\t', '|'];
/** Maximum number of rows and columns that are compared at the beginning. */
const MOST = { rows: 60, columns: 200 };

/** The separator of a CSV file, decided from its beginning. */
export interface Separation {
  readonly separator: Separator;
  /** Whether the first line states it for Excel: `sep=;`. This line is no row. */
  readonly isStated: boolean;
}

/**
 * Decides the separator of a file: the one that its first line states; else the one that yields a row with the most
 * known headers; else the one with which most rows have the same number of cells.
 * @param beginning of the text
 */
export function decideSeparator(beginning: string, mapping: ColumnMapping | null): Separation {
  const stated = statedSeparator(beginning);
  if (stated !== null) return { separator: stated, isStated: true };
  const scored = SEPARATORS.map((separator) => {
    const rows = splitRows(beginning, separator);
    const known = Math.max(0, ...rows.map((row) => countKnown(row, mapping)));
    const counts = rows.map((row) => row.length).filter((count) => count > 1);
    const alike = Math.max(0, ...counts.map((count) => counts.filter((other) => other === count).length));
    return { separator, known, alike };
  });
  const [best] = scored.toSorted((a, b) => b.known - a.known || b.alike - a.alike);
  return { separator: best?.separator ?? ';', isStated: false };
}

/** Returns the separator that the first line states for Excel, `sep=;`; null if it states none. */
export function statedSeparator(beginning: string): Separator | null {
  const [, stated] = /^"?sep=([;,\t|])"?[\r\n]/i.exec(beginning) ?? [];
  return (stated as Separator | undefined) ?? null;
}

/** Splits the beginning of a text into rows of cells; the last row may be cut. */
function splitRows(text: string, separator: Separator): readonly (readonly string[])[] {
  const rows: string[][] = [[]];
  let cell = '';
  let isQuoted = false;
  for (const character of text) {
    if (isQuoted) {
      if (character === '"') isQuoted = false;
      else cell += character;
    } else if (character === '"' && cell === '') isQuoted = true;
    else if (character === separator || character === '\n' || character === '\r') {
      const row = rows.at(-1) ?? [];
      if (row.length < MOST.columns) row.push(cell);
      cell = '';
      if (character !== separator) rows.push([]);
      if (rows.length > MOST.rows) break;
    } else cell += character;
  }
  return rows.slice(0, -1).filter((row) => row.length > 0);
}
