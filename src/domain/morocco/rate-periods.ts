import { addDays } from '../calendar-date.ts';
import { rateInForce, TAX_RATES, type TaxRate } from '../invoice/tax-rate.ts';
import type { PeriodRow, Source } from './rule.ts';

/** The rates in force in a period. */
export interface RateFigures extends Readonly<Record<string, readonly number[]>> {
  /** Above 0 %, highest first. */
  readonly rates: readonly TaxRate[];
}

/** The source for the rates before the first change. */
const BEFORE: Source = { source: 'maghress.com/fr/lopinion/150352', readOn: '2026-11-29' };

/**
 * The periods between changes of the rates, derived from the table of rates. A new period begins on the first day of a
 * rate, and on the day after the last day of a rate.
 */
export const RATE_PERIODS: readonly PeriodRow<RateFigures>[] = [
  { from: null, figures: { rates: ratesOn('0000-01-01') }, ...BEFORE },
  ...changes().map(({ day, source, readOn }) => ({ from: day, figures: { rates: ratesOn(day) }, source, readOn })),
];

function changes(): readonly (Source & { readonly day: string })[] {
  const byDay = new Map<string, Source & { readonly day: string }>();
  for (const rate of TAX_RATES) {
    const inForce = rateInForce(rate);
    if (inForce === null) continue;
    const { from, until, source, readOn } = inForce;
    if (from !== undefined) byDay.set(from, { day: from, source, readOn });
    if (until !== undefined) byDay.set(addDays(until, 1), { day: addDays(until, 1), source, readOn });
  }
  return [...byDay.values()].toSorted((one, other) => (one.day < other.day ? -1 : 1));
}

function ratesOn(day: string): readonly TaxRate[] {
  const isInForce = (rate: TaxRate) => {
    const { from = '', until = '9999' } = rateInForce(rate) ?? {};
    return from <= day && day <= until;
  };
  return TAX_RATES.filter((rate) => rate > 0 && isInForce(rate)).toReversed();
}
