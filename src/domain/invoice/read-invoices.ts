import type { Found } from '../page.ts';
import { type Principal, requireScope } from '../principal.ts';
import type { Invoice } from './invoice.ts';
import type { InvoiceReading } from './repository.ts';

export type ReadInvoices = ReturnType<typeof createReadInvoices>;

export function createReadInvoices(invoices: Pick<InvoiceReading, 'findMany'>) {
  /**
   * Finds invoices of the secret key's tenant and environment by id, in one query. Other ids are missing from the
   * result.
   * @param maxBytes maximum total stored size in bytes; default 4 MiB
   * @throws {ServiceError} insufficient_scope; invalid_request if the invoices exceed `maxBytes`
   */
  return async (principal: Principal, invoiceIds: readonly string[], maxBytes?: number): Promise<Found<Invoice>> => {
    const { tenant, environment } = requireScope(principal, 'read');
    const found = await invoices.findMany(tenant.id, environment, [...new Set(invoiceIds)], maxBytes);
    return { rows: new Map(found.invoices.map((invoice) => [invoice.id, invoice])), bytes: found.bytes };
  };
}
