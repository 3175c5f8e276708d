import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/domain/ids.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { serveRequests } from './bench-process.ts';
import { EMPTY_RENDERER } from './empty-renderer.ts';
import type { FairnessAnswer, FairnessRequest, FairnessService } from './fairness-work.ts';

// Runs the service on the embedded engine with several tenants, for `fairness` and `burst`.

const POLL_MS = 200;
const UNLIMITED = '1000000000';

const tenants = Number(process.argv[2]);
const dataDir = await mkdtemp(join(tmpdir(), 'fairness-'));
const limits = { RATE_LIMIT_SECRET: UNLIMITED, RATE_LIMIT_ADDRESS: UNLIMITED };
const app = await startApp(readConfig({ PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'error', ...limits }), {
  renderer: EMPTY_RENDERER,
});
if (app.url === null) throw new Error('the service has no address');
const keys: string[] = [];
const ids: string[] = [];
for (let nth = 0; nth < tenants; nth++) {
  const id = newId('ten');
  await app.tenants.insert({ id, name: `Tenant ${nth}`, profile: {}, createdAt: new Date() });
  keys.push((await app.manageKeys.create(id, 'secret', 'test')).token);
  ids.push(id);
}
const invoices = app.store.db.collection<InvoiceDocument>('invoices');

serveRequests<FairnessRequest>(
  async ({ since }): Promise<FairnessAnswer> => {
    const made = { createdAt: { $gte: new Date(since) } };
    while (await invoices.findOne({ ...made, status: { $nin: ['accepted', 'rejected'] } }, { projection: { _id: 1 } }))
      await sleep(POLL_MS);
    const found = await invoices.find(made, { projection: { tenantId: 1, createdAt: 1, events: 1 } }).toArray();
    const times = ids.map((): { created: number; accepted: number }[] => []);
    for (const { tenantId, createdAt, events } of found) {
      const accepted = events.find(({ status }) => status === 'accepted');
      if (!accepted) throw new Error('an invoice was not accepted');
      times[ids.indexOf(tenantId)]?.push({ created: createdAt.getTime(), accepted: accepted.at.getTime() });
    }
    return { invoices: times };
  },
  async () => {
    await app.close();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  },
);
process.send?.({ url: app.url, keys } satisfies FairnessService);
