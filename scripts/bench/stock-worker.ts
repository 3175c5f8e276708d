import { join } from 'node:path';
import { createMockAuthority } from '../../src/adapters/authority/mock/mock-authority.ts';
import { createReceiptReader } from '../../src/adapters/authority/receipt-reader.ts';
import { createPdfRenderer } from '../../src/adapters/pdf/pdf-renderer.ts';
import { softwareKey } from '../../src/adapters/signing-key/software-key.ts';
import { loadTestIdentity } from '../../src/adapters/signing-key/test-identity.ts';
import { createInvoiceWriter } from '../../src/adapters/ubl/invoice-writer.ts';
import { createDocumentSigner } from '../../src/adapters/xades/document-signer.ts';
import { createDocumentVerifier } from '../../src/adapters/xades/document-verifier.ts';
import type { App } from '../../src/app/app.ts';
import type { ClosableRenderer } from '../../src/app/documents.ts';
import { createSignedRenderer } from '../../src/app/signed-renderer.ts';
import { createDocumentStore } from '../../src/storage/documents.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { createSubmissionLedger } from '../../src/storage/submission-ledger.ts';
import { startStockAgenda } from './stock-agenda.ts';

/**
 * Starts stock Agenda as the worker of a service that runs its API alone, with the parts of the service.
 * @param given a renderer in place of the one with a browser; closed with the worker
 * @returns a function that stops it
 */
export async function startStockWorker(
  { store: { db } }: App,
  dataDir: string,
  publicUrl: string,
  given?: ClosableRenderer,
): Promise<() => Promise<void>> {
  const key = softwareKey(await loadTestIdentity(dataDir), true);
  const renderer = given ?? createSignedRenderer(createPdfRenderer({ cacheDir: join(dataDir, 'chromium') }), () => key);
  const writer = createInvoiceWriter();
  const verifier = createDocumentVerifier();
  const end = await startStockAgenda({
    db,
    invoices: createInvoiceRepository(db),
    documents: createDocumentStore(db),
    writer,
    signer: createDocumentSigner(key),
    authority: createMockAuthority({
      ledger: createSubmissionLedger(db),
      verify: (document) => verifier.verify(document),
      signer: createDocumentSigner(key),
      readReceipt: createReceiptReader({ verify: verifier.verify, trust: () => ({ trusted: true }) }),
    }),
    renderer,
    publicUrl,
  });
  await Promise.all([renderer.warm(), verifier.verify(new Uint8Array())]);
  return async () => {
    await end();
    await writer.close();
    await Promise.all([renderer.close(), verifier.close()]);
  };
}
