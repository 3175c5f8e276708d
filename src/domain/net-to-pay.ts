import { type Centimes, percentOf } from './money.ts';

/** What determines what a buyer withholds of the VAT of an invoice, and pays. */
export interface Payable {
  /** Tax included. */
  readonly amount: Centimes;
  readonly totals: { readonly tax: Centimes };
  /** The percentage of the VAT; null if nothing is withheld. */
  readonly withholding: { readonly percent: number } | null;
}

/** Returns what the buyer withholds of the VAT, rounded half up; 0 if nothing. */
export function withheldOf({ totals, withholding }: Omit<Payable, 'amount'>): Centimes {
  return withholding === null ? 0 : percentOf(totals.tax, withholding.percent);
}

/**
 * Returns what the buyer of an invoice pays: the amount less the VAT that it withholds. Amounts, totals and VAT are those
 * of an invoice without withholding (docs/decisions/0088).
 */
export function netToPay(invoice: Payable): Centimes {
  return invoice.amount - withheldOf(invoice);
}
