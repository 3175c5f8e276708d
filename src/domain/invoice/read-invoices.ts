import { type Principal, requireSecretKey } from '../principal.ts';
import type { Invoice } from './invoice.ts';
import type { InvoiceRepository } from './repository.ts';

export interface ReadInvoices {
  /**
   * Invoices by id, in one query, for what refers to them: those of the secret key's tenant and environment; others are missing.
   * @throws {ServiceError} insufficient_scope
   */
  (principal: Principal, invoiceIds: readonly string[]): Promise<Map<string, Invoice>>;
}

export function createReadInvoices(invoices: Pick<InvoiceRepository, 'findMany'>): ReadInvoices {
  return async (principal, invoiceIds) => {
    const { tenant, environment } = requireSecretKey(principal);
    const found = await invoices.findMany(tenant.id, environment, [...new Set(invoiceIds)]);
    return new Map(found.map((invoice) => [invoice.id, invoice]));
  };
}
