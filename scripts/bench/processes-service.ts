import { startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/domain/ids.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { serveRequests } from './bench-process.ts';
import { EMPTY_RENDERER } from './empty-renderer.ts';
import type { ProcessAnswer, ProcessOptions, ProcessRequest, StartedProcess } from './processes-work.ts';
import { storeIdle } from './stored-invoices.ts';
import { drained } from './throughput-drain.ts';

// Runs one api or worker process of the unmodified service, for a side of `processes`.

const { role, mongodbUrl, dataDir } = JSON.parse(process.argv[2] ?? '{}') as ProcessOptions;
const limits = { RATE_LIMIT_SECRET: '1000000000', RATE_LIMIT_ADDRESS: '1000000000' };
const app = await startApp(
  readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    LOG_LEVEL: 'error',
    ROLE: role,
    ...limits,
    MONGODB_URL: mongodbUrl,
    MASTER_KEY: '0123456789abcdef'.repeat(4),
  }),
  { renderer: EMPTY_RENDERER },
);
await app.warm;

serveRequests<ProcessRequest>(answer, () => app.close());
process.send?.({ url: app.url } satisfies StartedProcess);

async function answer(request: ProcessRequest): Promise<ProcessAnswer> {
  switch (request.do) {
    case 'make tenant':
      return { service: await makeTenant() };
    case 'follow': {
      const { url, secretKey, tenantId } = await makeTenant();
      const tenant = await app.tenants.find(tenantId);
      if (!tenant) throw new Error('the tenant is not stored');
      const owner = { kind: 'secret', keyId: 'key_bench', tenant, environment: 'test' } as const;
      const [id] = await storeIdle(app.store.db.collection<InvoiceDocument>('invoices'), owner, { count: 1, lines: 1 });
      const headers = { Authorization: `Bearer ${secretKey}`, Accept: 'text/event-stream' };
      await follow(`${url}/v1/invoices/${id}/stream`, { headers });
      await follow(`${url}/graphql/stream`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: JSON.stringify({ query: 'subscription { invoiceEvents { event { id } } }' }),
      });
      return {};
    }
    case 'drain':
      return drained(app.store.db.collection<InvoiceDocument>('invoices'), request.tenantId);
    case 'count claims':
      return { claims: app.claimCounts() ?? { found: 0, claimed: 0 } };
  }
}

async function makeTenant() {
  const tenantId = newId('ten');
  await app.tenants.insert({ id: tenantId, name: 'Bench', profile: SPECIMEN_SELLER, createdAt: new Date() });
  const { token } = await app.manageKeys.create(tenantId, 'secret', 'test');
  return { url: app.url ?? '', secretKey: token, tenantId };
}

/** Reads a stream until it ends. Resolves when it has begun. @throws unless it begins */
async function follow(url: string, request: RequestInit): Promise<void> {
  const { status, body } = await fetch(url, request);
  if (status !== 200 || body === null) throw new Error(`${url} was answered ${status}`);
  // It ends with the process.
  body.pipeTo(new WritableStream()).catch(() => undefined);
}
