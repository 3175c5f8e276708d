import type { ClientSecrets } from '../domain/invoice/client-secret.ts';
import { DOCUMENT_KINDS } from '../domain/invoice/documents.ts';
import type { DocumentUrl } from '../domain/webhook/webhook-event.ts';
import { documentPath } from './files.ts';

/**
 * Derives the capability URLs of documents (docs/decisions/0017). The URLs are cached for each invoice object in
 * memory.
 * @param publicUrl the address of the service for clients, without a trailing slash
 */
export function createDocumentUrl(publicUrl: string, clientSecrets: Pick<ClientSecrets, 'documentToken'>): DocumentUrl {
  const known = new Map(DOCUMENT_KINDS.map((kind) => [kind, new WeakMap<object, string>()]));
  return (invoice, kind) => {
    const before = known.get(kind)?.get(invoice);
    if (before !== undefined) return before;
    const { id, documentRevision } = invoice;
    const url = `${publicUrl}${documentPath(id, kind, clientSecrets.documentToken(id, kind, documentRevision))}`;
    known.get(kind)?.set(invoice, url);
    return url;
  };
}
