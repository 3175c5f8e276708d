import { serviceError } from '../errors.ts';
import type { Call, UseCase } from '../use-case.ts';
import { customerKey } from './customer-key.ts';
import type { KnownCustomer } from './invoice-queries.ts';
import type { InvoiceReading } from './repository.ts';

/** Maximum number of customers in an answer. */
export const MOST_CUSTOMERS = 10;

/**
 * Finds the customers of the member's invoices whose name begins with a text, or whose ICE does if the text has
 * digits only. Returns at most {@link MOST_CUSTOMERS}, in the order of their names or ICEs.
 * @throws {ServiceError} invalid_request for a text without letters and digits
 */
export const customers = {
  scope: 'read',
  async run(
    { invoices }: { readonly invoices: Pick<InvoiceReading, 'customers'> },
    { by: { tenant, environment } }: Call,
    beginning: string,
  ): Promise<readonly KnownCustomer[]> {
    const text = beginning.trim();
    const field = /^\d{1,15}$/.test(text) ? 'ice' : 'name';
    const prefix = field === 'ice' ? text : customerKey(text);
    if (prefix === '')
      throw serviceError('invalid_request', 'beginning must have at least one letter or digit.', 'beginning');
    return invoices.customers({ tenantId: tenant.id, environment, field, prefix, limit: MOST_CUSTOMERS });
  },
} as const satisfies UseCase;
