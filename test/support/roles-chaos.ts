import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomNumbers } from '../../scripts/random-numbers.ts';
import { administrationOf } from '../../src/app/administration.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/domain/ids.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { ensureIndexes } from '../../src/storage/indexes.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { doomedServer } from './chaos-server.ts';
import { invoiceBody } from './client.ts';
import { type EngineProcess, startEngineAtOwnPort, startEngineProcess } from './engine-process.ts';
import { type FollowedStream, followInvoice } from './followed-stream.ts';
import { freshDbName } from './mongodb.ts';
import { startReceiver } from './receiver.ts';
import { type ReferenceServer, startReference } from './reference-server.ts';
import { withDatabase } from './service.ts';

export interface RolesChaosPlan {
  /** The store that all processes share: the independent server, or the engine in its own process. */
  readonly on: 'reference' | 'engine';
  readonly seed: number;
  /** Invoices per second, and duration in seconds. */
  readonly rate: number;
  readonly seconds: number;
  /** Mean time between two kills of a random process, milliseconds. */
  readonly killEveryMs: number;
  /** Maximum number of killed processes; default: no limit. The kill of the store does not count. */
  readonly mostKills?: number;
  /** Maximum duration of all work after the last creation, milliseconds. */
  readonly patienceMs: number;
  /** Stops the processes when the test is aborted. */
  readonly signal: AbortSignal;
}

/** The records of clients, of the authority, of receivers and of readers of streams. */
export interface RolesChaosOutcome {
  /** Ids of the answered creations, by Idempotency-Key. */
  readonly created: ReadonlyMap<string, string>;
  readonly invoices: readonly InvoiceDocument[];
  readonly ledger: readonly LedgerEntry[];
  /** The events of each invoice that the receiver got, in the order of their first arrival. */
  readonly received: ReadonlyMap<string, readonly ReceivedEvent[]>;
  readonly streams: readonly FollowedStream[];
  readonly kills: number;
  /** Number of requests that lost their connection, or were refused, and were repeated. */
  readonly broken: number;
  /** The errors that the processes logged. */
  readonly complaints: readonly string[];
}

export interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
}

/** A submission in the ledger of the mock authority. `_id` is the id of the invoice. */
interface LedgerEntry {
  readonly _id: string;
  readonly decision: { readonly dgiId?: string };
}

const REQUEST_LIMIT_MS = 20_000;
const LOOK_MS = 250;
export const EVENTS = ['invoice.signing', 'invoice.transmitted', 'invoice.accepted'] as const;

/**
 * Runs two `api` and two `worker` processes on one store. Clients create invoices and follow each by a stream. One
 * process after the other is killed and restarted, and halfway through the store is killed, too.
 */
export async function runRolesChaos(plan: RolesChaosPlan): Promise<RolesChaosOutcome> {
  const random = randomNumbers(plan.seed);
  const folder = await mkdtemp(join(tmpdir(), 'roles-'));
  let server = await startStore(plan.on, join(folder, 'db'));
  const uri = withDatabase(server.uri, freshDbName('roles'));
  const receiver = await startReceiver();
  const settings = {
    LOG_LEVEL: 'error',
    RATE_LIMIT_SECRET: '1000000',
    RATE_LIMIT_PUBLISHABLE: '1000000',
    ALLOW_INSECURE_WEBHOOKS: 'true',
    CHROMIUM_PATH: '/nonexistent',
    WEBHOOK_RETRY_SCHEDULE: '0s,1s,2s,4s,8s,16s',
    DATA_DIR: folder,
    MONGODB_URL: uri,
    MASTER_KEY: '0123456789abcdef'.repeat(4),
  };
  const apis = [0, 1].map(() => doomedServer({ ...settings, ROLE: 'api' }));
  const servers = [...apis, ...[0, 1].map(() => doomedServer({ ...settings, ROLE: 'worker' }))];
  const killAll = () => Promise.all(servers.map((server) => server.kill()));
  plan.signal.addEventListener('abort', () => void killAll());
  let store = await connect(uri);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const anyApi = () => pick(apis).url();
  try {
    const secretKey = await newTenant(store);
    await Promise.all(servers.map((server) => server.start()));
    const endpoint = { url: `${receiver.url}/hook`, events: EVENTS };
    const { status } = await post(await anyApi(), '/v1/webhook_endpoints', secretKey, endpoint);
    if (status !== 201) throw new Error(`the endpoint was answered ${status}`);
    const created = new Map<string, string>();
    const following: Promise<FollowedStream>[] = [];
    let broken = 0;

    async function createOne(key: string): Promise<void> {
      for (;;) {
        const made = await create(await anyApi(), secretKey, key);
        if (made) {
          created.set(key, made.id);
          following.push(followInvoice(anyApi, made, plan.patienceMs));
          return;
        }
        broken++;
        await sleep(50);
      }
    }

    async function createAll(): Promise<void> {
      const begun = Date.now();
      const under: Promise<void>[] = [];
      for (let nth = 0; nth < plan.rate * plan.seconds; nth++) {
        await sleep(Math.max(0, begun + (nth * 1000) / plan.rate - Date.now()));
        under.push(createOne(`order-${nth}`));
      }
      await Promise.all(under);
    }

    let kills = 0;
    let isOver = false;
    async function killNowAndThen(): Promise<void> {
      while (!isOver && kills < (plan.mostKills ?? Number.POSITIVE_INFINITY)) {
        await sleep(random() * 2 * plan.killEveryMs);
        const victim = pick(servers);
        await victim.kill();
        kills++;
        // A process that starts while the store is away ends with a message. So a process and the store are never
        // restarted at the same time.
        await restarting;
        starting = victim.start();
        await starting;
      }
    }

    let restarting: Promise<void> = Promise.resolve();
    let starting: Promise<unknown> = Promise.resolve();
    async function restartStore(): Promise<void> {
      await sleep((plan.seconds * 1000) / 2);
      const port = Number(new URL(server.uri).port);
      restarting = (async () => {
        await starting.catch(() => undefined);
        await server.kill();
        await sleep(2000);
        server = await startStore(plan.on, join(folder, 'db'), port);
      })();
      await restarting;
    }

    const killing = killNowAndThen();
    await Promise.all([createAll(), restartStore()]);
    isOver = true;
    await killing;
    const streams = await Promise.all(following);
    await store.close();
    store = await connect(uri);
    await published(store, Date.now() + plan.patienceMs, () => receiver.received.length);
    await Promise.all(servers.map((server) => server.stop()));
    const received = new Map<string, ReceivedEvent[]>();
    for (const { event } of receiver.received) {
      const events = received.get(event.data.id) ?? [];
      if (!events.some(({ id }) => id === event.id)) events.push({ id: event.id, type: event.type });
      received.set(event.data.id, events);
    }
    return {
      created,
      streams,
      kills,
      broken,
      received,
      invoices: await store.db.collection<InvoiceDocument>('invoices').find().toArray(),
      ledger: await store.db.collection<LedgerEntry>('mock_submissions').find().toArray(),
      complaints: servers.flatMap(({ seen }) => seen.complaints),
    };
  } finally {
    await killAll();
    await store.close();
    await server.kill();
    await receiver.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function startStore(on: RolesChaosPlan['on'], folder: string, port?: number): Promise<EngineProcess | ReferenceServer> {
  if (on === 'reference') return mkdir(folder, { recursive: true }).then(() => startReference(folder, port));
  return port === undefined ? startEngineAtOwnPort(folder) : startEngineProcess(folder, '--port', String(port));
}

async function newTenant(store: Store): Promise<string> {
  await ensureIndexes(store.db);
  const { tenants, manageKeys } = administrationOf(store, readConfig({}));
  const tenantId = newId('ten');
  await tenants.insert({ id: tenantId, name: 'T', profile: {}, createdAt: new Date() });
  return (await manageKeys.create(tenantId, 'secret', 'test')).token;
}

interface Made {
  readonly id: string;
  readonly clientSecret: string;
}

/** @returns null if the connection broke or the request was refused temporarily */
async function create(url: string, secretKey: string, key: string): Promise<Made | null> {
  try {
    const response = await post(url, '/v1/invoices', secretKey, invoiceBody(), { 'Idempotency-Key': key });
    const body = (await response.json()) as { id: string; client_secret: string };
    return response.status === 201 ? { id: body.id, clientSecret: body.client_secret } : null;
  } catch {
    return null;
  }
}

function post(url: string, path: string, secretKey: string, body: unknown, headers: Record<string, string> = {}) {
  return fetch(url + path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
  });
}

/** Waits until no event and no delivery is left, and the receiver has received nothing new for a while. */
async function published(store: Store, end: number, received: () => number): Promise<void> {
  const waiting = async () =>
    (await store.db.collection('invoices').countDocuments({ outbox: { $exists: true } }, { limit: 1 })) +
    (await store.db.collection('webhook_deliveries').countDocuments({ state: 'pending' }, { limit: 1 }));
  for (let before = -1; Date.now() < end; ) {
    const now = received();
    if ((await waiting()) === 0 && now === before) return;
    before = now;
    await sleep(4 * LOOK_MS);
  }
}
