import type { ClientSecrets } from '../domain/invoice/client-secret.ts';
import type { DocumentUrl } from '../domain/webhook/webhook-event.ts';
import { documentPath } from './files.ts';

/**
 * Derives the capability URLs of documents (docs/decisions/0017).
 * @param publicUrl the address of the service for clients, without a trailing slash
 */
export function createDocumentUrl(publicUrl: string, clientSecrets: Pick<ClientSecrets, 'documentToken'>): DocumentUrl {
  return ({ id, documentRevision }, kind) =>
    `${publicUrl}${documentPath(id, kind, clientSecrets.documentToken(id, kind, documentRevision))}`;
}
