import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import { DOCUMENT_WAIT_MS } from '../limits.ts';
import type { ClientSecrets } from './client-secret.ts';
import { DOCUMENTS, type DocumentKind } from './documents.ts';
import type { StoredDocument } from './invoice.ts';
import { documentFileName } from './legal-invoice.ts';
import type { DocumentRange, DocumentStore, InvoiceFeed, InvoiceRepository } from './repository.ts';

/** A document that the caller may read. */
export interface ReadableDocument extends StoredDocument {
  /** File name with the legal number: `facture-2026-000123.pdf`. */
  readonly name: string;
  /** Streams its bytes, or a part of them, from the store. */
  read(range?: DocumentRange): AsyncIterable<Uint8Array>;
}

export type ReadDocument = ReturnType<typeof createReadDocument>;

export function createReadDocument(
  invoices: Pick<InvoiceRepository, 'find'>,
  documents: DocumentStore,
  feed: InvoiceFeed,
  clientSecrets: ClientSecrets,
) {
  /**
   * Opens the document of a URL. Waits for one that is still to come.
   * @param token the secret part of the URL
   * @returns null when it is still to come after {@link DOCUMENT_WAIT_MS}
   * @throws {ServiceError} resource_not_found: no such invoice, a wrong or revoked token, not accepted yet, or
   *   without such a document; the cases are not distinguished
   */
  return async (invoiceId: string, kind: DocumentKind, token: string): Promise<ReadableDocument | null> => {
    const invoice = isId('inv', invoiceId) ? await invoices.find(invoiceId) : null;
    const revision = invoice?.documentRevision ?? 0;
    if (!clientSecrets.verifyDocumentToken(token, invoiceId, kind, revision)) throw notFound();
    if (invoice?.status !== 'accepted') throw notFound();
    const stored = DOCUMENTS[kind].stored(invoice);
    if (!stored && !DOCUMENTS[kind].isComing(invoice)) throw notFound();
    const document = stored ?? (await joinStoring(invoiceId, kind));
    if (!document) return null;
    const name = documentFileName(invoice.number ?? invoiceId, kind);
    return { ...document, name, read: (range) => documents.read(document, range) };
  };

  async function joinStoring(invoiceId: string, kind: DocumentKind): Promise<StoredDocument | null> {
    let woken = Promise.withResolvers<void>();
    let isOver = false;
    const unsubscribe = feed.subscribe(invoiceId, (news) => news.documentStored && woken.resolve());
    const timer = setTimeout(() => {
      isOver = true;
      woken.resolve();
    }, DOCUMENT_WAIT_MS);
    try {
      // The first read comes after the subscription: it may have been stored in between.
      for (;;) {
        const invoice = await invoices.find(invoiceId);
        const stored = invoice && DOCUMENTS[kind].stored(invoice);
        if (stored || isOver) return stored;
        await woken.promise;
        woken = Promise.withResolvers<void>();
      }
    } finally {
      clearTimeout(timer);
      unsubscribe();
    }
  }
}

function notFound() {
  return serviceError('resource_not_found', 'There is no such document.');
}
