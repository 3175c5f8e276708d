import { folded } from '../invoice/search/fold.ts';
import { type Cell, cellText, lineOf, type SheetRow } from './cell.ts';
import type { Conventions } from './cell-value.ts';
import type { Choices } from './choices.ts';
import type { ColumnKind } from './columns.ts';
import { type DateOrder, dateOf, decideOrder } from './dates.ts';
import type { LaidColumn } from './layout.ts';
import { decideSign, numberOf } from './numbers.ts';
import { stateOf } from './read-state.ts';
import { collectTaxEvidence } from './tax-evidence.ts';

const NUMBERS: ReadonlySet<ColumnKind> = new Set(['quantity', 'money', 'price', 'percent']);
const OTHERS: ReadonlySet<ColumnKind> = new Set(['date', 'sourceState', 'number']);

/** Collects evidence from the cells of a file on how it writes numbers and dates. */
export interface Evidence {
  note(row: SheetRow): void;
  /** `textDates`: whether any date is a text. */
  decide(): Conventions & { readonly hasTextDates: boolean };
  /** Whether the column of rates contains rates. A column with such a header may contain amounts of tax instead. */
  areRates(): boolean;
  /** Whether the numbers of invoices may only count rows or invoices: each consists of at most four digits. */
  areCounts(): boolean;
  /** Returns the indexes of the columns of kinds or states of documents that contain at least one known word. */
  knownStates(): ReadonlySet<number>;
}

export function collectEvidence(columns: readonly LaidColumn[], choices: Choices): Evidence {
  const signs = { '.': 0, ',': 0 };
  const orders: Record<DateOrder, number> = { dmy: 0, ymd: 0, mdy: 0 };
  const told = columns.filter(({ column: { kind } }) => NUMBERS.has(kind) || OTHERS.has(kind));
  const tax = collectTaxEvidence(columns, choices);
  /** By index of the column of dates: number of cells that are dates, and of texts that write the month as a number. */
  const dates = new Map<number, { cells: number; texts: number }>();
  const states = new Set<number>();
  const numbers = { counts: 0, others: 0 };
  let unclear = 0;
  let hasTextDates = false;

  function noteDate(index: number, cell: Cell): void {
    const of = dates.get(index) ?? { cells: 0, texts: 0 };
    dates.set(index, of);
    if (cell.kind === 'day') of.cells++;
    if (cell.kind !== 'text') return;
    const date = dateOf(lineOf(cell.text));
    if (date === null) return;
    hasTextDates = true;
    if (date.order !== null) orders[date.order]++;
    else if (date.day === null) unclear++;
    if (date.day === null || date.order === 'dmy' || date.order === 'mdy') of.texts++;
  }

  function noteNumber(cell: Cell): void {
    const sign = cell.kind === 'text' ? (numberOf(lineOf(cell.text))?.sign ?? null) : null;
    if (sign !== null) signs[sign]++;
  }

  return {
    note({ cells }) {
      tax.note(cells);
      for (const { index, column } of told) {
        const cell = cells[index] ?? null;
        if (cell === null) continue;
        if (column.kind === 'date') noteDate(index, cell);
        else if (column.kind === 'number') numbers[/^\d{1,4}$/.test(folded(cellText(cell))) ? 'counts' : 'others']++;
        else if (column.kind === 'sourceState') {
          if (stateOf(cell) !== null) states.add(index);
        } else noteNumber(cell);
      }
    },
    decide: () => ({
      decimalSign: decideSign(signs),
      dateOrder: decideOrder(orders, unclear),
      hasSwapped: dates.values().some(({ cells, texts }) => cells > 0 && texts > 0),
      hasTextDates,
    }),
    areRates: tax.areRates,
    areCounts: () => numbers.counts > 0 && numbers.others === 0,
    knownStates: () => states,
  };
}
