import { TAX_RATES } from '../invoice/tax-rate.ts';
import { type Cell, cellText, lineOf, type SheetRow } from './cell.ts';
import { type Choices, choiceOf } from './choices.ts';
import type { LaidColumn } from './layout.ts';
import { numberOf } from './numbers.ts';
import { headerKey } from './recognize-columns.ts';

/** Decides whether a column called `TVA` has rates or amounts of tax. */
export interface TaxEvidence {
  note(cells: SheetRow['cells']): void;
  areRates(): boolean;
}

/** Words in headers that prove that the column has rates, folded. */
const OF_RATES = new Set(['taux', 'tx', 'rate', '%', 'سعر', 'نسبه']);
/** The rate of most sales, %. */
const ORDINARY = 20;
/** Maximum difference by rounding between an amount and the computed one, dirhams. */
const ROUNDING = 0.006;

/**
 * Collects evidence from the cells of the column of rates. Beside a price of 50, a cell 10 may be the rate 10 % or the
 * amount of tax at 20 %; beside a price of 80, it cannot be an amount. A file in which every cell may be an amount is
 * ambiguous if amounts explain it with fewer rates, or with the ordinary rate where rates would not. A header with a
 * word for rates decides.
 */
export function collectTaxEvidence(columns: readonly LaidColumn[], choices: Choices): TaxEvidence {
  const indexOf = (field: string) => columns.find(({ column }) => column.field === field)?.index ?? null;
  const [rate, quantity] = [indexOf('line.taxRate'), indexOf('line.quantity')];
  const [price, priceWithTax] = [indexOf('line.unitPrice'), indexOf('line.unitPriceWithTax')];
  const header = columns.find(({ index }) => index === rate)?.header ?? '';
  const isCalledRate = headerKey(header)
    .split(' ')
    .some((word) => OF_RATES.has(word));
  const cells = { rates: 0, others: 0 };
  let isNoAmount = false;
  const [stated, ofAmounts] = [new Set<number>(), new Set<number>()];

  function noteRate(row: SheetRow['cells'], cell: Cell, rateOfCell: number): void {
    if (rateOfCell === 0 || isNoAmount) return;
    const count = quantity === null ? 1 : plainOf(row[quantity] ?? null);
    const each = plainOf(row[price ?? priceWithTax ?? -1] ?? null);
    if (count === null || each === null) return;
    const base = count * each;
    const at = (percent: number) => (base * percent) / (price === null ? 100 + percent : 100);
    const fitting = TAX_RATES.find((percent) => percent > 0 && Math.abs(at(percent) - rateOfCell) < ROUNDING);
    isNoAmount = fitting === undefined || isPercentage(cell);
    stated.add(rateOfCell);
    if (fitting !== undefined) ofAmounts.add(fitting);
  }

  function mayBeAmounts(): boolean {
    if (isNoAmount || isCalledRate || ofAmounts.size > stated.size) return false;
    return ofAmounts.size < stated.size || (ofAmounts.has(ORDINARY) && !stated.has(ORDINARY));
  }

  return {
    note(row) {
      const cell = rate === null ? null : (row[rate] ?? null);
      if (cell === null) return;
      const read = choiceOf(cell, 'taxRate', choices);
      if ('fault' in read) cells.others++;
      else {
        cells.rates++;
        noteRate(row, cell, Number(read.value));
      }
    },
    areRates: () => cells.rates >= cells.others && !mayBeAmounts(),
  };
}

/** Whether a cell shows by a sign or a word that it is a rate. */
function isPercentage(cell: Cell): boolean {
  if (cell.kind === 'number') return cell.isPercent;
  const number = numberOf(lineOf(cellText(cell)));
  return number === null || number.isPercent;
}

function plainOf(cell: Cell | null): number | null {
  if (cell?.kind === 'number') return cell.value;
  const plain = cell?.kind === 'text' ? (numberOf(lineOf(cell.text))?.plain ?? null) : null;
  return plain === null ? null : Number(plain);
}
