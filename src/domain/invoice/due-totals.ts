import type { Problem } from '../errors.ts';
import type { CreditShare } from './credit.ts';
import { type Deduction, remainderOf } from './deduction.ts';
import { type LineTotals, type PricedDocument, totalsAfter, totalsOf } from './totals.ts';

/** The totals of a sale and of what remains of it. */
export interface DueTotals {
  /** Before the deduction; null when a total is beyond the limit. */
  readonly sale: LineTotals | null;
  /** After it; null also when the deposits cannot be deducted. */
  readonly due: LineTotals | null;
  /** The rest of each rate; null if nothing is deducted. */
  readonly deduction: Pick<Deduction, 'rates'> | null;
  /** Why the deposits cannot be deducted. */
  readonly problems: readonly Problem[];
}

/** Computes the amounts that an invoice asks for: the totals of its sale, less these deposits. */
export function dueTotals(
  document: PricedDocument,
  deposits: readonly Pick<CreditShare, 'rates'>[] | null | undefined,
): DueTotals {
  const sale = totalsOf(document);
  if (sale === null || !deposits?.length) return { sale, due: sale, deduction: null, problems: [] };
  const remainder = remainderOf(sale.rates, deposits);
  if ('problems' in remainder) return { sale, due: null, deduction: null, problems: remainder.problems };
  return { sale, due: totalsAfter(sale, remainder), deduction: remainder, problems: [] };
}
