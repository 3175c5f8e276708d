import { folded, wordsOf } from '../invoice/search/fold.ts';
import { type Cell, cellText, type SheetRow } from './cell.ts';
import { choiceKey } from './choices.ts';
import type { LaidColumn, Layout } from './layout.ts';
import type { IgnoredReason } from './reading.ts';
import { headerKey } from './recognize-columns.ts';
import type { RowFault } from './row-rules.ts';

/** What a row is. */
export type RowRole =
  | { readonly role: 'empty' }
  | { readonly role: 'ignored'; readonly reason: IgnoredReason /** Of a hidden row. */; readonly key: string | null }
  /** The first row of an invoice. Null: the invoice has no key. */
  | { readonly role: 'begins'; readonly key: string | null; readonly fault: RowFault | null }
  | { readonly role: 'continues'; readonly fault: RowFault | null };

/** How sums are named, folded. */
const TOTALS =
  /^(sous|grand|montant|somme)?(total|totaux|somme|sum|subtotal|grandtotal|totals|المجموع|مجموع|الاجمالي|اجمالي|المجموعالعام)(general|generale|ht|ttc|tva|net|brut|apayer|mad|dh|العام|الكلي)*$/;

/**
 * Makes a function that says what each row of a sheet is, in their order. It remembers the invoice to which the next row
 * may belong.
 */
export function createRowRoles(layout: Layout): (row: SheetRow) => RowRole {
  /** The key of the present invoice; undefined before the first. */
  let current: string | null | undefined;
  let customer = '';
  /** The first row of the present invoice. */
  let beginning: SheetRow['cells'] = [];
  /**
   * Why rows that continue do not belong to the present invoice: the beginning of another one was left out between them,
   * because it is hidden, or has nothing but a customer or a key.
   */
  let left: RowFault | null = null;

  function begin(key: string | null, cells: SheetRow['cells'], fault: RowFault | null): RowRole {
    current = key;
    customer = customerOf(layout, cells);
    beginning = cells;
    left = null;
    return { role: 'begins', key, fault };
  }

  return (row) => {
    const { cells } = row;
    if (cells.every((cell) => cell === null)) return { role: 'empty' };
    const key = keyOf(layout, cells);
    const { reason, isOwn } = ignoredReason(layout, row);
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
    if (isContinued && current !== undefined)
      return { role: 'continues', fault: key === null && isCalledTotal(layout, cells) ? 'may_be_total' : null };
    // It may be a line of the invoice above, which would be incomplete without it.
    const isSame = current != null ? customer === customerOf(layout, cells) : mayContinue(layout, beginning, cells);
    if (key === null && current !== undefined && left === null && isSame)
      return { role: 'continues', fault: 'document_missing' };
    if (isContinued) return begin(key, cells, 'no_beginning');
    return begin(key, cells, key === null && layout.needsKey ? 'document_missing' : null);
  };
}

const TOTAL_WORDS = new Set(['total', 'totaux', 'subtotal', 'somme', 'sum', 'المجموع', 'مجموع', 'الاجمالي', 'اجمالي']);
const BEFORE_TOTAL = new Set(['sous', 'grand', 'montant', 'sub']);

/** Whether the description of a row begins like the name of a sum: `Total facture A`. */
function isCalledTotal({ descriptionColumn }: Layout, cells: SheetRow['cells']): boolean {
  const text = descriptionColumn === null ? '' : cellText(cells[descriptionColumn] ?? null);
  const [first = '', second = ''] = wordsOf(folded(text.slice(0, 100)));
  return TOTAL_WORDS.has(first) || (BEFORE_TOTAL.has(first) && TOTAL_WORDS.has(second));
}

function keyOf({ keyColumn }: Layout, cells: SheetRow['cells']): string | null {
  return keyColumn === null ? null : cellText(cells[keyColumn] ?? null) || null;
}

function customerOf({ customerColumns }: Layout, cells: SheetRow['cells']): string {
  return customerColumns.map((index) => cellText(cells[index] ?? null)).join('\n');
}

/**
 * Whether a row without a key may be a line of the invoice above, as exports of shops have them: it has the same order,
 * or repeats a part of the customer without the name.
 */
function mayContinue(
  { orderColumn, nameColumn, customerColumns }: Layout,
  first: SheetRow['cells'],
  cells: SheetRow['cells'],
): boolean {
  const textOf = (row: SheetRow['cells'], index: number | null) => (index === null ? '' : cellText(row[index] ?? null));
  const order = textOf(cells, orderColumn);
  if (order !== '' && order === textOf(first, orderColumn)) return true;
  const repeated = customerColumns.filter((index) => textOf(cells, index) !== '');
  if (nameColumn === null || repeated.includes(nameColumn)) return false;
  return repeated.every((index) => textOf(cells, index) === textOf(first, index));
}

function hasCustomer({ customerColumns }: Layout, cells: SheetRow['cells']): boolean {
  return customerColumns.some((index) => cells[index] != null);
}

/**
 * Finds why a row that has content is no part of an invoice: it repeats the header row, it has a sum, or it has one text
 * beside the table, such as who exported it.
 */
function ignoredReason(
  layout: Layout,
  { cells }: SheetRow,
): { readonly reason: IgnoredReason | null; readonly isOwn: boolean } {
  const filled = [...cells.entries()].filter((entry): entry is [number, Cell] => entry[1] !== null);
  const own = filled.filter(([index]) => layout.columns.some((column) => column.index === index && isOwnKind(column)));
  const isOwn = own.length > 0;
  const is = (reason: IgnoredReason | null) => ({ reason, isOwn });
  if (own.length >= 2 && own.every(([index, cell]) => isHeader(layout, index, cell))) return is('repeated_header');
  const texts = filled.filter(([, cell]) => cell.kind === 'text' && !/\d/.test(cell.text));
  const named = texts.find(([, cell]) => TOTALS.test(choiceKey(cellText(cell))));
  if (named && !isLine(layout, cells)) {
    const others = [layout.keyColumn, ...layout.customerColumns].filter((index) => index !== named[0]);
    if (others.every((index) => index === null || cells[index] == null)) return is('total');
  }
  if (filled.length === 1 && filled[0]?.[0] !== layout.descriptionColumn) {
    const [cell] = filled[0]?.slice(1) ?? [];
    return is(isSumAlone(cell as Cell) ? 'total' : 'note');
  }
  if (!isOwn) return is('note');
  return is(!isPriced(layout, cells) && isRowOfSums(layout, own) ? 'total' : null);
}

/** What another program says of a document makes no row of an invoice. */
function isOwnKind({ column: { kind } }: LaidColumn): boolean {
  return kind !== 'sourceState' && kind !== 'sourceCancelled';
}

function isHeader({ headerKeys }: Layout, index: number, cell: Cell): boolean {
  return cell.kind === 'text' && headerKey(cell.text) === headerKeys[index];
}

function isSumAlone(cell: Cell): boolean {
  return cell.kind === 'number' || (cell.kind === 'text' && /^total|مجموع|إجمالي/i.test(cell.text.trim()));
}

/** Whether a row has nothing but amounts of which it is not said what they are for. */
function isRowOfSums({ columns }: Layout, own: readonly (readonly [number, Cell])[]): boolean {
  const fields = own.map(([index]) => columns.find((column) => column.index === index)?.column);
  const isAmount = fields.every((column) => column && ['money', 'price', 'quantity'].includes(column.kind));
  return isAmount;
}

/** Whether a row is a complete line, whatever its words are. */
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
