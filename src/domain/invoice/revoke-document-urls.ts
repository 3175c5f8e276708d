import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import type { Change, UseCase } from '../use-case.ts';
import type { Invoice } from './invoice.ts';
import type { InvoiceTransitions } from './repository.ts';

/**
 * Revokes the current URLs of an invoice's documents, at once and permanently, and issues new ones.
 * @returns the invoice with its new URLs
 * @throws {ServiceError} resource_not_found: unknown, or of another tenant or environment
 */
export const revokeDocumentUrls = {
  scope: 'operate',
  audit: { action: 'invoice.document_urls_revoked', description: 'The URLs of an invoice’s documents were replaced.' },
  async run(
    { invoices }: { readonly invoices: Pick<InvoiceTransitions, 'raiseDocumentRevision'> },
    { by: { tenant, environment }, record }: Change,
    invoiceId: string,
  ): Promise<Invoice> {
    const invoice = isId('inv', invoiceId)
      ? await invoices.raiseDocumentRevision(tenant.id, environment, invoiceId)
      : null;
    if (!invoice) {
      throw serviceError('resource_not_found', `There is no invoice '${invoiceId.slice(0, 80)}' for this key.`, 'id');
    }
    await record({ subject: invoiceId });
    return invoice;
  },
} as const satisfies UseCase;
