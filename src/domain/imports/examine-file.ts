import type { DocumentLanguage } from '../document-language.ts';
import type { MergedCells, SheetRow } from './cell.ts';
import type { Conventions } from './cell-value.ts';
import type { Choices } from './choices.ts';
import { collectEvidence } from './evidence.ts';
import { findHeader, type Header } from './find-header.ts';
import { type OpenRows, openRows } from './invoice-rows.ts';
import { type Layout, layoutOf } from './layout.ts';
import { IMPORT_LIMITS, REPORTED } from './limits.ts';
import {
  type ColumnMapping,
  type FileReading,
  type InvoiceRows,
  PRIVATE_CUSTOMERS,
  type ReadColumn,
  UnreadableFile,
} from './reading.ts';
import { languageOf, missingFields, recognizeColumns } from './recognize-columns.ts';
import { createRowRoles } from './row-roles.ts';
import { settleColumns } from './settle-columns.ts';
import type { OpenFile, Table } from './table.ts';

/** The results of the first reading of a file, which the second reading needs. */
export interface Examination {
  readonly reading: FileReading;
  readonly table: Table;
  readonly layout: Layout;
  readonly conventions: Conventions;
  readonly merged: readonly MergedCells[];
  /** Keys of invoices whose rows are not adjacent, with the first row of each part. */
  readonly apart: ReadonlyMap<string, readonly number[]>;
  /** Keys of hidden rows that do not continue an invoice. */
  readonly hidden: ReadonlySet<string>;
  /** The rows of all invoices, in the order of the file. Empty if a required column is missing. */
  readonly rows: readonly InvoiceRows[];
}

interface Options {
  readonly mapping: ColumnMapping | null;
  readonly language: DocumentLanguage;
  readonly choices: Choices;
}

/**
 * Reads a whole file once and decides how to interpret it: which column has which field, how numbers and dates are
 * written, and which rows belong to no invoice. So a file beyond a limit is refused before any invoice is read.
 * @throws {UnreadableFile}
 */
export async function examineFile(file: OpenFile, { mapping, language, choices }: Options): Promise<Examination> {
  const header = await findHeader(file.tables, mapping);
  const columns = recognizeColumns(header.texts, mapping);
  const found = await readRows(header, columns, choices);
  const used = settleColumns(columns, mapping, found.evidence);
  const missing = missingFields(used);
  const { decimalSign, dateOrder, hasTextDates } = found.conventions;
  return {
    reading: {
      ...file.form,
      sheet: header.table.sheet,
      otherSheets: file.tables.flatMap(({ sheet }) => (sheet === null || sheet === header.table.sheet ? [] : [sheet])),
      decimalSign,
      dateOrder: hasTextDates ? dateOrder : null,
      headerRow: header.row,
      columns: used,
      missing,
      language: languageOf(header.texts) ?? language,
      // If a column is missing, a row of the table cannot be distinguished from texts beside the table.
      ignoredRows: missing.length > 0 ? [] : found.ignored,
      rows: found.rows,
      invoices: missing.length > 0 ? 0 : found.invoices.length,
      ...(mapping?.[PRIVATE_CUSTOMERS] && { privateCustomers: true }),
    },
    table: header.table,
    layout: layoutOf(header.table.sheet, header.row, used),
    conventions: { decimalSign, dateOrder, hasSwapped: found.conventions.hasSwapped },
    merged: apartFrom(found.merged.filter(({ lastRow }) => lastRow > header.row)),
    apart: found.apart,
    hidden: found.hidden,
    rows: missing.length > 0 ? [] : found.invoices,
  };
}

async function readRows(header: Header, columns: readonly ReadColumn[], choices: Choices) {
  const layout = layoutOf(header.table.sheet, header.row, columns);
  const roleOf = createRowRoles(layout);
  const evidence = collectEvidence(layout.columns, choices);
  const ignored: { row: number; reason: FileReading['ignoredRows'][number]['reason'] }[] = [];
  const starts = new Map<string, number[]>();
  const hidden = new Set<string>();
  let merged: readonly MergedCells[] = [];
  const invoices: InvoiceRows[] = [];
  let open: OpenRows | null = null;
  let rows = 0;

  function note(row: SheetRow): void {
    const role = roleOf(row);
    if (role.role === 'empty') return;
    if (++rows > IMPORT_LIMITS.rows) throw new UnreadableFile('too_many_rows', { most: IMPORT_LIMITS.rows });
    if (role.role === 'ignored') {
      if (ignored.length < REPORTED.ignoredRows) ignored.push({ row: row.row, reason: role.reason });
      if (role.key !== null) hidden.add(role.key);
      return;
    }
    evidence.note(row);
    if (role.role === 'continues') {
      open?.add(row);
      return;
    }
    if (open) invoices.push(open.end());
    open = openRows(layout);
    open.add(row);
    if (invoices.length >= IMPORT_LIMITS.invoices)
      throw new UnreadableFile('too_many_invoices', { most: IMPORT_LIMITS.invoices });
    if (role.key !== null) starts.set(role.key, [...(starts.get(role.key) ?? []), row.row]);
  }

  const all = header.table.rows((cells) => {
    merged = cells;
  });
  for await (const batch of all) {
    for (const row of batch) if (row.row > header.row) note(row);
  }
  if (open) invoices.push((open as OpenRows).end());
  const apart = new Map(starts.entries().filter(([, places]) => places.length > 1));
  return {
    conventions: evidence.decide(),
    evidence,
    ignored,
    rows,
    invoices,
    merged,
    apart,
    hidden,
  };
}

/** @throws {UnreadableFile} when merged cells of a column overlap, which no program writes */
function apartFrom(merged: readonly MergedCells[]): readonly MergedCells[] {
  const sorted = merged.toSorted((a, b) => a.firstColumn - b.firstColumn || a.firstRow - b.firstRow);
  for (const [nth, range] of sorted.entries()) {
    const before = sorted[nth - 1];
    if (before?.firstColumn === range.firstColumn && before.lastRow >= range.firstRow)
      throw new UnreadableFile('damaged');
  }
  return merged;
}
