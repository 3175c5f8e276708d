import type { PricedDocument } from '../../src/domain/invoice/totals.ts';
import { figuresOf } from './recompute-document.ts';
import { type Figures, sumOfFigures } from './recompute-figures.ts';

/** What an invoice has after the shares that count. Only rates with a base are left. */
export function leftOf(invoice: Figures, counted: readonly Figures[]): Figures {
  const taken = sumOfFigures(counted);
  const rates = invoice.rates.map(({ rate, base, tax }) => {
    const less = taken.rates.find((each) => each.rate === rate);
    return { rate, base: base - (less?.base ?? 0n), tax: tax - (less?.tax ?? 0n) };
  });
  return { rates: rates.filter(({ base }) => base > 0n), amount: invoice.amount - taken.amount };
}

/**
 * What remains of a sale after its deposits, recomputed in rational numbers without code of the service.
 * @returns null if they have more than the sale, or more VAT than a rate of which some base remains
 */
export function remainderOf(sale: PricedDocument, deposits: readonly Figures[]): Figures | null {
  const taken = sumOfFigures(deposits).rates;
  const due = figuresOf(sale);
  if (taken.some(({ rate, base }) => base > (due.find((each) => each.rate === rate)?.base ?? 0n))) return null;
  const rates = due.flatMap(({ rate, base, tax }) => {
    const less = taken.find((each) => each.rate === rate);
    if (less === undefined) return [{ rate, base, tax }];
    // A rate that is deducted whole is not stated, whatever rounding leaves of its VAT.
    return base === less.base ? [] : [{ rate, base: base - less.base, tax: tax - less.tax }];
  });
  if (rates.some(({ tax }) => tax < 0n)) return null;
  return { rates, amount: rates.reduce((sum, { base, tax }) => sum + base + tax, 0n) };
}
