import { startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/domain/ids.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { serveRequests } from './bench-process.ts';
import { EMPTY_RENDERER } from './empty-renderer.ts';
import type { ProcessAnswer, ProcessOptions, ProcessRequest, StartedProcess } from './processes-work.ts';
import { drained } from './throughput-drain.ts';

// Runs one api or worker process of the unmodified service, for a side of `processes`.

const { role, mongodbUrl, dataDir } = JSON.parse(process.argv[2] ?? '{}') as ProcessOptions;
const limits = { RATE_LIMIT_SECRET: '1000000000', RATE_LIMIT_ADDRESS: '1000000000' };
const app = await startApp(
  readConfig({
    ...{ PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'error', ROLE: role, ...limits },
    ...{ MONGODB_URL: mongodbUrl, MASTER_KEY: '0123456789abcdef'.repeat(4) },
  }),
  { renderer: EMPTY_RENDERER },
);
await app.warm;

serveRequests<ProcessRequest>(answer, () => app.close());
process.send?.({ url: app.url } satisfies StartedProcess);

async function answer(request: ProcessRequest): Promise<ProcessAnswer> {
  switch (request.do) {
    case 'make tenant': {
      const tenantId = newId('ten');
      await app.tenants.insert({ id: tenantId, name: 'Bench', profile: SPECIMEN_SELLER, createdAt: new Date() });
      const { token } = await app.manageKeys.create(tenantId, 'secret', 'test');
      return { service: { url: app.url ?? '', secretKey: token, tenantId } };
    }
    case 'drain':
      return drained(app.store.db.collection<InvoiceDocument>('invoices'), request.tenantId);
    case 'count claims':
      return { claims: app.claimCounts() ?? { found: 0, claimed: 0 } };
  }
}
