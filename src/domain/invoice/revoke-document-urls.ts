import { type Audit, entryBy } from '../audit-entry.ts';
import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import { type Principal, requireScope } from '../principal.ts';
import type { Invoice } from './invoice.ts';
import type { InvoiceTransitions } from './repository.ts';

export type RevokeDocumentUrls = ReturnType<typeof createRevokeDocumentUrls>;

export function createRevokeDocumentUrls(invoices: Pick<InvoiceTransitions, 'raiseDocumentRevision'>, audit: Audit) {
  /**
   * Revokes the current URLs of an invoice's documents, at once and permanently, and issues new ones.
   * @returns the invoice with its new URLs
   * @throws {ServiceError} insufficient_scope without a secret key; resource_not_found: unknown, or of another tenant
   * or environment
   */
  return async (principal: Principal, invoiceId: string): Promise<Invoice> => {
    const member = requireScope(principal, 'operate');
    const { tenant, environment } = member;
    const invoice = isId('inv', invoiceId)
      ? await invoices.raiseDocumentRevision(tenant.id, environment, invoiceId)
      : null;
    if (!invoice) {
      throw serviceError('resource_not_found', `There is no invoice '${invoiceId.slice(0, 80)}' for this key.`, 'id');
    }
    await audit(entryBy(member, 'invoice.document_urls_revoked', { subject: invoiceId }));
    return invoice;
  };
}
