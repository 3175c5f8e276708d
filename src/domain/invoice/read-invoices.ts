import type { Found } from '../page.ts';
import type { Call, UseCase } from '../use-case.ts';
import type { Invoice } from './invoice.ts';
import type { Kind } from './kinds.ts';
import type { InvoiceReading } from './repository.ts';

/** Finds invoices of the secret key's tenant and environment by id, as {@link documentsById} says. */
export const invoicesById = documentsById('invoice');

/** Finds credit notes of the secret key's tenant and environment by id, as {@link documentsById} says. */
export const creditNotesById = documentsById('credit_note');

/**
 * Makes the use case that finds documents of a kind by id, in one query. Other ids are missing from the result. Its
 * `maxBytes` is the maximum total stored size in bytes; default 4 MiB.
 * @throws {ServiceError} invalid_request if the documents exceed `maxBytes`
 */
function documentsById(kind: Kind) {
  return {
    scope: 'read',
    async run(
      { invoices }: { readonly invoices: Pick<InvoiceReading, 'findMany'> },
      { by: { tenant, environment } }: Call,
      ids: readonly string[],
      maxBytes?: number,
    ): Promise<Found<Invoice>> {
      const found = await invoices.findMany(tenant.id, environment, [...new Set(ids)], maxBytes);
      const ofKind = found.invoices.filter((each) => each.kind === kind);
      return { rows: new Map(ofKind.map((each) => [each.id, each])), bytes: found.bytes };
    },
  } as const satisfies UseCase;
}
