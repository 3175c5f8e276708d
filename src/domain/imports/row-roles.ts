import { type Cell, cellText, type SheetRow } from './cell.ts';
import type { ColumnKind } from './columns.ts';
import type { LaidColumn, Layout } from './layout.ts';
import type { IgnoredReason } from './reading.ts';
import { headerKey } from './recognize-columns.ts';
import type { RowFault } from './row-rules.ts';
import { isCalledSum, isSumName } from './sum-words.ts';

/** The role of a row. */
export type RowRole =
  | { readonly role: 'empty' }
  | { readonly role: 'ignored'; readonly reason: IgnoredReason /** Of a hidden row. */; readonly key: string | null }
  /** The first row of an invoice. Null: the invoice has no key. */
  | { readonly role: 'begins'; readonly key: string | null; readonly fault: RowFault | null }
  | { readonly role: 'continues'; readonly fault: RowFault | null };

/**
 * Makes a function that returns the role of each row of a sheet, called in their order. It remembers the invoice that
 * the next row may continue.
 */
export function createRowRoles(layout: Layout): (row: SheetRow) => RowRole {
  /** The key of the current invoice; undefined before the first. */
  let current: string | null | undefined;
  let customer = '';
  /** The first row of the current invoice. */
  let beginning: SheetRow['cells'] = [];
  /**
   * Why the next rows do not continue the current invoice: between them, the first row of another invoice was left out,
   * because it is hidden, or has only a customer or a key. Null: they may continue it.
   */
  let left: RowFault | null = null;
  /** Whether the previous row was left out because it has a sum. */
  let isAfterSum = false;

  function begin(key: string | null, cells: SheetRow['cells'], fault: RowFault | null): RowRole {
    current = key;
    customer = customerOf(layout, cells);
    beginning = cells;
    left = null;
    return { role: 'begins', key, fault: fault ?? (isSubtotal(layout, cells) ? 'may_be_total' : null) };
  }

  return (row) => {
    const { cells } = row;
    if (cells.every((cell) => cell === null)) return { role: 'empty' };
    const key = keyOf(layout, cells);
    const alone = current === undefined || isAfterSum ? null : aloneIn(layout, cells);
    const { reason, isOwn } = ignoredReason(layout, row, alone !== null);
    isAfterSum = reason === 'total';
    if (reason !== null) {
      const isOther = key === null ? hasCustomer(layout, cells) : key !== current;
      if (reason !== 'repeated_header' && isOther) left ??= 'no_beginning';
      return { role: 'ignored', reason, key: null };
    }
    const isContinued = key === null ? isOwn && !hasCustomer(layout, cells) : key === current;
    if (row.isHidden) {
      if (isContinued && current !== undefined && left === null) return { role: 'continues', fault: 'hidden_row' };
      if (!isContinued) left = 'hidden_row';
      return { role: 'ignored', reason: 'hidden', key };
    }
    if (isContinued && left !== null) return begin(key, cells, left);
    if (isContinued && current !== undefined) {
      const isSum = alone === 'quantity' || isCalledTotal(layout, cells);
      return { role: 'continues', fault: key === null && isSum ? 'may_be_total' : null };
    }
    // Without this fault, a row that may be a line of the invoice above would be missing in that invoice.
    const isSame = current != null ? customer === customerOf(layout, cells) : mayContinue(layout, beginning, cells);
    if (key === null && current !== undefined && left === null && isSame)
      return { role: 'continues', fault: 'document_missing' };
    if (isContinued) return begin(key, cells, 'no_beginning');
    return begin(key, cells, key === null && layout.needsKey ? 'document_missing' : null);
  };
}

/** Whether the description of a row begins like the name of a sum: `Total facture A`. */
function isCalledTotal({ descriptionColumn }: Layout, cells: SheetRow['cells']): boolean {
  return isCalledSum(textAt(cells, descriptionColumn));
}

/** Whether a row is called a sum in its key or customer, and in its description, as subtotals of exports are. */
function isSubtotal({ descriptionColumn, keyColumn, nameColumn }: Layout, cells: SheetRow['cells']): boolean {
  const isCalled = [keyColumn, nameColumn].some((index) => isCalledSum(textAt(cells, index)));
  return isCalled && isSumName(textAt(cells, descriptionColumn));
}

function textAt(cells: SheetRow['cells'], index: number | null): string {
  return index === null ? '' : cellText(cells[index] ?? null);
}

function keyOf({ keyColumn }: Layout, cells: SheetRow['cells']): string | null {
  return textAt(cells, keyColumn) || null;
}

function customerOf({ customerColumns }: Layout, cells: SheetRow['cells']): string {
  return customerColumns.map((index) => cellText(cells[index] ?? null)).join('\n');
}

/**
 * Whether a row without a key may be a line of the invoice above, as in exports of shops: it has the same order, or
 * repeats a part of the customer without the name.
 */
function mayContinue(
  { orderColumn, nameColumn, customerColumns }: Layout,
  first: SheetRow['cells'],
  cells: SheetRow['cells'],
): boolean {
  const order = textAt(cells, orderColumn);
  if (order !== '' && order === textAt(first, orderColumn)) return true;
  const repeated = customerColumns.filter((index) => textAt(cells, index) !== '');
  if (nameColumn === null || repeated.includes(nameColumn)) return false;
  return repeated.every((index) => textAt(cells, index) === textAt(first, index));
}

function hasCustomer({ customerColumns }: Layout, cells: SheetRow['cells']): boolean {
  return customerColumns.some((index) => cells[index] != null);
}

/**
 * Returns the column's kind of the only cell of a row, if the column is of lines; else null. The cell may be a part of
 * a line, without which the invoice is incomplete, or a sum.
 */
function aloneIn({ columns }: Layout, cells: SheetRow['cells']): ColumnKind | null {
  const [first, ...others] = [...cells.entries()].filter(([, cell]) => cell !== null);
  const laid = others.length > 0 ? undefined : columns.find(({ index }) => index === first?.[0]);
  return laid?.column.level === 'line' && !isSumName(textAt(cells, laid.index)) ? laid.column.kind : null;
}

/**
 * Finds why a row with content belongs to no invoice: it repeats the header row, it has a sum, or it has one text
 * beside the table, such as the name of the exporting user.
 */
function ignoredReason(
  layout: Layout,
  { cells }: SheetRow,
  isAlone: boolean,
): { readonly reason: IgnoredReason | null; readonly isOwn: boolean } {
  const filled = [...cells.entries()].filter((entry): entry is [number, Cell] => entry[1] !== null);
  const own = filled.filter(([index]) => layout.columns.some((column) => column.index === index && isOwnKind(column)));
  const isOwn = own.length > 0;
  const is = (reason: IgnoredReason | null) => ({ reason, isOwn });
  if (own.length >= 2 && own.every(([index, cell]) => isHeader(layout, index, cell))) return is('repeated_header');
  const named = filled.find(([, cell]) => cell.kind === 'text');
  if (named && isNamedSum(layout, ...named) && !isLine(layout, cells)) {
    const others = [layout.keyColumn, ...layout.customerColumns].filter((index) => index !== named[0]);
    if (others.every((index) => index === null || cells[index] == null)) return is('total');
  }
  if (filled.length === 1 && filled[0]?.[0] !== layout.descriptionColumn && !isAlone) {
    const [cell] = filled[0]?.slice(1) ?? [];
    return is(isSumAlone(cell as Cell) ? 'total' : 'note');
  }
  if (!isOwn) return is('note');
  return is(!isAlone && !isPriced(layout, cells) && isRowOfSums(layout, own) ? 'total' : null);
}

/** The kind or state of a document in another program does not make its row part of an invoice. */
function isOwnKind({ column: { kind } }: LaidColumn): boolean {
  return kind !== 'sourceState' && kind !== 'sourceCancelled';
}

function isHeader({ headerKeys }: Layout, index: number, cell: Cell): boolean {
  return cell.kind === 'text' && headerKey(cell.text) === headerKeys[index];
}

/**
 * Whether the first text of a row is the name of a sum: one without digits, or one in the key's column, such as `Total
 * FA12`.
 */
function isNamedSum({ keyColumn }: Layout, index: number, cell: Cell): boolean {
  const text = cellText(cell);
  return index === keyColumn ? isCalledSum(text) : !/\d/.test(text) && isSumName(text);
}

function isSumAlone(cell: Cell): boolean {
  return cell.kind === 'number' || isCalledSum(cellText(cell));
}

/** Whether a row has only amounts, without anything that they are for. */
function isRowOfSums({ columns }: Layout, own: readonly (readonly [number, Cell])[]): boolean {
  const fields = own.map(([index]) => columns.find((column) => column.index === index)?.column);
  const isAmount = fields.every((column) => column && ['money', 'price', 'quantity'].includes(column.kind));
  return isAmount;
}

/** Whether a row is a complete line, independent of its words. */
function isLine(layout: Layout, cells: SheetRow['cells']): boolean {
  const { descriptionColumn } = layout;
  return isPriced(layout, cells) && descriptionColumn !== null && cells[descriptionColumn] != null;
}

/** Whether a row has all the figures of a line. */
function isPriced({ columns }: Layout, cells: SheetRow['cells']): boolean {
  const has = (field: string) =>
    columns.some(({ column, index }) => column.field.startsWith(field) && cells[index] != null);
  return has('line.quantity') && has('line.unitPrice');
}
