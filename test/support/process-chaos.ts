import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomNumbers } from '../../scripts/random-numbers.ts';
import { administrationOf } from '../../src/app/administration.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/domain/ids.ts';
import { JOBS_COLLECTION } from '../../src/jobs/job-documents.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { ensureIndexes } from '../../src/storage/indexes.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { type DoomedServer, doomedServer } from './chaos-server.ts';
import { invoiceBody } from './client.ts';
import { freshDbName } from './mongodb.ts';
import { withDatabase } from './service.ts';

export interface ProcessChaosPlan {
  /** The server that all processes share. */
  readonly mongodbUri: string;
  readonly seed: number;
  readonly processes: number;
  readonly creations: number;
  /** Number of clients that create at the same time. */
  readonly clients: number;
  /** Number of kills (kill -9), each of a random process; 0: nothing is killed. */
  readonly kills: number;
  /** Mean time between two kills, milliseconds. */
  readonly killEveryMs: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Maximum time until all invoices are final after the last creation, milliseconds. */
  readonly patienceMs: number;
  /** Stops the processes when the test is aborted. */
  readonly signal: AbortSignal;
}

export interface ProcessChaosOutcome {
  /**
   * Time from the last kill, or from the first creation if there was none, until the last status was final,
   * milliseconds; infinite if patience ended first.
   */
  readonly settledMs: number;
  /** Number of invoices without a final status at the last kill. */
  readonly openAtLastKill: number;
  readonly invoices: readonly InvoiceDocument[];
  /** Maximum number of jobs that waited for one invoice and one stage at the same time. */
  readonly mostWaiting: number;
  /** The errors that the processes logged. */
  readonly complaints: readonly string[];
  /** Number of requests that lost their connection, or were refused, and were repeated. */
  readonly broken: number;
}

const LOOK_MS = 250;
const REQUEST_LIMIT_MS = 20_000;
const STATUS_JOBS = ['normalize', 'sign', 'transmit', 'decide'].map((stage) => `invoice.${stage}`);
const OPEN = { status: { $nin: ['accepted', 'rejected'] } } as const;

/**
 * Runs several processes of the service on one server. Kills processes at random moments while clients create invoices
 * without pauses, and restarts each immediately. A request whose connection breaks is repeated at any process with the
 * same Idempotency-Key.
 */
export async function runProcessChaos(plan: ProcessChaosPlan): Promise<ProcessChaosOutcome> {
  const random = randomNumbers(plan.seed);
  const dataDir = await mkdtemp(join(tmpdir(), 'chaos-'));
  const uri = withDatabase(plan.mongodbUri, freshDbName('chaos'));
  const store = await connect(uri);
  const servers = Array.from({ length: plan.processes }, () =>
    doomedServer({
      LOG_LEVEL: 'error',
      RATE_LIMIT_SECRET: '1000000',
      ...plan.environment,
      MONGODB_URL: uri,
      MASTER_KEY: '0123456789abcdef'.repeat(4),
      DATA_DIR: dataDir,
    }),
  );
  const killAll = () => Promise.all(servers.map((server) => server.kill()));
  plan.signal.addEventListener('abort', () => void killAll());
  try {
    const secretKey = await newKey(store);
    await Promise.all(servers.map((server) => server.start()));
    const startedAt = Date.now();
    const watch = watchJobs(store);
    let lastKillAt = startedAt;
    let openAtLastKill = 0;
    const killing = killNowAndThen(servers, plan, random, async () => {
      lastKillAt = Date.now();
      openAtLastKill = await store.db.collection('invoices').countDocuments(OPEN);
    });
    const [broken] = await Promise.all([createAll(servers, secretKey, plan, random), killing]);
    const settledAt = await settled(store, Date.now() + plan.patienceMs);
    const mostWaiting = await watch.end();
    await Promise.all(servers.map((server) => server.stop()));
    return {
      settledMs: settledAt - lastKillAt,
      openAtLastKill,
      invoices: await store.db.collection<InvoiceDocument>('invoices').find().toArray(),
      mostWaiting,
      complaints: servers.flatMap(({ seen }) => seen.complaints),
      broken,
    };
  } finally {
    await killAll();
    await store.db.dropDatabase();
    await store.close();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function newKey(store: Store): Promise<string> {
  await ensureIndexes(store.db);
  const { tenants, manageKeys } = administrationOf(store, readConfig({}));
  const tenantId = newId('ten');
  await tenants.insert({ id: tenantId, name: 'T', profile: {}, createdAt: new Date() });
  return (await manageKeys.create(tenantId, 'secret', 'test')).token;
}

/** @returns number of requests whose connection broke */
async function createAll(
  servers: readonly DoomedServer[],
  secretKey: string,
  { creations, clients }: Pick<ProcessChaosPlan, 'creations' | 'clients'>,
  random: () => number,
): Promise<number> {
  let broken = 0;

  async function create(key: string): Promise<void> {
    for (;;) {
      const url = await servers[Math.floor(random() * servers.length)]!.url();
      try {
        const response = await fetch(`${url}/v1/invoices`, {
          method: 'POST',
          headers: {
            Authorization: `Bearer ${secretKey}`,
            'Content-Type': 'application/json',
            'Idempotency-Key': key,
          },
          body: JSON.stringify(invoiceBody()),
          signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
        });
        await response.arrayBuffer();
        if (response.status === 201) return;
      } catch {}
      broken++;
      await sleep(20);
    }
  }

  const keys = Array.from({ length: creations }, (_, i) => `order-${i}`);
  const work = async () => {
    for (let key = keys.shift(); key !== undefined; key = keys.shift()) await create(key);
  };
  await Promise.all(Array.from({ length: clients }, work));
  return broken;
}

async function killNowAndThen(
  servers: readonly DoomedServer[],
  { kills, killEveryMs }: Pick<ProcessChaosPlan, 'kills' | 'killEveryMs'>,
  random: () => number,
  killed: () => Promise<void>,
): Promise<void> {
  const restarts: Promise<void>[] = [];
  for (let kill = 0; kill < kills; kill++) {
    await sleep(random() * 2 * killEveryMs);
    const server = servers[Math.floor(random() * servers.length)]!;
    await server.kill();
    await killed();
    restarts.push(server.start());
  }
  await Promise.all(restarts);
}

/** Counts repeatedly how many jobs wait for one invoice and one of the stages that decide its status. */
function watchJobs(store: Store) {
  let most = 0;
  let ended = false;
  const look = async () => {
    const [top] = await store.db
      .collection(JOBS_COLLECTION)
      .aggregate<{ count: number }>([
        { $match: { name: { $in: STATUS_JOBS }, nextRunAt: { $ne: null } } },
        { $group: { _id: { name: '$name', invoiceId: '$data.invoiceId' }, count: { $sum: 1 } } },
        { $sort: { count: -1 } },
        { $limit: 1 },
      ])
      .toArray();
    most = Math.max(most, top?.count ?? 0);
  };
  const looking = (async () => {
    while (!ended) {
      await look();
      await sleep(LOOK_MS);
    }
  })();
  return {
    async end(): Promise<number> {
      ended = true;
      await looking;
      return most;
    },
  };
}

/** @returns when the last status became final, UNIX milliseconds; infinite if that had not happened by `end` */
async function settled(store: Store, end: number): Promise<number> {
  const invoices = store.db.collection('invoices');
  while (Date.now() < end) {
    if ((await invoices.countDocuments(OPEN, { limit: 1 })) === 0) return Date.now();
    await sleep(LOOK_MS);
  }
  return Number.POSITIVE_INFINITY;
}
