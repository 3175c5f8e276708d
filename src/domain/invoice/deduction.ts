import { type Problem, problem } from '../errors.ts';
import { type Centimes, CURRENCY, decimalOf } from '../money.ts';
import type { CreditShare, KeptCredit, Original } from './credit.ts';
import { kindOfId } from './kinds.ts';
import { finalAmountOf, type StatedLine } from './line-amounts.ts';
import { spread } from './spread.ts';
import type { RateTotal } from './tax-rate.ts';

// The deduction of deposits from the final invoice (docs/decisions/0087).

/** Maximum number of deposits that an invoice deducts. */
export const MOST_DEPOSITS = 20;

/** The deduction of one deposit: all that was left of it. */
export interface DeductedDeposit extends CreditShare {
  /** The deposit invoice, as the documents of the final invoice name it. */
  readonly invoice: Original & { readonly id: string };
}

/** The parts that only a final invoice has, which deducts deposits. */
export interface Deduction {
  /** In the order in which they were requested. */
  readonly deposits: readonly DeductedDeposit[];
  /** The invoiced amounts after the deduction: one entry for each rate that has a base left, highest rate first. */
  readonly rates: readonly RateTotal[];
}

/** Whether an invoice keeps this share for the final invoice that deducts it, not for a credit note. */
export function isDeduction({ creditNoteId }: Pick<KeptCredit, 'creditNoteId'>): boolean {
  return kindOfId(creditNoteId) === 'invoice';
}

/**
 * Returns what remains of each rate after the deposits: base less bases, VAT less VAT, so that the sums of all invoices
 * are those of the sale. If deposits take the whole base of a rate, nothing is left of it: centimes of VAT that result
 * from rounding on several invoices are not invoiced.
 * @param rates of the sale
 */
export function remainderOf(
  rates: readonly RateTotal[],
  deposits: readonly Pick<CreditShare, 'rates'>[],
): { readonly rates: RateTotal[] } | { readonly problems: Problem[] } {
  const deducted = deductedRates(deposits);
  const problems: Problem[] = [];
  const refuse = (message: string) => problems.push(problem('deposit_not_deductible', message, 'deposits'));
  for (const { rate, base } of deducted) {
    const most = rates.find((each) => each.rate === rate)?.base ?? 0;
    if (base <= most) continue;
    refuse(
      `At ${rate} %, the deposits have ${money(base)} excluding tax, the lines ${money(most)}. State all that was sold in the lines, or credit the difference of the deposit first.`,
    );
  }
  const left = rates.flatMap(({ rate, base, tax }) => {
    const less = deducted.find((each) => each.rate === rate) ?? { base: 0, tax: 0 };
    const entry = { rate, base: base - less.base, tax: tax - less.tax };
    if (entry.base === 0 && less.base > 0) return [];
    if (entry.tax < 0)
      refuse(
        `At ${rate} %, the deposits have ${money(less.tax)} of VAT, the lines ${money(tax)}: the remainder would have negative VAT. Credit a part of a deposit first.`,
      );
    return [entry];
  });
  return problems.length > 0 ? { problems } : { rates: left };
}

/** Returns the sums of deposits, one entry for each rate, highest rate first. */
export function deductedRates(deposits: readonly Pick<CreditShare, 'rates'>[]): RateTotal[] {
  const sums = new Map<RateTotal['rate'], RateTotal>();
  for (const { rate, base, tax } of deposits.flatMap(({ rates }) => rates)) {
    const sum = sums.get(rate) ?? { base: 0, tax: 0 };
    sums.set(rate, { rate, base: sum.base + base, tax: sum.tax + tax });
  }
  return [...sums.values()].sort((a, b) => b.rate - a.rate);
}

/**
 * Spreads the deduction at each rate over the lines of that rate, in proportion to their amounts, so that the lines add
 * up to what remains (docs/decisions/0087).
 */
export function withDepositShares<Line extends StatedLine>(
  lines: readonly Line[],
  deposits: readonly Pick<CreditShare, 'rates'>[],
): (Line & { depositShare: Centimes | null })[] {
  const shares = new Map<number, Centimes>();
  for (const { rate, base } of deductedRates(deposits)) {
    const places = [...lines.keys()].filter((index) => lines[index]?.taxRate === rate);
    const weights = places.map((index) => BigInt(lines[index] ? finalAmountOf(lines[index]) : 0));
    for (const [at, share] of spread(BigInt(base), weights).entries()) shares.set(places[at] ?? 0, Number(share));
  }
  return lines.map((line, index) => ({ ...line, depositShare: shares.get(index) ?? 0 }));
}

function money(amount: Centimes): string {
  return `${decimalOf(amount)} ${CURRENCY}`;
}
