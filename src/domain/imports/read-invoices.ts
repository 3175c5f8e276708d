import { type OpenInvoice, openInvoice, type Reader } from './build-invoice.ts';
import type { MergedCells, SheetRow } from './cell.ts';
import type { Choices } from './choices.ts';
import { columnOf } from './columns.ts';
import type { Examination } from './examine-file.ts';
import { type ReadInvoice, UnreadableFile } from './reading.ts';
import { createRowRoles } from './row-roles.ts';

/** A batch ends after this number of invoices or lines. */
const BATCH = { invoices: 50, lines: 1000 } as const;

const NONE: ReadonlySet<number> = new Set();

/**
 * Reads the invoices of an examined file, in batches. A faulty row affects only its invoice.
 * @throws {UnreadableFile} when the file has changed since it was examined
 */
export async function* readInvoices(
  { reading, table, layout, conventions, merged, apart, hidden, rows: known }: Examination,
  choices: Choices,
): AsyncGenerator<readonly ReadInvoice[], void, void> {
  if (reading.missing.length > 0) return;
  const reader: Reader = { layout, conventions, choices, privateCustomers: reading.privateCustomers === true };
  const roleOf = createRowRoles(layout);
  const merges = createMerges(merged, reader);
  let batch: ReadInvoice[] = [];
  let [nth, lines] = [0, 0];
  let open: OpenInvoice | null = null;

  function begin(row: number, key: string | null): OpenInvoice {
    const rows = known[nth];
    if (!rows) throw new UnreadableFile('damaged');
    const invoice = openInvoice(reader, { ...rows, nth: nth++, firstRow: row });
    const parts = key === null ? undefined : apart.get(key);
    const other = parts?.find((place) => place !== row);
    if (other !== undefined) invoice.report(row, 'rows_apart', { otherRow: other });
    if (key !== null && hidden.has(key)) invoice.report(row, 'hidden_row');
    return invoice;
  }

  for await (const rows of table.rows()) {
    for (const row of rows) {
      if (row.row <= layout.headerRow) continue;
      const role = roleOf(row);
      if (role.role === 'empty' || role.role === 'ignored') continue;
      if (role.role === 'begins') {
        if (open) batch.push(open.close());
        open = begin(row.row, role.key);
      }
      if (role.fault) open?.report(row.row, role.fault);
      const { cells, columns } = merges(row);
      open?.add(row, cells, columns);
      lines++;
    }
    if (batch.length >= BATCH.invoices || lines >= BATCH.lines) {
      yield batch;
      [batch, lines] = [[], 0];
    }
  }
  if (open) batch.push(open.close());
  if (batch.length > 0) yield batch;
}

/**
 * Makes a function that fills merged cells: the content of the first cell applies to all rows of the range. Two kinds
 * of cells stay empty: those of the key (or of the customer, without a key), because an empty one continues the
 * invoice; and amounts, because their row is unknown.
 */
function createMerges(merged: readonly MergedCells[], { layout }: Reader) {
  const { keyColumn, customerColumns } = layout;
  const fields = new Map(layout.columns.map(({ index, column }) => [index, column.field]));
  const isKept = (index: number) => index === keyColumn || (keyColumn === null && customerColumns.includes(index));
  const ranges = merged
    .filter(
      ({ firstRow, lastRow, firstColumn }) => lastRow > firstRow && fields.has(firstColumn) && !isKept(firstColumn),
    )
    .toSorted((a, b) => a.firstRow - b.firstRow);
  let next = 0;
  /** The ranges that may cover the present row, with the first cell of each. */
  let open: { readonly range: MergedCells; readonly cell: SheetRow['cells'][number] }[] = [];

  return (row: SheetRow): { readonly cells: SheetRow['cells']; readonly columns: ReadonlySet<number> } => {
    open = open.filter(({ range }) => range.lastRow >= row.row);
    for (let range = ranges[next]; range && range.firstRow <= row.row; range = ranges[++next]) {
      const cell = range.firstRow === row.row ? (row.cells[range.firstColumn] ?? null) : null;
      if (range.lastRow >= row.row) open.push({ range, cell });
    }
    if (open.length === 0) return { cells: row.cells, columns: NONE };
    const cells = [...row.cells];
    const columns = new Set<number>();
    for (const { range, cell } of open) {
      columns.add(range.firstColumn);
      const kind = columnOf(fields.get(range.firstColumn) ?? '')?.kind ?? 'text';
      const isAmount = kind === 'quantity' || kind === 'price' || kind === 'money';
      if (!isAmount && range.firstRow < row.row) cells[range.firstColumn] ??= cell;
    }
    return { cells: Array.from(cells, (cell) => cell ?? null), columns };
  };
}
