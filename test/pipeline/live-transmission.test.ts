import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type App, startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { createManageKeys } from '../../src/domain/api-key/manage-keys.ts';
import type { Authority, Decision, LookUpAnswer, SubmitAnswer } from '../../src/domain/authority/ports.ts';
import { newId } from '../../src/domain/ids.ts';
import { NEW_WORK } from '../../src/domain/invoice/invoice.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import { createAuthorityStateStore } from '../../src/storage/authority-state.ts';
import { createClaimMembers } from '../../src/storage/claim-members.ts';
import { createDocumentStore } from '../../src/storage/documents.ts';
import { type InvoiceDocument, invoiceOf } from '../../src/storage/invoice-document.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { absent, answering, held, notHeld, unknown } from '../support/authority.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { pendingInvoice } from '../support/invoices.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { testLong } from '../support/samples.ts';
import { NO_PAPERS, STAND_IN_RENDERER, sharedThreads, withDatabase } from '../support/service.ts';
import { SELLER } from '../unit/pdf/support.ts';
import { makePkcs12 } from '../unit/signing-key/make-pkcs12.ts';

let mongo: TestMongo;
let dataDir: string;
let url: string;
let apps: App[];

beforeEach(async () => {
  mongo = await startTestMongo();
  dataDir = await mkdtemp(join(tmpdir(), 'fatoura-'));
  url = withDatabase(mongo.uri, freshDbName('live'));
  apps = [];
});
afterEach(async () => {
  await Promise.all(apps.map((app) => app.close()));
  await mongo.close();
  await rm(dataDir, { recursive: true, force: true });
});

const ACCEPTED: Decision = { outcome: 'accepted', dgiId: 'DGI-1', decidedAt: new Date() };
const settings = (role: string) => ({
  ROLE: role,
  MONGODB_URL: url,
  MASTER_KEY: '0123456789abcdef'.repeat(4),
  PORT: '0',
  DATA_DIR: dataDir,
  LOG_LEVEL: 'silent',
  DGI_RETRY_SCHEDULE: '0s,1s,1s,1s,1s',
});

async function worker(authority: Authority, concurrency = 4): Promise<App> {
  const app = await startApp(readConfig(settings('worker')), {
    ...sharedThreads(),
    renderer: STAND_IN_RENDERER,
    live: { ...NO_PAPERS, authority, concurrency },
  });
  apps.push(app);
  return app;
}

/** An authority that is away at first, with what it holds and what was at it at the same time. */
function fallible(callMs: number) {
  const facts = { away: true, inFlight: 0, most: 0, submissions: 0 };
  const ledger = new Map<string, number>();
  const atOnce = new Map<string, number>();
  const order: string[] = [];
  const doubled: string[] = [];
  const authority = answering({
    async submit({ submissionId: id }): Promise<SubmitAnswer> {
      facts.submissions++;
      facts.most = Math.max(facts.most, ++facts.inFlight);
      atOnce.set(id, (atOnce.get(id) ?? 0) + 1);
      if ((atOnce.get(id) ?? 0) > 1) doubled.push(id);
      await new Promise((done) => setTimeout(done, callMs));
      facts.inFlight--;
      atOnce.set(id, (atOnce.get(id) ?? 0) - 1);
      if (facts.away) return notHeld('unavailable');
      ledger.set(id, (ledger.get(id) ?? 0) + 1);
      order.push(id);
      return held(ACCEPTED);
    },
    async lookUp({ submissionId: id }): Promise<LookUpAnswer> {
      if (facts.away) return unknown();
      return ledger.has(id) ? held(ACCEPTED) : absent();
    },
    probe: async () => (facts.away ? 'away' : null),
  });
  return { authority, facts, ledger, order, doubled };
}

/** Stores signed live invoices that wait. */
async function waiting({ store }: App, tenants: readonly string[]): Promise<string[]> {
  const invoices = createInvoiceRepository(store.db);
  const xml = await createDocumentStore(store.db).put(Buffer.from('<a/>'), 'a.xml', 'application/xml');
  const ids: string[] = [];
  for (const [index, tenantId] of tenants.entries()) {
    const { createdAt, order } = newCreationMoment();
    const invoice = pendingInvoice({ tenantId, createdAt, environment: 'live', status: 'signing', xml });
    const at = new Date(createdAt.getTime() - tenants.length + index);
    const series = { name: '2026', serial: index + 1 };
    await invoices.insert(
      { ...invoice, work: { ...NEW_WORK, stage: 'transmit', dueAt: at, claims: 0, since: at } },
      order,
      null,
    );
    await store.db.collection<InvoiceDocument>('invoices').updateOne({ _id: invoice.id }, { $set: { series } });
    ids.push(invoice.id);
  }
  return ids;
}

async function all({ store }: App) {
  return (await store.db.collection<InvoiceDocument>('invoices').find().toArray()).map(invoiceOf);
}

const count = async (app: App, status: string) =>
  (await all(app)).filter((invoice) => invoice.status === status).length;

// The smoke test of an outage is live-outage.test.ts.
testLong(
  'an outage with 60 waiting: no attempt burned, drained at the concurrency by two workers, fairly',
  async () => {
    const { authority, facts, ledger, order, doubled } = fallible(100);
    const first = await worker(authority);
    const second = await worker(authority);
    const state = createAuthorityStateStore(first.store.db);
    const tenants = Array.from({ length: 60 }, (_, i) => (i < 57 ? 'ten_big' : 'ten_small'));
    const ids = await waiting(first, tenants);
    await expect.poll(async () => (await state.read()).breaker.phase).toBe('open');
    // Longer than several probes.
    await expect.poll(async () => (await state.read()).breaker.probe?.failed ?? 0).toBeGreaterThan(2);
    const tried = facts.submissions;
    expect(tried).toBeLessThanOrEqual(16);
    expect(await first.store.db.collection('jobs').countDocuments({ name: 'invoice.transmit.live' })).toBe(0);
    facts.away = false;
    facts.most = 0;
    await expect.poll(() => count(first, 'accepted'), { timeout: 90_000, interval: 500 }).toBe(60);
    expect(facts.most).toBeLessThanOrEqual(4);
    expect(doubled).toEqual([]);
    expect([...ledger.values()].every((times) => times === 1)).toBe(true);
    for (const invoice of await all(first)) {
      expect(invoice.events.map(({ status }) => status)).toEqual(['transmitted', 'accepted']);
      // Its receipt, which this authority lacks, is asked for again and again.
      const calls = invoice.authorityAttempts.filter(({ purpose }) => purpose !== 'receipt');
      expect(calls.length).toBeLessThanOrEqual(4);
    }
    const small = new Set(ids.slice(57));
    expect(order.findLastIndex((id) => small.has(id))).toBeLessThanOrEqual(order.length / 5);
    expect((await state.read()).breaker).toMatchObject({ phase: 'closed', opened: 1 });
    const members = createClaimMembers(first.store.db);
    const sending = { inFlight: expect.any(Number) };
    expect(await members.list()).toMatchObject([sending, sending]);
    await second.close();
    expect(await members.list()).toHaveLength(1);
  },
);

it('a pause holds what waits, also across a restart; its end drains it', async () => {
  const { authority, facts } = fallible(5);
  facts.away = false;
  const api = await startApp(readConfig(settings('api')), sharedThreads());
  apps.push(api);
  const state = createAuthorityStateStore(api.store.db);
  await state.pause({ by: 'me', reason: null, since: new Date() });
  await waiting(api, ['ten_a', 'ten_b', 'ten_a']);
  await (await worker(authority)).close();
  const again = await worker(authority);
  await new Promise((done) => setTimeout(done, 2500));
  expect(facts.submissions).toBe(0);
  await state.resume();
  await expect.poll(() => count(again, 'accepted')).toBe(3);
});

it('a shutdown during a submission waits for it at most as long as for jobs; the next worker asks first', async () => {
  const reply = Promise.withResolvers<SubmitAnswer>();
  const calls: string[] = [];
  const stalled = answering({
    submit: async () => {
      calls.push('submit');
      return reply.promise;
    },
    lookUp: async () => {
      calls.push('look_up');
      return held(ACCEPTED);
    },
  });
  const first = await worker(stalled);
  const api = await startApp(readConfig(settings('api')), sharedThreads());
  apps.push(api);
  await waiting(api, ['ten_a']);
  await expect.poll(() => calls).toEqual(['submit']);
  await first.close();
  await worker(stalled);
  await expect.poll(() => count(api, 'accepted')).toBe(1);
  expect(calls).toEqual(['submit', 'look_up']);
  reply.resolve(held(ACCEPTED));
});

it('live and test invoices of one service go through the same stages, to their own authority only', async (context) => {
  const p12 = makePkcs12(dataDir, 'live', 'secret');
  if (p12 === null) return context.skip('openssl is not installed');
  const sent: { id: string; sha256: string; digest: string }[] = [];
  const authority = answering({
    submit: async ({ submissionId, sha256, document }) => {
      sent.push({ id: submissionId, sha256, digest: createHash('sha256').update(document).digest('hex') });
      return held(null, 200, 'sub_original');
    },
    lookUp: async ({ submissionId }) =>
      submissionId === 'sub_original' ? held(ACCEPTED, null, 'sub_original') : absent(),
  });
  const signing = { SIGNING_P12: p12, SIGNING_P12_PASSPHRASE: 'secret' };
  const app = await startApp(readConfig({ ...settings('all'), ...signing }), {
    ...sharedThreads(),
    renderer: STAND_IN_RENDERER,
    live: { ...NO_PAPERS, authority, concurrency: 2 },
  });
  apps.push(app);
  const tenant = { id: newId('ten'), name: 'T', profile: SELLER, createdAt: new Date() };
  await app.tenants.insert(tenant);
  const keys = createManageKeys(app.tenants, async () => [], null);
  const clientOf = async (environment: 'live' | 'test') =>
    new Client(app.url as string, (await keys.create(tenant.id, 'secret', environment)).token);
  const [live, test] = [await clientOf('live'), await clientOf('test')];
  const [{ body: real }, { body: trial }] = [
    await live.post('/v1/invoices', invoiceBody()),
    await test.post('/v1/invoices', invoiceBody()),
  ];
  expect(await live.settled(real.id)).toMatchObject({ status: 'accepted', dgi_id: 'DGI-1' });
  expect(await test.settled(trial.id)).toMatchObject({
    status: 'accepted',
    dgi_id: expect.stringMatching(/^DGI-TEST-/),
  });
  expect(sent.map(({ id }) => id)).toEqual([real.id]);
  // The stored bytes are what was sent.
  const stored = await createInvoiceRepository(app.store.db).find(real.id);
  expect(sent[0]).toMatchObject({ sha256: stored?.xml?.sha256, digest: stored?.xml?.sha256 });
  expect(stored?.heldAs).toBe('sub_original');
  expect(stored?.events.map(({ status }) => status)).toEqual(['signing', 'transmitted', 'accepted']);
});
