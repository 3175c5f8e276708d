import { join } from 'node:path';
import { type ContentExaminer, createContentExaminer } from '../adapters/authority/content-examiner.ts';
import { undrawableCharacters } from '../adapters/pdf/fonts.ts';
import { createPdfRenderer } from '../adapters/pdf/pdf-renderer.ts';
import { createInvoiceWriter } from '../adapters/ubl/invoice-writer.ts';
import { createDocumentVerifier, type DocumentVerifier } from '../adapters/xades/document-verifier.ts';
import type { InvoiceWriter, PdfRenderer } from '../domain/invoice/ports.ts';
import { createInvoiceWarnings, type InvoiceWarnings } from '../domain/invoice/unprintable-warnings.ts';
import type { Runtime } from './runtime.ts';
import { createSignedRenderer } from './signed-renderer.ts';
import type { Signing } from './signing.ts';

/** A renderer with the life of its browser. */
export type ClosableRenderer = PdfRenderer & { warm(): Promise<void>; close(): Promise<void> };

/** What writes, draws and checks documents. Each works on threads or in processes of its own. */
export interface Documents {
  readonly renderer: ClosableRenderer;
  readonly writer: InvoiceWriter;
  readonly invoiceWarnings: InvoiceWarnings;
  /** Verifies the documents of the pipeline. */
  readonly verifier: DocumentVerifier;
  /** Verifies what clients send, on a thread of its own, so that no invoice waits for it. */
  readonly clientsVerifier: DocumentVerifier;
  readonly examiner: ContentExaminer;
}

/** @param given replaces the renderer, and is closed with the service */
export function composeDocuments(
  { config, log, closing, fail }: Runtime,
  { keyOf }: Pick<Signing, 'keyOf'>,
  given?: ClosableRenderer,
): Documents {
  const closed = <Part extends { close(): Promise<void> }>(part: Part): Part => {
    closing.add(() => part.close());
    return part;
  };
  const browser = () =>
    createPdfRenderer({
      executablePath: config.chromiumPath ?? undefined,
      cacheDir: join(config.dataDir, 'chromium'),
      log,
      onFatal: fail,
    });
  return {
    renderer: closed(given ?? createSignedRenderer(browser(), keyOf, fail)),
    writer: closed(createInvoiceWriter(fail)),
    invoiceWarnings: createInvoiceWarnings(undrawableCharacters),
    verifier: closed(createDocumentVerifier({ onFatal: fail })),
    clientsVerifier: closed(createDocumentVerifier({ onFatal: fail })),
    examiner: closed(createContentExaminer(fail)),
  };
}
