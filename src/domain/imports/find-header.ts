import { cellText, type SheetRow } from './cell.ts';
import { IMPORT_LIMITS, REPORTED } from './limits.ts';
import { type ColumnMapping, UnreadableFile } from './reading.ts';
import { countKnown } from './recognize-columns.ts';
import type { Table } from './table.ts';

/** The row that names the columns of a table. */
export interface Header {
  readonly table: Table;
  readonly row: number;
  readonly texts: readonly string[];
  /** Number of fields that its texts name. */
  readonly known: number;
}

/**
 * Minimum number of known fields in a header row. Without such a row, the first row of column names is the header row.
 */
const ENOUGH = 2;
/** Maximum number of sheets that are searched. */
const MOST_SHEETS = 20;

/**
 * Finds the header row: the row that names most fields, among the first rows of each sheet. If no row names enough
 * fields, it is the first row with several texts and no figures, and a person must choose the fields of its columns.
 * @throws {UnreadableFile} when there is none
 */
export async function findHeader(tables: readonly Table[], mapping: ColumnMapping | null): Promise<Header> {
  let best: Header | null = null;
  let isEmpty = true;
  for (const table of tables.slice(0, MOST_SHEETS)) {
    for (const row of await firstRows(table)) {
      isEmpty = false;
      const header = headerOf(table, row, mapping);
      if (header !== null && (best === null || header.known > Math.max(best.known, ENOUGH - 1))) best = header;
    }
  }
  if (best !== null) return best;
  throw new UnreadableFile(isEmpty ? 'empty' : 'no_header', isEmpty ? {} : { most: IMPORT_LIMITS.rowsBeforeHeader });
}

async function firstRows(table: Table): Promise<readonly SheetRow[]> {
  const found: SheetRow[] = [];
  for await (const rows of table.rows()) {
    found.push(...rows.filter(({ cells }) => cells.some((cell) => cell !== null)));
    if (found.length > IMPORT_LIMITS.rowsBeforeHeader) break;
  }
  return found.slice(0, IMPORT_LIMITS.rowsBeforeHeader + 1);
}

function headerOf(table: Table, { row, cells }: SheetRow, mapping: ColumnMapping | null): Header | null {
  const texts = cells.map((cell) => cellText(cell).slice(0, REPORTED.value));
  const known = countKnown(texts, mapping);
  if (known >= ENOUGH) return { table, row, texts, known };
  const filled = cells.filter((cell) => cell !== null);
  const isNames = filled.length > 1 && filled.every((cell) => cell.kind === 'text' && !/^[\d\s.,/-]+$/.test(cell.text));
  return isNames ? { table, row, texts, known: 0 } : null;
}
