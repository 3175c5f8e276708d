import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { createAuthenticate } from '../../src/domain/api-key/authenticate.ts';
import { createEmbedTokens } from '../../src/domain/embedding/embed-token.ts';
import { createClientSecrets } from '../../src/domain/invoice/client-secret.ts';
import { createFindPresentInvoice } from '../../src/domain/invoice/find-present.ts';
import { createReadInvoice } from '../../src/domain/invoice/read-invoice.ts';
import type { UseCases } from '../../src/graphql/context.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { createDocumentUrl } from '../../src/transport/document-url.ts';
import { startBareJit } from './graphql-bare-jit.ts';
import { startStockYoga } from './graphql-stock-yoga.ts';

// Runs all sides of `graphql` in one process, on one store and one driver: the service without its worker, stock Yoga,
// and bare graphql-jit.

/**
 * The message when the process is ready, and the answer to each message: CPU time of the process and of its event loop
 * so far.
 */
export type GraphqlServiceMessage =
  | { ours: string; stock: string; bare: string; secretKey: string; invoiceIds: string[] }
  | { cpuMs: number; loopMs: number };

const [INVOICES, LINES] = [100, 20];

const dataDir = await mkdtemp(join(tmpdir(), 'graphql-bench-'));
const limits = { RATE_LIMIT_SECRET: '1000000000', RATE_LIMIT_ADDRESS: '1000000000' };
const settings = readConfig({ PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...limits });
const app = await startApp({ ...settings, role: 'api' });
const { url } = app;
if (url === null || app.firstStart.demo === null) throw new Error('the service has no address or no demo tenant');
const { secretKey } = app.firstStart.demo;

const invoiceIds: string[] = [];
for (let i = 0; i < INVOICES; i++) invoiceIds.push(await createInvoice());
// Sets the state that the worker would: most reads are of accepted invoices.
const accepted = { status: 'accepted', dgiId: 'DGI-TEST-0123456789ABCDEF' };
await app.store.db.collection('invoices').updateMany({}, { $set: accepted });

const clientSecrets = createClientSecrets(app.keys.data);
const invoices = createInvoiceRepository(app.store.db);
// The use cases of the measured query.
const useCases: Pick<UseCases, 'readInvoice' | 'documentUrl'> = {
  readInvoice: createReadInvoice(invoices, createFindPresentInvoice(invoices, app.tenants), clientSecrets),
  documentUrl: createDocumentUrl(url, clientSecrets),
};
const embedTokens = createEmbedTokens(app.keys.data);
const authenticate = createAuthenticate(app.tenants, clientSecrets, embedTokens, null, null);
const stock = await startStockYoga(authenticate, useCases as UseCases);
const bare = await startBareJit(authenticate, useCases as UseCases);

const tell = (message: GraphqlServiceMessage) => process.send?.(message);
process.on('message', () => {
  const [all, loop] = [process.cpuUsage(), process.threadCpuUsage()];
  tell({ cpuMs: (all.user + all.system) / 1000, loopMs: (loop.user + loop.system) / 1000 });
});
process.once('disconnect', async () => {
  await stock.close();
  await bare.close();
  await app.close();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  process.exit(0);
});
tell({ ours: url, stock: stock.url, bare: bare.url, secretKey, invoiceIds });

async function createInvoice(): Promise<string> {
  const lines = Array.from({ length: LINES }, (_, line) => ({
    description: `Prestation ${line + 1}`,
    quantity: 2,
    unit_price: 10_000 + line,
    tax_rate: line % 2 === 0 ? 20 : 10,
  }));
  const taxOf = (rate: number) =>
    Math.round(
      (lines.filter((line) => line.tax_rate === rate).reduce((sum, line) => sum + line.quantity * line.unit_price, 0) *
        rate) /
        100,
    );
  const net = lines.reduce((sum, line) => sum + line.quantity * line.unit_price, 0);
  const response = await fetch(`${url}/v1/invoices`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      amount: net + taxOf(20) + taxOf(10),
      currency: 'MAD',
      customer: { ice: '001234567000062', name: 'Atlas Distribution SARL' },
      lines,
      metadata: { order: '4711' },
    }),
  });
  const { id, error } = (await response.json()) as { id: string; error?: { message: string } };
  if (error) throw new Error(error.message);
  return id;
}
