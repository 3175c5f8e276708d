import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type App, startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { ALL_PARTITIONS, LANES } from '../../src/domain/invoice/lanes.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { serveRequests } from './bench-process.ts';
import { storeDone, storePending } from './stored-invoices.ts';

// Runs the service without its worker over a number of stored invoices, for one side of `growth` or `dashboard`.

/** Sent when the process is ready. */
export interface GrowthService {
  readonly url: string;
  readonly secretKey: string;
  /** The link with which a person becomes an owner of the tenant. */
  readonly invitationUrl: string;
  /** Ids of some of the stored invoices, spread over all of them. */
  readonly ids: readonly string[];
}

export type GrowthRequest =
  /** Ends the service and starts it again over the same data. Answers its new `url`. */
  | { readonly do: 'restart' }
  /** Makes some work due, finds and claims it as a worker with a backlog does, and removes it. */
  | { readonly do: 'claim' };

/** The data that the service stores before it is ready. */
interface GrowthData {
  readonly count: number;
  readonly lines: number;
}

export interface GrowthAnswer {
  readonly url: string;
  /** Durations, milliseconds: of the start, or of each search and of each claim. */
  readonly start: number;
  readonly searches: readonly number[];
  readonly claims: readonly number[];
}

/** Number of invoices of {@link GrowthService.ids}. */
const SAMPLE = 1000;
/** Invoices that a worker with a backlog claims at once: it looks again when this many places are free. */
const AT_ONCE = LANES.stages.places / 4;
/** Number of invoices that are due and claimed. */
const DUE = 50 * AT_ONCE;
/** Time over which the stored invoices were created, milliseconds, so that a period has them on many days. */
const OVER_MS = 25 * 86_400_000;
/** No lease ends during the measurement. */
const LEASE_MS = 60_000;

const { count, lines } = JSON.parse(process.argv[2] ?? '{}') as GrowthData;
const dataDir = await mkdtemp(join(tmpdir(), 'growth-'));
const UNLIMITED = '1000000000';
const limits = { RATE_LIMIT_SECRET: UNLIMITED, RATE_LIMIT_PUBLISHABLE: UNLIMITED, RATE_LIMIT_ADDRESS: UNLIMITED };
const config = { ...readConfig({ PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'error', ...limits }), role: 'api' as const };
let app = await startApp(config);
const { demo, invitationUrl } = app.firstStart;
const tenant = demo && (await app.tenants.find(demo.tenantId));
if (demo === null || tenant === null || invitationUrl === null) throw new Error('the service has no demo tenant');
const owner = { kind: 'secret', keyId: 'key_bench', tenant, environment: 'test' } as const;
const invoicesOf = ({ store: { db } }: App) => db.collection<InvoiceDocument>('invoices');
const stored = await storeDone(app.store.db, owner, { count, lines, overMs: OVER_MS });
const each = Math.max(1, Math.floor(count / SAMPLE));

serveRequests<GrowthRequest>(
  async (request): Promise<GrowthAnswer> => {
    const nothing = { url: app.url ?? '', start: 0, searches: [], claims: [] };
    if (request.do === 'claim') return { ...nothing, ...(await claimDue()) };
    await app.close();
    const startedAt = performance.now();
    app = await startApp(config);
    return { ...nothing, url: app.url ?? '', start: performance.now() - startedAt };
  },
  async () => {
    await app.close();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  },
);
process.send?.({
  url: app.url ?? '',
  secretKey: demo.secretKey,
  invitationUrl,
  ids: stored.filter((_id, index) => index % each === 0),
} satisfies GrowthService);

async function claimDue(): Promise<Pick<GrowthAnswer, 'searches' | 'claims'>> {
  const collection = invoicesOf(app);
  const repository = createInvoiceRepository(app.store.db);
  const ids = await storePending(collection, owner, { count: DUE, lines });
  const searches: number[] = [];
  const claims: number[] = [];
  for (let claimed = 0; claimed < DUE; claimed += AT_ONCE) {
    const [found, searchMs] = await timed(() => repository.due('stages', ALL_PARTITIONS, AT_ONCE));
    const invoiceIds = found.map(({ invoiceId }) => invoiceId);
    const [taken, claimMs] = await timed(() => repository.claimMany('stages', invoiceIds, LEASE_MS));
    if (taken.length !== AT_ONCE) throw new Error(`${taken.length} of ${AT_ONCE} invoices were claimed`);
    searches.push(searchMs);
    claims.push(claimMs);
  }
  await collection.deleteMany({ _id: { $in: ids } });
  return { searches, claims };
}

/** @returns what the work returns, and its duration in milliseconds */
async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const startedAt = performance.now();
  const result = await work();
  return [result, performance.now() - startedAt];
}
