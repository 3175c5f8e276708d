import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/domain/ids.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { EMPTY_RENDERER } from './empty-renderer.ts';

// The service of one side of `authority`, in its own process. Its environment has the authority's settings;
// without them it makes a test key, whose invoices the mock decides.

/** The message when the process is ready, and the answer to each message: the state of its invoices. */
export type AuthorityServiceMessage =
  | { readonly url: string; readonly secretKey: string }
  | { readonly accepted: number; readonly unfinished: number };

const dataDir = await mkdtemp(join(tmpdir(), 'authority-bench-'));
const app = await startApp(
  readConfig({
    ...process.env,
    PORT: '0',
    DATA_DIR: dataDir,
    LOG_LEVEL: 'error',
    DGI_CONCURRENCY: '16',
    RATE_LIMIT_SECRET: '1000000',
    RATE_LIMIT_PUBLISHABLE: '1000000',
    RATE_LIMIT_ADDRESS: '1000000',
  }),
  // PDFs are drawn in idle time after the acceptance, for longer than all the rest takes.
  { renderer: EMPTY_RENDERER },
);
if (app.url === null) throw new Error('the service has no address');
await app.warm;
const id = newId('ten');
const profile = { ...SPECIMEN_SELLER, ice: '001525713000085' };
await app.tenants.insert({ id, name: 'Bench', profile, createdAt: new Date() });
const environment = process.env.DGI_URL === undefined ? 'test' : 'live';
const { token } = await app.manageKeys.create(id, 'secret', environment);

const invoices = app.store.db.collection<InvoiceDocument>('invoices');
const tell = (message: AuthorityServiceMessage) => process.send?.(message);
process.on('message', async () => {
  const [accepted, unfinished] = await Promise.all([
    invoices.countDocuments({ status: 'accepted' }),
    invoices.countDocuments({ work: { $exists: true } }),
  ]);
  tell({ accepted, unfinished });
});
process.once('disconnect', async () => {
  await app.close();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  process.exit(0);
});
tell({ url: app.url, secretKey: token });
