import { serviceError } from '../errors.ts';
import type { Call, UseCase } from '../use-case.ts';
import type { Invoice } from './invoice.ts';
import type { InvoiceReading } from './repository.ts';

/**
 * Finds an invoice of the caller's tenant and environment by its legal number, of the service's or the client's own
 * series.
 * @throws {ServiceError} resource_not_found
 */
export const invoiceByNumber = {
  scope: 'read',
  async run(
    { invoices }: { readonly invoices: Pick<InvoiceReading, 'findByNumber'> },
    { by: { tenant, environment } }: Call,
    number: string,
  ): Promise<Invoice> {
    const invoice = await invoices.findByNumber(tenant.id, environment, number);
    if (invoice?.kind === 'invoice') return invoice;
    const message = `There is no invoice with the number '${number.slice(0, 80)}' for this key.`;
    throw serviceError('resource_not_found', message, 'number');
  },
} as const satisfies UseCase;
