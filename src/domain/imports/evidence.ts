import { type Cell, lineOf, type SheetRow } from './cell.ts';
import type { Conventions } from './cell-value.ts';
import { type Choices, choiceOf } from './choices.ts';
import type { ColumnKind } from './columns.ts';
import { type DateOrder, dateOf, decideOrder } from './dates.ts';
import type { LaidColumn } from './layout.ts';
import { decideSign, numberOf } from './numbers.ts';

const NUMBERS: ReadonlySet<ColumnKind> = new Set(['quantity', 'money', 'price', 'percent']);

/** What the cells of a file tell about how it writes numbers and dates. */
export interface Evidence {
  note(row: SheetRow): void;
  /** `textDates`: whether a date is a text. */
  decide(): Conventions & { readonly hasTextDates: boolean };
  /** Whether most cells of the column of rates are rates. A column of this name may have amounts of tax instead. */
  areRates(): boolean;
}

export function collectEvidence(columns: readonly LaidColumn[], choices: Choices): Evidence {
  const signs = { '.': 0, ',': 0 };
  const orders: Record<DateOrder, number> = { dmy: 0, ymd: 0, mdy: 0 };
  const told = columns.filter(({ column: { kind } }) => NUMBERS.has(kind) || kind === 'date' || kind === 'taxRate');
  const rates = { known: 0, other: 0 };
  let hasTextDates = false;

  function noteCell(kind: ColumnKind, cell: Cell): void {
    if (kind === 'taxRate') {
      if ('fault' in choiceOf(cell, kind, choices)) rates.other++;
      else rates.known++;
    } else if (cell.kind === 'text' && kind === 'date') {
      const date = dateOf(lineOf(cell.text));
      if (date === null) return;
      hasTextDates = true;
      if (date.order !== null) orders[date.order]++;
    } else if (cell.kind === 'text') {
      const sign = numberOf(lineOf(cell.text))?.sign ?? null;
      if (sign !== null) signs[sign]++;
    }
  }

  return {
    note({ cells }) {
      for (const { index, column } of told) {
        const cell = cells[index] ?? null;
        if (cell !== null) noteCell(column.kind, cell);
      }
    },
    decide: () => ({ decimalSign: decideSign(signs), dateOrder: decideOrder(orders), hasTextDates }),
    areRates: () => rates.known >= rates.other,
  };
}
