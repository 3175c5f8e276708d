import type { Environment } from '../tenant/tenant.ts';
import { type Attention, attentionOf } from './attention.ts';
import type { WaitingInvoices } from './repository.ts';

/** An invoice that makes no progress. */
export interface InvoiceAttention extends Attention {
  readonly invoiceId: string;
  readonly tenantId: string;
  readonly environment: Environment;
}

/** Maximum number of listed invoices of each kind: failing, late, and blocked ones. */
export const LISTED_ATTENTION = 100;

/**
 * Lists the invoices of all tenants that need an operator's attention, at most {@link LISTED_ATTENTION} of each kind.
 */
export type ListAttention = () => Promise<InvoiceAttention[]>;

export function createListAttention(
  invoices: Pick<WaitingInvoices, 'needingAttention'>,
  now: () => Date,
): ListAttention {
  return async () => {
    const [found, at] = [await invoices.needingAttention(LISTED_ATTENTION), now()];
    return found.flatMap((invoice) => {
      const attention = attentionOf(invoice, at);
      const { id: invoiceId, tenantId, environment } = invoice;
      return attention ? [{ invoiceId, tenantId, environment, ...attention }] : [];
    });
  };
}
