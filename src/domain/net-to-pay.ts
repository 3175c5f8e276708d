import { type Centimes, percentOf } from './money.ts';

/** The parts of an invoice that determine the VAT that its buyer withholds, and the net to pay. */
export interface Payable {
  /** Tax included. */
  readonly amount: Centimes;
  readonly totals: { readonly tax: Centimes };
  /** The percentage of the VAT; null if nothing is withheld. */
  readonly withholding: { readonly percent: number } | null;
}

/** Returns the VAT that the buyer withholds, rounded half up; 0 if none. */
export function withheldOf({ totals, withholding }: Omit<Payable, 'amount'>): Centimes {
  return withholding === null ? 0 : percentOf(totals.tax, withholding.percent);
}

/**
 * Returns the amount that the buyer of an invoice pays: the invoice's amount less the withheld VAT. Amounts, totals and
 * VAT are those of an invoice without withholding (docs/decisions/0088).
 */
export function netToPay(invoice: Payable): Centimes {
  return invoice.amount - withheldOf(invoice);
}
