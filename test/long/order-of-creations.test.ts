import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { randomNumbers } from '../../scripts/random-numbers.ts';
import { administrationOf } from '../../src/app/administration.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/domain/ids.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { ensureIndexes } from '../../src/storage/indexes.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { type DoomedServer, doomedServer } from '../support/chaos-server.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { withDatabase } from '../support/service.ts';

const PATIENCE = { timeout: 60_000, interval: 250 };
/** Kills of a process, and the time between two of them, milliseconds. */
const [KILLS, KILL_EVERY_MS] = [4, 1500];
const CREATE = `mutation ($input: CreateInvoiceInput!, $key: String) {
  createInvoice(input: $input, idempotencyKey: $key) { ... on CreateInvoicePayload { invoice { id } } }
}`;
const LINES = [{ description: 'Prestation', quantity: 1, unitPrice: 10_000, taxRate: 20 }];
const INPUT = { amount: 12_000, currency: 'MAD', customer: { ice: '001234567000062', name: 'Atlas' }, lines: LINES };

let mongo: TestMongo;
let dataDir: string;
let store: Store;
let servers: DoomedServer[];

beforeAll(async () => {
  mongo = await startTestMongo();
  dataDir = await mkdtemp(join(tmpdir(), 'order-'));
  const uri = withDatabase(mongo.uri, freshDbName('order'));
  store = await connect(uri);
  await ensureIndexes(store.db);
  servers = [0, 1].map(() =>
    doomedServer({
      LOG_LEVEL: 'error',
      RATE_LIMIT_SECRET: '1000000',
      CHROMIUM_PATH: '/nonexistent',
      MONGODB_URL: uri,
      MASTER_KEY: '0123456789abcdef'.repeat(4),
      DATA_DIR: dataDir,
    }),
  );
  await Promise.all(servers.map((server) => server.start()));
}, 60_000);
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await store.db.dropDatabase();
  await store.close();
  await mongo.close();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
});

async function newKey(): Promise<{ tenantId: string; key: string }> {
  const { tenants, manageKeys } = administrationOf(store, readConfig({}));
  const tenantId = newId('ten');
  await tenants.insert({ id: tenantId, name: 'T', profile: {}, createdAt: new Date() });
  return { tenantId, key: (await manageKeys.create(tenantId, 'secret', 'test')).token };
}

/** Asks one process after the other until one answers. */
async function answered<Answer>(nth: number, key: string, ask: (client: Client) => Promise<Answer | null>) {
  for (let turn = nth; ; turn++) {
    const server = servers[turn % servers.length] as DoomedServer;
    // One that was killed has no address until it serves again.
    const url = await Promise.race([server.url(), sleep(50, null)]);
    const answer = url === null ? null : await ask(new Client(url, key)).catch(() => null);
    if (answer !== null) return answer;
    await sleep(20);
  }
}

/** Creates an invoice by REST, or with a number of its own by GraphQL. A request that broke is sent again. */
function create(nth: number, key: string, own = false): Promise<string> {
  const name = `${own ? 'own' : 'rest'} ${nth}`;
  return answered(nth, key, async (client) => {
    if (own) {
      const { body } = await client.graphql(CREATE, { input: { ...INPUT, number: `N ${nth}` }, key: name });
      return (body.data?.createInvoice?.invoice?.id as string) ?? null;
    }
    const { status, body } = await client.post('/v1/invoices', invoiceBody(), { 'Idempotency-Key': name });
    return status === 201 ? (body.id as string) : null;
  });
}

/** Reads what is newer than `newest`, oldest first. */
async function newer(nth: number, key: string, newest: string): Promise<string[]> {
  const seen: string[] = [];
  for (let more = true; more; ) {
    const { data, has_more } = await answered(nth, key, async (client) => {
      const { status, body } = await client.get(`/v1/invoices?limit=20&ending_before=${seen.at(-1) ?? newest}`);
      return status === 200 ? (body as { data: { id: string }[]; has_more: boolean }) : null;
    });
    seen.push(...data.map(({ id }) => id).reverse());
    more = has_more;
  }
  return seen;
}

it('numbers follow the order of the answers, over two processes, also when one dies with an invoice that it has claimed', async () => {
  const random = randomNumbers(8);
  const { tenantId, key } = await newKey();
  const made: string[] = [];
  let isOver = false;
  const creating = (async () => {
    for (let nth = 0; !isOver || made.length < 60; nth++) {
      made.push(await create(nth, key));
      if (random() < 0.2) await sleep(random() * 100);
    }
  })();
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(KILL_EVERY_MS * (0.5 + random()));
    const server = servers[kill % servers.length] as DoomedServer;
    await server.kill();
    await server.start();
  }
  isOver = true;
  await creating;
  const invoices = store.db.collection<InvoiceDocument>('invoices');
  await expect.poll(() => invoices.countDocuments({ tenantId, status: { $ne: 'accepted' } }), PATIENCE).toBe(0);
  const stored = new Map((await invoices.find({ tenantId }).toArray()).map((each) => [each._id, each.series?.serial]));
  expect(made.map((id) => stored.get(id))).toEqual(made.map((_, nth) => nth + 1));
}, 240_000);

it('pollers see each invoice once and in order while processes die; who was answered sees what was created', async () => {
  const random = randomNumbers(7);
  const { tenantId, key } = await newKey();
  const begin = await create(0, key);
  let ended = false;
  const polling = servers.map(async (_, nth) => {
    const seen = [begin];
    for (let last = false; !last; await sleep(random() * 10)) {
      last = ended;
      seen.push(...(await newer(nth, key, seen.at(-1) as string)));
    }
    return seen;
  });
  const killing = (async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      await sleep(KILL_EVERY_MS * (0.5 + random()));
      const server = servers[kill % servers.length] as DoomedServer;
      await server.kill();
      await server.start();
    }
  })();
  const missed: string[] = [];
  let nth = 1;
  let isOver = false;
  const creating = Array.from({ length: 6 }, async (_, client) => {
    // Enough to be seen out of order, however slow the machine is.
    while (!isOver || nth <= 60) {
      const id = await create(nth++, key, client % 2 === 0);
      const found = await answered(client, key, async (each) => {
        const { status, body } = await each.get('/v1/invoices?limit=100');
        return status === 200 ? (body.data as { id: string }[]) : null;
      });
      if (!found.some((each) => each.id === id)) missed.push(id);
    }
  });
  await killing;
  isOver = true;
  await Promise.all(creating);
  ended = true;
  const rows = store.db.collection<{ _id: string }>('invoices').find({ tenantId }).sort({ order: 1 });
  const expected = (await rows.toArray()).map(({ _id }) => _id);
  expect(expected.length).toBeGreaterThan(50);
  expect(missed).toEqual([]);
  for (const seen of await Promise.all(polling)) expect(seen).toEqual(expected);
}, 240_000);
