import { serviceError } from '../errors.ts';
import { type Principal, requireScope } from '../principal.ts';
import type { Invoice } from './invoice.ts';
import type { InvoiceReading } from './repository.ts';

export type FindByNumber = ReturnType<typeof createFindByNumber>;

export function createFindByNumber(invoices: Pick<InvoiceReading, 'findByNumber'>) {
  /**
   * Finds an invoice of the secret key's tenant and environment by its legal number, of the service's or the client's
   * own series.
   * @throws {ServiceError} insufficient_scope, resource_not_found
   */
  return async (principal: Principal, number: string): Promise<Invoice> => {
    const { tenant, environment } = requireScope(principal, 'read');
    const invoice = await invoices.findByNumber(tenant.id, environment, number);
    if (invoice) return invoice;
    const message = `There is no invoice with the number '${number.slice(0, 80)}' for this key.`;
    throw serviceError('resource_not_found', message, 'number');
  };
}
