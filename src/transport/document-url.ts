import type { ClientSecrets } from '../domain/invoice/client-secret.ts';
import type { DocumentUrl } from '../domain/webhook/webhook-event.ts';
import { documentPath } from './files.ts';

/**
 * The capability URLs of invoices' documents (docs/decisions/0017). Those of an invoice that stays in memory, as one does that is
 * read again and again, are derived once.
 * @param publicUrl where the service is reached, without a trailing slash
 */
export function createDocumentUrl(publicUrl: string, clientSecrets: Pick<ClientSecrets, 'documentToken'>): DocumentUrl {
  const known = { xml: new WeakMap<object, string>(), pdf: new WeakMap<object, string>() };
  return (invoice, kind) => {
    const before = known[kind].get(invoice);
    if (before !== undefined) return before;
    const { id, documentRevision } = invoice;
    const url = `${publicUrl}${documentPath(id, kind, clientSecrets.documentToken(id, kind, documentRevision))}`;
    known[kind].set(invoice, url);
    return url;
  };
}
