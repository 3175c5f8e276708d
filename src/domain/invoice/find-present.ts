import { isId } from '../ids.ts';
import type { TenantRepository } from '../tenant/ports.ts';
import type { Invoice } from './invoice.ts';
import type { InvoiceReading } from './repository.ts';

/**
 * Finds an invoice for callers with a credential or link of this invoice alone. Returns null as soon as the erasure of
 * its tenant begins, because its invoices are then removed one by one. The tenant's own credentials have ended with its
 * keys.
 */
export type FindPresentInvoice = (invoiceId: string) => Promise<Invoice | null>;

export function createFindPresentInvoice(
  invoices: Pick<InvoiceReading, 'find'>,
  tenants: Pick<TenantRepository, 'find'>,
): FindPresentInvoice {
  return async (invoiceId) => {
    const invoice = isId('inv', invoiceId) ? await invoices.find(invoiceId) : null;
    return invoice && (await tenants.find(invoice.tenantId)) ? invoice : null;
  };
}

/** Creates a function that returns those of the given invoices that {@link FindPresentInvoice} finds. */
export function createPresentAmong(
  invoices: Pick<InvoiceReading, 'tenantsOf'>,
  tenants: Pick<TenantRepository, 'presentAmong'>,
) {
  return async (invoiceIds: readonly string[]): Promise<ReadonlySet<string>> => {
    const owners = await invoices.tenantsOf(invoiceIds);
    const present = await tenants.presentAmong([...new Set(owners.values())]);
    return new Set([...owners].filter(([, tenantId]) => present.has(tenantId)).map(([invoiceId]) => invoiceId));
  };
}
