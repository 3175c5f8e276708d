import type { Centimes } from '../../money.ts';
import { moroccanDate } from '../../morocco/time.ts';
import { withheldOf } from '../../net-to-pay.ts';
import type { Owner } from '../../tenant/tenant.ts';
import type { Invoice } from '../invoice.ts';
import type { Kind } from '../kinds.ts';
import type { InvoiceStatus } from '../lifecycle.ts';
import type { RateTotal } from '../tax-rate.ts';
import { totalsOfInvoice } from '../totals.ts';

/** What a document adds to the sums of a day. Only its status ever changes. */
export interface SummedInvoice extends Owner {
  readonly invoiceId: string;
  /** The date of issue in Morocco, `YYYY-MM-DD`. */
  readonly date: string;
  readonly kind: Kind;
  readonly status: InvoiceStatus;
  /** The stated total, tax included. */
  readonly amount: Centimes;
  /** What the buyer withholds of the VAT. */
  readonly withheld: Centimes;
  readonly rates: readonly RateTotal[];
}

/** Returns what a document adds to the sums of its day. */
export function summedOf(
  invoice: Pick<
    Invoice,
    | 'id'
    | 'tenantId'
    | 'environment'
    | 'createdAt'
    | 'kind'
    | 'status'
    | 'amount'
    | 'withholding'
    | 'lines'
    | 'discount'
    | 'charge'
    | 'credit'
    | 'deduction'
  >,
): SummedInvoice {
  const { id, tenantId, environment, createdAt, kind, status, amount, withholding } = invoice;
  const totals = totalsOfInvoice(invoice);
  const [date, withheld] = [moroccanDate(createdAt), withheldOf({ totals, withholding })];
  return { invoiceId: id, tenantId, environment, date, kind, status, amount, withheld, rates: totals.rates };
}
