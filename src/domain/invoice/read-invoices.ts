import type { Found } from '../page.ts';
import { type Principal, requireSecretKey } from '../principal.ts';
import type { Invoice } from './invoice.ts';
import type { InvoiceRepository } from './repository.ts';

export type ReadInvoices = ReturnType<typeof createReadInvoices>;

export function createReadInvoices(invoices: Pick<InvoiceRepository, 'findMany'>) {
  /**
   * Invoices by id, in one query, for what refers to them: those of the secret key's tenant and environment; others are missing.
   * @param maxBytes that they may have as they are stored; 4 MiB unless given
   * @throws {ServiceError} insufficient_scope; invalid_request for more bytes
   */
  return async (principal: Principal, invoiceIds: readonly string[], maxBytes?: number): Promise<Found<Invoice>> => {
    const { tenant, environment } = requireSecretKey(principal);
    const found = await invoices.findMany(tenant.id, environment, [...new Set(invoiceIds)], maxBytes);
    return { rows: new Map(found.invoices.map((invoice) => [invoice.id, invoice])), bytes: found.bytes };
  };
}
