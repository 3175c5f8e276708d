import { serviceError } from '../errors.ts';
import type { ClientSecrets } from './client-secret.ts';
import type { DocumentDemand } from './document-demand.ts';
import type { DocumentRange, DocumentStore } from './document-store.ts';
import { DOCUMENTS, type DocumentKind } from './documents.ts';
import type { FindPresentInvoice } from './find-present.ts';
import type { StoredDocument } from './invoice.ts';
import { documentFileName } from './legal-invoice.ts';

/** A document that the caller may read. */
export interface ReadableDocument extends StoredDocument {
  /** File name with the legal number: `facture-2026-000123.pdf`, `avoir-AV-2026-000123.pdf`. */
  readonly name: string;
  /** Streams the document's bytes, or a part of them, from the store. */
  read(range?: DocumentRange): AsyncIterable<Uint8Array>;
}

export type ReadDocument = ReturnType<typeof createReadDocument>;

export function createReadDocument(
  findPresent: FindPresentInvoice,
  documents: DocumentStore,
  demand: Pick<DocumentDemand, 'await'>,
  clientSecrets: ClientSecrets,
) {
  /**
   * Opens the document of a URL. Waits for a document that does not exist yet but will.
   * @param token the secret part of the URL
   * @returns null if it still does not exist after the wait of {@link DocumentDemand}
   * @throws {ServiceError} resource_not_found: no such invoice, a wrong or revoked token, not accepted yet, or without
   * such a document; the cases are not distinguished
   */
  return async (invoiceId: string, kind: DocumentKind, token: string): Promise<ReadableDocument | null> => {
    const invoice = await findPresent(invoiceId);
    const revision = invoice?.documentRevision ?? 0;
    if (!clientSecrets.verifyDocumentToken(token, invoiceId, kind, revision)) throw notFound();
    if (invoice?.status !== 'accepted') throw notFound();
    const stored = DOCUMENTS[kind].stored(invoice);
    if (!stored && !DOCUMENTS[kind].isComing(invoice)) throw notFound();
    const late = stored ? null : await demand.await(invoice, kind);
    const document = stored ?? (late && DOCUMENTS[kind].stored(late));
    if (!document) return null;
    const name = documentFileName(invoice.kind, invoice.number ?? invoiceId, kind);
    return { ...document, name, read: (range) => documents.read(document, range) };
  };
}

function notFound() {
  return serviceError('resource_not_found', 'There is no such document.');
}
