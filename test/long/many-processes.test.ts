import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandStartedEvent, CommandSucceededEvent } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type App, startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/domain/ids.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { Client } from '../support/client.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { STAND_IN_RENDERER, sharedThreads, withDatabase } from '../support/service.ts';

/** Enough for each worker to have some of them. */
const INVOICES = 300;
/** A worker looks outside of its range for what has been due for longer than this: 3 s. */
const NEARLY_LATE_MS = 2000;
/** Requests at the same time. */
const CLIENTS = 32;
const CREATE = `mutation ($input: CreateInvoiceInput!) {
  createInvoice(input: $input) { ... on CreateInvoicePayload { invoice { id } } }
}`;

let mongo: TestMongo;
let dataDir: string;
const apis: App[] = [];
const workers: App[] = [];

beforeAll(async () => {
  mongo = await startTestMongo();
  dataDir = await mkdtemp(join(tmpdir(), 'fatoura-'));
  const MONGODB_URL = withDatabase(mongo.uri, freshDbName('processes'));
  const start = (ROLE: string) =>
    startApp(
      readConfig({
        ROLE,
        MONGODB_URL,
        MASTER_KEY: '0123456789abcdef'.repeat(4),
        PORT: '0',
        DATA_DIR: dataDir,
        LOG_LEVEL: 'silent',
        RATE_LIMIT_SECRET: '1000000',
      }),
      { ...sharedThreads(), renderer: STAND_IN_RENDERER, monitorCommands: true },
    );
  for (let nth = 0; nth < 2; nth++) apis.push(await start('api'));
  for (let nth = 0; nth < 4; nth++) workers.push(await start('worker'));
});
afterAll(async () => {
  await apis[0]?.store.db.dropDatabase();
  await Promise.all([...apis, ...workers].map((app) => app.close()));
  await mongo.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** Adds the commands of a process to `counts`: `find invoices`, `getMore jobs`. */
function countCommands({ store }: App, counts: Map<string, number>): void {
  store.client.on('commandStarted', ({ commandName, command }: CommandStartedEvent) => {
    const key = `${commandName} ${commandName === 'getMore' ? command.collection : command[commandName]}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  });
}

/** Calls `found` with the number of invoices that a look outside of the worker's range found. */
function watchLateLooks({ store }: App, found: (count: number) => void): void {
  const looks = new Set<number>();
  store.client.on('commandStarted', ({ requestId, command }: CommandStartedEvent) => {
    const until = command.find === 'invoices' && command.filter['work.dueAt']?.$lte;
    if (until && Date.now() - Number(until) > NEARLY_LATE_MS) looks.add(requestId);
  });
  store.client.on('commandSucceeded', ({ requestId, reply }: CommandSucceededEvent) => {
    if (looks.delete(requestId)) found((reply as { cursor: { firstBatch: unknown[] } }).cursor.firstBatch.length);
  });
}

/** Creates invoices of a new tenant in both api processes. With numbers of its own, so that none waits for a number. */
async function createAll(): Promise<string> {
  const tenantId = newId('ten');
  const [first] = apis as [App];
  await first.tenants.insert({ id: tenantId, name: 'T', profile: SPECIMEN_SELLER, createdAt: new Date() });
  const { token } = await first.manageKeys.create(tenantId, 'secret', 'test');
  const clients = apis.map(({ url }) => new Client(url ?? '', token));
  const lines = [{ description: 'Prestation', quantity: 1, unitPrice: 10_000, taxRate: 20 }];
  const input = { amount: 12_000, currency: 'MAD', customer: { ice: '001234567000062', name: 'Atlas' }, lines };
  let next = 0;
  const createSome = async () => {
    for (let nth = next++; nth < INVOICES; nth = next++) {
      const { body } = await clients[nth % clients.length]!.graphql(CREATE, {
        input: { ...input, number: `N ${nth}` },
      });
      expect(body.errors).toBeUndefined();
      expect(body.data.createInvoice.invoice.id).toMatch(/^inv_/);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, createSome));
  return tenantId;
}

it('four workers share the burst of a tenant: each invoice is claimed with others, by one of them, at the first try', async () => {
  const invoices = apis[0]!.store.db.collection('invoices');
  // They know each other after two heartbeats.
  const members = apis[0]!.store.db.collection('claim_members');
  await expect.poll(async () => Object.keys((await members.findOne())?.workers ?? {}).length).toBe(4);
  for (let beat = 0; beat < 2; beat++) {
    const since = new Date();
    const beats = async () =>
      Object.values<{ at: Date }>((await members.findOne())?.workers).map(({ at }) => at > since);
    await expect.poll(beats).toEqual([true, true, true, true]);
  }
  const commands = new Map<string, number>();
  let late = 0;
  for (const worker of workers) {
    countCommands(worker, commands);
    watchLateLooks(worker, (count) => {
      late += count;
    });
  }
  const tenantId = await createAll();
  const accepted = () => invoices.countDocuments({ tenantId, environment: 'test', status: 'accepted' });
  await expect.poll(accepted, { timeout: 90_000, interval: 200 }).toBe(INVOICES);

  const counts = workers.map((worker) => worker.claimCounts() ?? { found: 0, claimed: 0 });
  const found = counts.reduce((sum, each) => sum + each.found, 0);
  const claimed = counts.reduce((sum, each) => sum + each.claimed, 0);
  // Who takes up a late one may meet its owner there.
  expect(found - claimed, JSON.stringify(counts)).toBeLessThan(0.01 * found + late);
  expect(claimed).toBeGreaterThanOrEqual(INVOICES);
  for (const each of counts) expect(each.claimed).toBeGreaterThan(INVOICES / 20);
  // An invoice of its own claim, or with a job that is run, costs eight commands.
  expect(commands.get('findAndModify invoices') ?? 0).toBe(0);
  expect(commands.get('update jobs') ?? 0).toBe(0);
  // Nobody waits for changes in a worker. The other stream proves that the monitoring sees them.
  expect(commands.get('getMore invoices') ?? 0).toBe(0);
  expect(commands.get('getMore jobs')).toBeGreaterThan(0);
}, 180_000);
