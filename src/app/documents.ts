import { join } from 'node:path';
import { type ContentExaminer, createContentExaminer } from '../adapters/authority/mock/content-examiner.ts';
import { createLogoReader, type LogoReader } from '../adapters/logo/logo-reader.ts';
import { createPdfRenderer } from '../adapters/pdf/pdf-renderer.ts';
import { unshownCharacters } from '../adapters/pdf/unshown-characters.ts';
import { createInvoiceWriter } from '../adapters/ubl/invoice-writer.ts';
import { createDocumentVerifier, type DocumentVerifier } from '../adapters/xades/document-verifier.ts';
import type { InvoiceWriter, PdfRenderer } from '../domain/invoice/ports.ts';
import { createInvoiceWarnings, type InvoiceWarnings } from '../domain/invoice/unprintable-warnings.ts';
import { EXAMINATION_THREAD } from './examination-thread.ts';
import type { Runtime } from './runtime.ts';
import { createSignedRenderer } from './signed-renderer.ts';
import type { Signing } from './signing.ts';

/** A renderer that owns its browser. */
export type ClosableRenderer = PdfRenderer & { warm(): Promise<void>; close(): Promise<void> };

/** Parts that replace those of {@link composeDocuments}. They are closed with the service. */
export interface GivenDocuments {
  readonly renderer?: ClosableRenderer;
  readonly writer?: InvoiceWriter & { close(): Promise<void> };
  readonly verifier?: DocumentVerifier;
  readonly clientsVerifier?: DocumentVerifier;
  readonly examiner?: ContentExaminer;
  readonly logoReader?: LogoReader;
}

/** The parts that write, render and verify documents. Each uses its own threads or processes. */
export interface Documents {
  readonly renderer: ClosableRenderer;
  readonly writer: InvoiceWriter;
  readonly invoiceWarnings: InvoiceWarnings;
  /** Verifies the documents that the pipeline makes. */
  readonly verifier: DocumentVerifier;
  /** Verifies documents that clients send, on a separate thread, so that they do not delay the pipeline. */
  readonly clientsVerifier: DocumentVerifier;
  readonly examiner: ContentExaminer;
  /** Reads the logos that clients send. */
  readonly logoReader: LogoReader;
}

export function composeDocuments(
  { config, log, closing, fail }: Runtime,
  { keyOf }: Pick<Signing, 'keyOf'>,
  given: GivenDocuments,
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
    renderer: closed(given.renderer ?? createSignedRenderer(browser(), keyOf, fail)),
    writer: closed(given.writer ?? createInvoiceWriter(fail)),
    invoiceWarnings: createInvoiceWarnings(unshownCharacters),
    verifier: closed(given.verifier ?? createDocumentVerifier({ onFatal: fail })),
    clientsVerifier: closed(given.clientsVerifier ?? createDocumentVerifier({ onFatal: fail })),
    examiner: closed(given.examiner ?? createContentExaminer(EXAMINATION_THREAD, fail)),
    logoReader: closed(given.logoReader ?? createLogoReader(fail)),
  };
}
