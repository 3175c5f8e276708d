import { wholeMonths } from '../calendar-date.ts';
import { type Centimes, percentOf } from '../money.ts';
import type { Withholding } from './particulars.ts';
import type { InvoiceTotals } from './totals.ts';

/** What determines what a buyer withholds. */
interface Withheld {
  readonly withholding: Withholding | null;
  readonly totals: Pick<InvoiceTotals, 'tax'>;
}

/** What an invoice states of the VAT that its buyer withholds. */
export interface StatedWithholding extends Withholding {
  /** The share of the VAT, rounded half up. */
  readonly amount: Centimes;
  readonly certificate: (NonNullable<Withholding['certificate']> & { readonly ageInMonths: number }) | null;
}

/**
 * Returns what a buyer withholds, with the age of the certificate in whole months on the date of the invoice; null if it
 * withholds nothing.
 */
export function statedWithholding(invoice: Withheld & { readonly issueDate: string }): StatedWithholding | null {
  const { withholding, totals, issueDate } = invoice;
  if (withholding === null) return null;
  const { percent, certificate } = withholding;
  return {
    percent,
    amount: percentOf(totals.tax, percent),
    certificate: certificate && { ...certificate, ageInMonths: wholeMonths(certificate.date, issueDate) },
  };
}

/**
 * Returns what the buyer of an invoice pays: the amount less the VAT that it withholds. Amounts, totals and VAT are those
 * of an invoice without withholding (docs/decisions/0088).
 */
export function netToPay({ amount, withholding, totals }: Withheld & { readonly amount: Centimes }): Centimes {
  return withholding === null ? amount : amount - percentOf(totals.tax, withholding.percent);
}
