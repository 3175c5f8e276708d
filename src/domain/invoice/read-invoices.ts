import type { Found } from '../page.ts';
import type { Call, UseCase } from '../use-case.ts';
import type { Invoice } from './invoice.ts';
import type { Kind } from './kinds.ts';
import type { InvoiceReading } from './repository.ts';

/**
 * Finds invoices of the secret key's tenant and environment by id, in one query. Other ids are missing from the
 * result.
 * @param maxBytes maximum total stored size in bytes; default 4 MiB
 * @throws {ServiceError} invalid_request if the invoices exceed `maxBytes`
 */
export const invoicesById = {
  scope: 'read',
  async run(
    { invoices }: { readonly invoices: Pick<InvoiceReading, 'findMany'> },
    { by: { tenant, environment } }: Call,
    invoiceIds: readonly string[],
    maxBytes?: number,
  ): Promise<Found<Invoice>> {
    const found = await invoices.findMany(tenant.id, environment, [...new Set(invoiceIds)], maxBytes);
    return { rows: ofKind('invoice', found.invoices), bytes: found.bytes };
  },
} as const satisfies UseCase;

/** As {@link invoicesById}, for credit notes. */
export const creditNotesById = {
  scope: 'read',
  async run(
    { invoices }: { readonly invoices: Pick<InvoiceReading, 'findMany'> },
    { by: { tenant, environment } }: Call,
    creditNoteIds: readonly string[],
    maxBytes?: number,
  ): Promise<Found<Invoice>> {
    const found = await invoices.findMany(tenant.id, environment, [...new Set(creditNoteIds)], maxBytes);
    return { rows: ofKind('credit_note', found.invoices), bytes: found.bytes };
  },
} as const satisfies UseCase;

function ofKind(kind: Kind, documents: readonly Invoice[]): Map<string, Invoice> {
  return new Map(documents.flatMap((each) => (each.kind === kind ? [[each.id, each]] : [])));
}
