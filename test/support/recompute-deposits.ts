import type { PricedDocument } from '../../src/domain/invoice/totals.ts';
import { figuresOf } from './recompute-document.ts';
import { type Figures, sumOfFigures } from './recompute-figures.ts';

/** Returns the part of an invoice that the counted shares leave. It contains only rates with a base left. */
export function leftOf(invoice: Figures, counted: readonly Figures[]): Figures {
  const taken = sumOfFigures(counted);
  const rates = invoice.rates.map(({ rate, base, tax }) => {
    const less = taken.rates.find((each) => each.rate === rate);
    return { rate, base: base - (less?.base ?? 0n), tax: tax - (less?.tax ?? 0n) };
  });
  return { rates: rates.filter(({ base }) => base > 0n), amount: invoice.amount - taken.amount };
}

/**
 * Returns the part of a sale that its deposits leave, recomputed in rational numbers without code of the service.
 * @returns null if the deposits exceed the sale, or exceed the VAT of a rate that has some base left
 */
export function remainderOf(sale: PricedDocument, deposits: readonly Figures[]): Figures | null {
  const taken = sumOfFigures(deposits).rates;
  const due = figuresOf(sale);
  if (taken.some(({ rate, base }) => base > (due.find((each) => each.rate === rate)?.base ?? 0n))) return null;
  const rates = due.flatMap(({ rate, base, tax }) => {
    const less = taken.find((each) => each.rate === rate);
    if (less === undefined) return [{ rate, base, tax }];
    // A rate without a base left is not stated, even if rounding leaves some of its VAT.
    return base === less.base ? [] : [{ rate, base: base - less.base, tax: tax - less.tax }];
  });
  if (rates.some(({ tax }) => tax < 0n)) return null;
  return { rates, amount: rates.reduce((sum, { base, tax }) => sum + base + tax, 0n) };
}
