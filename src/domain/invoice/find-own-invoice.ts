import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import type { Member } from '../principal.ts';
import type { Invoice } from './invoice.ts';
import type { InvoiceReading } from './repository.ts';

/**
 * Finds an invoice to correct or to deduct.
 * @param invoiceId any text
 * @param param the field of the request that names it
 * @throws {ServiceError} resource_not_found if the caller's tenant and environment have no such invoice
 */
export async function findOwnInvoice(
  invoices: Pick<InvoiceReading, 'find'>,
  { tenant, environment }: Member,
  invoiceId: string,
  param = 'invoiceId',
): Promise<Invoice> {
  const invoice = isId('inv', invoiceId) ? await invoices.find(invoiceId) : null;
  if (invoice?.tenantId === tenant.id && invoice.environment === environment) return invoice;
  const message = `There is no invoice '${invoiceId.slice(0, 80)}' in this tenant and environment.`;
  throw serviceError('resource_not_found', message, param);
}
