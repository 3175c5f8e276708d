import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import { RENDERING_WAIT_MS } from '../limits.ts';
import type { ClientSecrets } from './client-secret.ts';
import type { StoredDocument } from './invoice.ts';
import { documentFileName } from './legal-invoice.ts';
import type { DocumentRange, DocumentStore, InvoiceFeed, InvoiceRepository } from './repository.ts';

export type DocumentKind = 'xml' | 'pdf';

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
   * Opens the document of `xml_url` or `pdf_url`. Waits for a PDF that is not rendered yet.
   * @param token the secret part of the URL
   * @returns null when the PDF is still being rendered after {@link RENDERING_WAIT_MS}
   * @throws {ServiceError} resource_not_found: no such invoice, a wrong or revoked token, or not accepted yet; the
   *   cases are not distinguished
   */
  return async (invoiceId: string, kind: DocumentKind, token: string): Promise<ReadableDocument | null> => {
    const invoice = isId('inv', invoiceId) ? await invoices.find(invoiceId) : null;
    const revision = invoice?.documentRevision ?? 0;
    if (!clientSecrets.verifyDocumentToken(token, invoiceId, kind, revision)) throw notFound();
    if (invoice?.status !== 'accepted') throw notFound();
    const stored = invoice[kind] ?? (kind === 'pdf' ? await joinRendering(invoiceId) : null);
    if (!stored) return null;
    const name = documentFileName(invoice.number ?? invoiceId, kind);
    return { ...stored, name, read: (range) => documents.read(stored, range) };
  };

  async function joinRendering(invoiceId: string) {
    const rendered = Promise.withResolvers<void>();
    const unsubscribe = feed.subscribe(invoiceId, (news) => news.pdfStored && rendered.resolve());
    const timer = setTimeout(rendered.resolve, RENDERING_WAIT_MS);
    try {
      // It may have been stored between the first read and the subscription.
      const already = (await invoices.find(invoiceId))?.pdf;
      if (already) return already;
      await rendered.promise;
      return (await invoices.find(invoiceId))?.pdf ?? null;
    } finally {
      clearTimeout(timer);
      unsubscribe();
    }
  }
}

function notFound() {
  return serviceError('resource_not_found', 'There is no such document.');
}
