import type { Cell, SheetRow } from './cell.ts';
import { cellText, shownText } from './cell.ts';
import type { Conventions } from './cell-value.ts';
import type { Choices } from './choices.ts';
import { isOfInput, NAMES } from './columns.ts';
import { withConsequences } from './consequences.ts';
import type { LaidColumn, Layout } from './layout.ts';
import { IMPORT_LIMITS, REPORTED } from './limits.ts';
import { readValue } from './read-value.ts';
import type { ReadInvoice, RowProblem, ShownCell } from './reading.ts';
import type { RowFault } from './row-rules.ts';

/** The settings and tables with which the rows of one invoice are read. */
export interface Reader {
  readonly layout: Layout;
  readonly conventions: Conventions;
  readonly choices: Choices;
  /** Whether customers without an ICE are private persons. */
  readonly privateCustomers: boolean;
}

type Facts = RowProblem['facts'];

/** The invoice whose rows are being read. */
export interface OpenInvoice {
  /**
   * Adds a row.
   * @param cells the row's cells, filled from the merged cells that cover them
   * @param merged the columns in which the row shares a merged cell with another row
   */
  add(row: SheetRow, cells: SheetRow['cells'], merged: ReadonlySet<number>): void;
  /** Reports a fault of a row as a whole. */
  report(row: number, fault: RowFault, facts?: Facts): void;
  /** Returns the invoice that was read. */
  close(): ReadInvoice;
}

/** Kinds of cells whose value counts once. If such a cell is merged over several lines, its line is unknown. */
const AMOUNTS: ReadonlySet<string> = new Set(['quantity', 'money', 'price']);

/** Begins an invoice. @param found the known parts of the invoice before its rows are read */
export function openInvoice(
  { layout, conventions, choices, privateCustomers }: Reader,
  found: Pick<ReadInvoice, 'nth' | 'firstRow' | 'raw' | 'resultNumber'>,
): OpenInvoice {
  const { firstRow } = found;
  const { sheet, columns } = layout;
  const values = new Map<string, unknown>();
  const lines: Map<string, unknown>[] = [];
  const origins: Record<string, ShownCell> = {};
  const problems: RowProblem[] = [];
  /** The texts of cells with faults, so that a cell that is repeated on each line is reported once. */
  const refused = new Map<string, string>();
  let label: string | null = null;
  let lastRow = firstRow;

  function problem(shown: ShownCell, fault: RowFault, param: string | null, facts: Facts = {}): void {
    if (problems.length >= REPORTED.problems) return;
    const { header, value, ...place } = shown;
    problems.push({ place, header, value, code: fault, param, facts });
  }

  function shownCell(row: number, { index, header }: LaidColumn, cell: Cell | null): ShownCell {
    return { sheet, row, column: index, header: header || null, value: shownText(cell) };
  }

  function readCell(row: number, laid: LaidColumn, cell: Cell, line: Map<string, unknown> | null): void {
    const { field, kind } = laid.column;
    const shown = shownCell(row, laid, cell);
    const param = line === null ? field : `lines.${lines.length - 1}.${field.slice('line.'.length)}`;
    const read = readValue(cell, kind, conventions, choices);
    if ('fault' in read) {
      if (line === null && refused.get(field) === cellText(cell)) return;
      refused.set(field, cellText(cell));
      origins[param] ??= shown;
      problem(shown, read.fault, paramOf(param), read.facts);
      return;
    }
    if (line !== null) {
      line.set(field, read.value);
      origins[param] = shown;
      return;
    }
    const before = origins[field];
    if (before === undefined) {
      values.set(field, read.value);
      origins[field] = shown;
    } else if (values.has(field) && values.get(field) !== read.value) {
      problem(shown, 'differs', paramOf(field), { first: before.value ?? '', firstRow: before.row });
    }
  }

  return {
    add(row, cells, merged) {
      lastRow = row.row;
      const key = layout.keyColumn === null ? '' : cellText(row.cells[layout.keyColumn] ?? null);
      label ??= key.slice(0, REPORTED.value) || null;
      // `lines` may exceed the maximum of an invoice by one: the invoice's own rule reports the excess.
      const isLine = lines.length < IMPORT_LIMITS.lines;
      const line = new Map<string, unknown>();
      if (isLine) {
        lines.push(line);
        origins[`lines.${lines.length - 1}`] = { sheet, row: row.row, column: null, header: null, value: null };
      }
      for (const laid of columns) {
        const { level, kind } = laid.column;
        const cell = cells[laid.index] ?? null;
        if (level === 'line' && AMOUNTS.has(kind) && merged.has(laid.index)) {
          problem(shownCell(row.row, laid, cell), 'merged_amount', null);
        } else if (cell !== null && (level === 'invoice' || isLine)) {
          readCell(row.row, laid, cell, level === 'line' ? line : null);
        } else if (isLine && level === 'line' && isNeeded(laid, columns)) {
          const param = `lines.${lines.length - 1}.${laid.column.field.slice('line.'.length)}`;
          problem(shownCell(row.row, laid, null), 'cell_empty', paramOf(param));
        }
      }
    },
    report(row, fault, facts) {
      problem({ sheet, row, column: null, header: null, value: null }, fault, null, facts);
    },
    close() {
      const named = columns.find(({ column }) => NAMES.some((field) => field === column.field));
      if (named && NAMES.every((field) => origins[field] === undefined))
        problem(shownCell(firstRow, named, null), 'cell_empty', 'customer.name');
      const { input, faults } = withConsequences(values, lines, origins, privateCustomers);
      for (const { param, fault, facts } of faults) {
        const shown = origins[param];
        if (shown) problem(shown, fault, paramOf(param), facts);
      }
      const shown = label ?? shownNumber(values);
      return { ...found, sheet, lastRow, label: shown, input, problems, origins };
    },
  };
}

/**
 * Whether each line needs a cell of this column. If the file does not have an optional column, the service's default
 * applies. If it has the column, an empty cell is a fault, because its meaning is unknown.
 */
function isNeeded({ column: { field, isRequired } }: LaidColumn, columns: readonly LaidColumn[]): boolean {
  if (isRequired || field === 'line.quantity' || field === 'line.taxRate') return true;
  const other = field === 'line.unitPrice' ? 'line.unitPriceWithTax' : 'line.unitPrice';
  return field.startsWith('line.unitPrice') && !columns.some(({ column }) => column.field === other);
}

/** Returns the field's path in the input; null if it is no field of the input. */
function paramOf(field: string): string | null {
  return field.startsWith('lines.') || isOfInput(field)
    ? field.replace(/(?<=\.)(amount|unitPrice)(AsPriced|WithTax)$/, '$1')
    : null;
}

function shownNumber(values: ReadonlyMap<string, unknown>): string | null {
  const number = values.get('number');
  return typeof number === 'string' ? number.slice(0, REPORTED.value) : null;
}
