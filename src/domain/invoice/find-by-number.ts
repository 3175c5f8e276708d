import { serviceError } from '../errors.ts';
import type { Call, UseCase } from '../use-case.ts';
import type { Invoice } from './invoice.ts';
import type { Kind } from './kinds.ts';
import type { InvoiceReading } from './repository.ts';

/**
 * Finds an invoice of the caller's tenant and environment by its legal number, of the service's or the client's own
 * series.
 * @throws {ServiceError} resource_not_found
 */
export const invoiceByNumber = byNumber('invoice', 'invoice');

/** Finds a fiscal document of any kind as {@link invoiceByNumber} does. */
export const fiscalDocumentByNumber = byNumber(null, 'invoice or credit note');

function byNumber(kind: Kind | null, called: string) {
  return {
    scope: 'read',
    async run(
      { invoices }: { readonly invoices: Pick<InvoiceReading, 'findByNumber'> },
      { by: { tenant, environment } }: Call,
      number: string,
    ): Promise<Invoice> {
      const found = await invoices.findByNumber(tenant.id, environment, number);
      if (found && (kind === null || found.kind === kind)) return found;
      const message = `There is no ${called} with the number '${number.slice(0, 80)}' for this key.`;
      throw serviceError('resource_not_found', message, 'number');
    },
  } as const satisfies UseCase;
}
