import { wholeMonths } from '../calendar-date.ts';
import type { Centimes } from '../money.ts';
import { type Payable, withheldOf } from '../net-to-pay.ts';
import type { Withholding } from './particulars.ts';

/** The parts of an invoice that determine its stated withholding. */
interface Stated extends Pick<Payable, 'totals'> {
  readonly withholding: Withholding | null;
  /** `YYYY-MM-DD` */
  readonly issueDate: string;
}

/** The statement of an invoice about the VAT that its buyer withholds. */
export interface StatedWithholding extends Withholding {
  /** The share of the VAT, rounded half up. */
  readonly amount: Centimes;
  readonly certificate: (NonNullable<Withholding['certificate']> & { readonly ageInMonths: number }) | null;
}

/**
 * Returns what a buyer withholds, with the age of the certificate in whole months on the date of the invoice; null if
 * it withholds nothing.
 */
export function statedWithholding(invoice: Stated): StatedWithholding | null {
  const { withholding, issueDate } = invoice;
  if (withholding === null) return null;
  const { percent, certificate } = withholding;
  return {
    percent,
    amount: withheldOf(invoice),
    certificate: certificate && { ...certificate, ageInMonths: wholeMonths(certificate.date, issueDate) },
  };
}
