import type { Centimes } from '../../money.ts';
import { moroccanDate } from '../../morocco/time.ts';
import { withheldOf } from '../../net-to-pay.ts';
import type { Owner } from '../../tenant/tenant.ts';
import type { Invoice } from '../invoice.ts';
import type { Kind } from '../kinds.ts';
import type { InvoiceStatus } from '../lifecycle.ts';
import { termsOf } from '../search/terms.ts';
import type { RateTotal } from '../tax-rate.ts';
import { totalsOfInvoice } from '../totals.ts';

/** The day and the amounts of a document, which never change. */
export interface DatedAmounts {
  /** The date of issue in Morocco, `YYYY-MM-DD`. */
  readonly date: string;
  /** The stated total, tax included. */
  readonly amount: Centimes;
  /** The part of the VAT that the buyer withholds. */
  readonly withheld: Centimes;
  readonly rates: readonly RateTotal[];
}

/** The part of a document in the sums of its day under its status, and its search terms in its present state. */
export interface SummedInvoice extends Owner, DatedAmounts {
  readonly invoiceId: string;
  readonly kind: Kind;
  readonly status: InvoiceStatus;
  /** See `TERM`. */
  readonly searchTerms: readonly string[];
}

type Stated =
  | ('id' | 'kind' | 'createdAt' | 'amount' | 'withholding')
  | ('lines' | 'discount' | 'charge' | 'credit' | 'deduction');

/** Returns the day and the amounts of a document. */
export function datedAmountsOf(invoice: Pick<Invoice, Stated>): DatedAmounts {
  const { createdAt, amount, withholding } = invoice;
  const totals = totalsOfInvoice(invoice);
  const [date, withheld] = [moroccanDate(createdAt), withheldOf({ totals, withholding })];
  return { date, amount, withheld, rates: totals.rates };
}

/** Returns the part of a document in the sums, and its search terms. */
export function summedOf(invoice: Invoice): SummedInvoice {
  const { id, tenantId, environment, kind, status } = invoice;
  const owned = { invoiceId: id, tenantId, environment, kind, status };
  return { ...owned, ...datedAmountsOf(invoice), searchTerms: termsOf(invoice) };
}
