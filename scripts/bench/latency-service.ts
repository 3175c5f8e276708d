import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMockAuthority } from '../../src/adapters/authority/mock/mock-authority.ts';
import { createReceiptReader } from '../../src/adapters/authority/receipt-reader.ts';
import { createPdfRenderer } from '../../src/adapters/pdf/pdf-renderer.ts';
import { softwareKey } from '../../src/adapters/signing-key/software-key.ts';
import { loadTestIdentity } from '../../src/adapters/signing-key/test-identity.ts';
import { createInvoiceWriter } from '../../src/adapters/ubl/invoice-writer.ts';
import { createDocumentSigner } from '../../src/adapters/xades/document-signer.ts';
import { createDocumentVerifier } from '../../src/adapters/xades/document-verifier.ts';
import { type App, startApp } from '../../src/app/app.ts';
import { createSignedRenderer } from '../../src/app/signed-renderer.ts';
import { readConfig } from '../../src/config.ts';
import { createDocumentStore } from '../../src/storage/documents.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { createSubmissionLedger } from '../../src/storage/submission-ledger.ts';
import { startStockAgenda } from './stock-agenda.ts';

// Runs one side of `latency` in its own process: `ours` is the unmodified service; `stock` is its API alone, with stock
// Agenda as the worker.

/**
 * The message when the process is ready, and the answer to each message: the number of commands sent to the store so
 * far.
 */
export type LatencyServiceMessage = { url: string; secretKey: string } | { commands: number };

const dataDir = await mkdtemp(join(tmpdir(), 'latency-'));
const settings = readConfig({
  PORT: '0',
  DATA_DIR: dataDir,
  LOG_LEVEL: 'warn',
  RATE_LIMIT_SECRET: '1000000',
  RATE_LIMIT_PUBLISHABLE: '1000000',
  RATE_LIMIT_ADDRESS: '1000000',
});
const stock = process.argv[2] === 'stock';
const app = await startApp(stock ? { ...settings, role: 'api' } : settings, { monitorCommands: true });
if (app.url === null || app.firstStart.demo === null) throw new Error('the service has no address or no demo tenant');
const endWorker = stock ? await startWorker(app, app.url) : async () => undefined;
await app.warm;

let commands = 0;
app.store.client.on('commandStarted', ({ commandName }) => {
  // Waiting for changes is not counted.
  if (commandName !== 'getMore') commands++;
});
const tell = (message: LatencyServiceMessage) => process.send?.(message);
process.on('message', () => tell({ commands }));
process.once('disconnect', async () => {
  await endWorker();
  await app.close();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  process.exit(0);
});
tell({ url: app.url, secretKey: app.firstStart.demo.secretKey });

async function startWorker({ store: { db } }: App, publicUrl: string): Promise<() => Promise<void>> {
  const key = softwareKey(await loadTestIdentity(dataDir), true);
  const renderer = createSignedRenderer(createPdfRenderer({ cacheDir: join(dataDir, 'chromium') }), () => key);
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
