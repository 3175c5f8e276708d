import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import type { ClientSecrets } from './client-secret.ts';
import type { DocumentStore, InvoiceFeed, InvoiceRepository } from './repository.ts';

/** How long a request for a PDF waits for its rendering, milliseconds (design, section 5, "documents"). */
const JOIN_MS = 10_000;

export type DocumentKind = 'xml' | 'pdf';

export interface ReadDocument {
  /**
   * The bytes behind `xml_url` or `pdf_url`. A PDF that is not there yet is waited for.
   * @param token the URL's capability
   * @returns null when the PDF is still being rendered after 10 s
   * @throws {ServiceError} resource_not_found: no such invoice, a wrong token, or not accepted yet; never says which
   */
  (invoiceId: string, kind: DocumentKind, token: string): Promise<Uint8Array | null>;
}

export function createReadDocument(
  invoices: Pick<InvoiceRepository, 'find'>,
  documents: DocumentStore,
  feed: InvoiceFeed,
  clientSecrets: ClientSecrets,
): ReadDocument {
  return async (invoiceId, kind, token) => {
    if (!isId('inv', invoiceId) || !clientSecrets.verifyDocumentToken(token, invoiceId, kind, 0)) throw notFound();
    const invoice = await invoices.find(invoiceId);
    if (invoice?.status !== 'accepted') throw notFound();
    const stored = invoice[kind] ?? (kind === 'pdf' ? await joinRendering(invoiceId) : null);
    return stored && documents.get(stored);
  };

  async function joinRendering(invoiceId: string) {
    const rendered = Promise.withResolvers<void>();
    const unsubscribe = feed.subscribe(invoiceId, (news) => news.pdfStored && rendered.resolve());
    const timer = setTimeout(rendered.resolve, JOIN_MS);
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
