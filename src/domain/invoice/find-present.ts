import { isId } from '../ids.ts';
import type { TenantRepository } from '../tenant/ports.ts';
import type { Invoice } from './invoice.ts';
import type { InvoiceRepository } from './repository.ts';

/**
 * Finds an invoice for whoever has a credential or link of this invoice alone. Null also from the begin of its tenant's
 * erasure: those of the tenant end with its keys, while its invoices are removed one after the other.
 */
export type FindPresentInvoice = (invoiceId: string) => Promise<Invoice | null>;

export function createFindPresentInvoice(
  invoices: Pick<InvoiceRepository, 'find'>,
  tenants: Pick<TenantRepository, 'find'>,
): FindPresentInvoice {
  return async (invoiceId) => {
    const invoice = isId('inv', invoiceId) ? await invoices.find(invoiceId) : null;
    return invoice && (await tenants.find(invoice.tenantId)) ? invoice : null;
  };
}
