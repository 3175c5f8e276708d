import type { AuditedChange } from '../audit-entry.ts';
import { serviceError } from '../errors.ts';
import type { Change, UseCase } from '../use-case.ts';
import type { Invoice } from './invoice.ts';
import { isIdOfKind, KINDS, type Kind } from './kinds.ts';
import type { InvoiceTransitions } from './repository.ts';

/** Revokes the URLs of an invoice's documents, as {@link urlsOf} says. */
export const revokeDocumentUrls = urlsOf('invoice', {
  action: 'invoice.document_urls_revoked',
  description: 'The URLs of an invoice’s documents were replaced.',
});

/** Revokes the URLs of a credit note's documents, as {@link urlsOf} says. */
export const revokeCreditNoteDocumentUrls = urlsOf('credit_note', {
  action: 'credit_note.document_urls_revoked',
  description: 'The URLs of a credit note’s documents were replaced.',
});

/**
 * Makes the use case that revokes the current URLs of the documents of an invoice or credit note, at once and
 * permanently, and issues new ones. It returns the invoice or credit note with its new URLs.
 * @throws {ServiceError} resource_not_found: unknown, of another kind, or of another tenant or environment
 */
function urlsOf<const Audit extends AuditedChange>(kind: Kind, audit: Audit) {
  const { called } = KINDS[kind];
  return {
    scope: 'mail',
    audit,
    async run(
      { invoices }: { readonly invoices: Pick<InvoiceTransitions, 'raiseDocumentRevision'> },
      { by: { tenant, environment }, record }: Change,
      id: string,
    ): Promise<Invoice> {
      const document = isIdOfKind(kind, id) ? await invoices.raiseDocumentRevision(tenant.id, environment, id) : null;
      if (!document)
        throw serviceError('resource_not_found', `There is no ${called} '${id.slice(0, 80)}' for this key.`, 'id');
      await record({ subject: id });
      return document;
    },
  } as const satisfies UseCase;
}
