import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandStartedEvent } from 'mongodb';
import { type App, startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import type { Member } from '../../src/domain/principal.ts';
import { JOBS_COLLECTION } from '../../src/jobs/job-documents.ts';
import { JOB_NAMES } from '../../src/jobs/stage-jobs.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { serveRequests } from './bench-process.ts';
import { EMPTY_RENDERER } from './empty-renderer.ts';
import { startThreadProfiles, type ThreadProfiles } from './profile-threads.ts';
import { startStockWorker } from './stock-worker.ts';
import { storePending } from './stored-invoices.ts';
import { drained, OPEN, OWN } from './throughput-drain.ts';
import { startLimit } from './throughput-limit.ts';
import type {
  ThroughputAnswer,
  ThroughputKind,
  ThroughputOptions,
  ThroughputRequest,
  ThroughputService,
} from './throughput-work.ts';

// Runs one side of `throughput` in its own process, on the embedded engine. `ours` is the unmodified service; the
// others use its store, and `stock` its API.

const { kind, pdfs, countCommands } = JSON.parse(process.argv[2] ?? '{}') as ThroughputOptions;
const dataDir = await mkdtemp(join(tmpdir(), 'throughput-'));
const limits = {
  RATE_LIMIT_SECRET: '1000000000',
  RATE_LIMIT_PUBLISHABLE: '1000000000',
  RATE_LIMIT_ADDRESS: '1000000000',
};
const settings = readConfig({ PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'error', ...limits });
const renderer = pdfs ? undefined : EMPTY_RENDERER;
const app = await startApp(kind === 'ours' ? settings : { ...settings, role: 'api' }, {
  monitorCommands: countCommands,
  ...(renderer && { renderer }),
});
const { demo } = app.firstStart;
if (app.url === null || demo === null) throw new Error('the service has no address or no demo tenant');
await app.warm;
const tenant = await app.tenants.find(demo.tenantId);
if (!tenant) throw new Error('the demo tenant is not stored');
const owner: Member = { kind: 'secret', keyId: 'key_bench', tenant, environment: 'test' };
const side = await startSide(kind, app, app.url);

const invoices = app.store.db.collection<InvoiceDocument>('invoices');
const ofTenant = { tenantId: tenant.id, environment: 'test', kind: 'invoice' } as const;
let commands: Record<string, number> = {};
app.store.client.on('commandStarted', ({ commandName, command }: CommandStartedEvent) => {
  const name = `${commandName} ${String(command[commandName])}`;
  if (commandName !== 'getMore' && command.comment !== OWN.comment) commands[name] = (commands[name] ?? 0) + 1;
});
let profiles: ThreadProfiles | null = null;

serveRequests<ThroughputRequest>(answer, async () => {
  await side.close();
  await app.close();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
});
process.send?.({ url: side.url, secretKey: demo.secretKey } satisfies ThroughputService);

async function startSide(of: ThroughputKind, { store, ...rest }: App, url: string) {
  if (of === 'limit') return startLimit(store.db, owner);
  const close = of === 'stock' ? await startStockWorker({ store, ...rest }, dataDir, url, renderer) : async () => {};
  return { url, close };
}

async function answer(request: ThroughputRequest): Promise<ThroughputAnswer> {
  switch (request.do) {
    case 'drain':
      return drained(invoices, owner.tenant.id);
    case 'rest':
      await removeWork();
      return {};
    case 'store':
      await storePending(invoices, owner, request);
      return {};
    case 'count pending':
      return { pending: await invoices.countDocuments({ ...ofTenant, status: 'pending' }, OWN) };
    case 'count commands': {
      const counted = commands;
      commands = {};
      return { commands: counted };
    }
    case 'profile':
      profiles = await startThreadProfiles();
      return {};
    case 'write profiles':
      await profiles?.end(request.folder);
      profiles = null;
      return {};
  }
}

async function removeWork(): Promise<void> {
  await invoices.deleteMany({ ...ofTenant, status: { $in: [...OPEN] } }, OWN);
  await invoices.updateMany({ work: { $exists: true } }, { $unset: { work: '' } }, OWN);
  const names = [...JOB_NAMES.keys()];
  await app.store.db.collection(JOBS_COLLECTION).deleteMany({ name: { $in: names }, lockedAt: null }, OWN);
}
