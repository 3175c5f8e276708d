import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { BSON, type Db, type Document } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../scripts/authority-simulator/simulator.ts';
import { parseLogo } from '../../src/domain/tenant/logo.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { createEraseTenant } from '../../src/domain/tenant-data/erase-tenant.ts';
import type { ErasureStore } from '../../src/domain/tenant-data/erasure.ts';
import { COLLECTIONS } from '../../src/storage/collection-rules.ts';
import { findInconsistencies } from '../../src/storage/consistency.ts';
import { createErasureStore } from '../../src/storage/erasure.ts';
import { KEY_CACHE_MS } from '../../src/storage/key-cache.ts';
import { createOrphanCollector } from '../../src/storage/orphan-documents.ts';
import { createSignersCertificates } from '../../src/storage/signers-certificates.ts';
import { createTransmissions } from '../../src/storage/transmissions.ts';
import { Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { invite, signedIn } from '../support/person.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { testLong } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';
import { LOGO } from '../unit/pdf/support.ts';

const SELLER = { ...SPECIMEN_SELLER, legalName: 'Atlas SARL' };

let sellers = 0;
/** The authority holds one document for each number of a seller. */
const newIce = () => `00${String(++sellers).padStart(9, '0')}0000`;

let simulator: Simulator;
let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  [simulator, receiver] = await Promise.all([startSimulator({ decisionDelay: 0 }), startReceiver()]);
  const schedule = { DGI_RETRY_SCHEDULE: '0s,100ms,100ms,100ms,100ms,100ms,100ms' };
  const settings = { ALLOW_INSECURE_WEBHOOKS: 'true', RATE_LIMIT_ADDRESS: '1000000' };
  service = await startService({ ...simulator.settings, ...schedule, ...settings });
  return async () => {
    await service.close();
    await Promise.all([simulator.close(), receiver.close()]);
  };
});

/** A tenant with an endpoint in each environment. */
async function seller() {
  const ice = newIce();
  const { id: tenantId, secretKey } = await service.tenant({ ...SELLER, ice, logo: parseLogo(LOGO) });
  const live = new Client(service.url, (await service.app.manageKeys.create(tenantId, 'secret', 'live')).token);
  const test = new Client(service.url, secretKey);
  const events = ['invoice.accepted', 'invoice.signing'];
  const endpoints = await Promise.all(
    [live, test].map((client) => client.post('/v1/webhook_endpoints', { url: receiver.url, events })),
  );
  return { ice, tenantId, secretKey, live, test, endpointIds: endpoints.map(({ body }) => body.id as string) };
}

/** A tenant that has used everything. */
async function world() {
  const { db } = service.app.store;
  const { ice, tenantId, secretKey, live, test, endpointIds } = await seller();
  const owner = await signedIn(service, { memberships: [{ tenantId, role: 'owner' }] });
  await invite(service, { memberships: [{ tenantId, role: 'viewer' }] }, 'invited@example.com');
  const create = async (client: Client, body = invoiceBody(), key?: string) =>
    (await client.post('/v1/invoices', body, key === undefined ? {} : { 'Idempotency-Key': key })).body;
  const mailed = invoiceBody({ customer: { ice: '001234567000089', name: 'Client', email: 'buyer@example.com' } });
  const ofLive = await create(live, invoiceBody(), 'order 1');
  const ofTest = await create(test, mailed, 'order 2');
  const refused = await create(test, invoiceBody({ customer: { ice: '999000000000102', name: 'Client' } }));
  const accepted = await live.settled(ofLive.id);
  expect(accepted).toMatchObject({ rejection_reason: null, status: 'accepted' });
  await Promise.all([test.settled(ofTest.id), test.settled(refused.id)]);
  await fetch(accepted.pdf_url).then((answer) => answer.arrayBuffer());
  const url = (await test.get(`/v1/invoices/${ofTest.id}`)).body.pdf_url;
  await fetch(url).then((answer) => answer.arrayBuffer());
  await expect.poll(() => deliveredOf(tenantId)).toBe(5);
  // Nothing changes by itself any more: no stage, no event is to come.
  const busy = { tenantId, $or: [{ work: { $exists: true } }, { outbox: { $exists: true } }] };
  await expect.poll(() => db.collection('invoices').countDocuments(busy)).toBe(0);
  const invoices = await db.collection('invoices').find({ tenantId }).toArray();
  const numbers = await db.collection('invoice_numbers').countDocuments({ invoiceId: { $in: invoices.map(idOf) } });
  expect(numbers).toBe(3);
  const [platform] = await createSignersCertificates(db).list(new Date());
  if (!platform) throw new Error('the service has told of no certificate');
  await createSignersCertificates(db).tell([{ ...platform, signer: tenantId }], new Date());
  const files = invoices.flatMap(({ xml, pdf, receipt }) => [xml, pdf, receipt].flatMap((each) => each?.file ?? []));
  const ids = [tenantId, owner.id, owner.email, ...invoices.map(idOf), ...endpointIds, ...files];
  return { tenantId, ice, secretKey, live, test, owner, ofLive, ofTest, accepted, endpointIds, ids };
}

const idOf = ({ _id }: Document) => String(_id);

async function deliveredOf(tenantId: string): Promise<number> {
  return service.app.store.db.collection('webhook_deliveries').countDocuments({ tenantId, state: 'delivered' });
}

/**
 * Waits until the attempts of these endpoints are in the counts, which a process writes every 5 s: an erasure allows it a
 * minute, but {@link erasing} has another clock.
 */
async function attemptsCounted(endpointIds: readonly string[]): Promise<void> {
  const hours = service.app.store.db.collection<{ _id: string; first?: Record<string, number> }>('endpoint_hours');
  const ofThese = { _id: new RegExp(`^(${endpointIds.join('|')}) `) };
  const firstAttempts = async () =>
    (await hours.find(ofThese).toArray()).reduce((sum, { first }) => sum + (first?.delivered ?? 0), 0);
  await expect.poll(firstAttempts).toBe(5);
}

/** An erasure with a clock that its pauses move. */
function erasing(given: { store?: ErasureStore; year?: number; retentionYears?: number } = {}) {
  let ahead = 0;
  const tool = createEraseTenant({
    store: given.store ?? createErasureStore(service.app.store.db),
    alone: false,
    retentionYears: given.retentionYears ?? 10,
    now: () => new Date(Date.now() + ahead),
    year: () => given.year ?? new Date().getUTCFullYear(),
    pause: async (ms) => {
      ahead += ms;
      await sleep(0);
    },
  });
  return {
    ...tool,
    async erase(tenantId: string) {
      return tool.erase(tenantId, () => undefined);
    },
    /** @returns the number of expired invoices */
    async sweep(): Promise<number> {
      let sum = 0;
      await tool.sweep((expired) => {
        sum += expired.length;
      });
      return sum;
    },
    /** Erased, and a minute later everything is. */
    async whole(tenantId: string) {
      await tool.erase(tenantId, () => undefined);
      ahead += 60_000;
      return tool.erase(tenantId, () => undefined);
    },
  };
}

class Killed extends Error {}

/** A database for which a process dies before the write after `most` others that changed something. */
function dyingAfter(db: Db, most: number): Db {
  let left = most;
  const collection = (name: string) =>
    new Proxy(db.collection(name), {
      get(real, member) {
        const value = Reflect.get(real, member, real);
        if (typeof value !== 'function') return value;
        if (!/^(update|delete|insert|bulk|findOneAnd)/.test(String(member))) return value.bind(real);
        return async (...given: unknown[]) => {
          if (left === 0) throw new Killed();
          const answer = await value.apply(real, given);
          const { modifiedCount = 0, deletedCount = 0, insertedCount = 0 } = answer ?? {};
          if (modifiedCount + deletedCount + insertedCount > 0) left--;
          return answer;
        };
      },
    });
  return new Proxy(db, {
    get: (real, member) => (member === 'collection' ? collection : Reflect.get(real, member, real).bind(real)),
  });
}

/** Every document of the database as text, by collection and id, but for the last uses of keys, which are written later. */
async function everything(): Promise<Map<string, string>> {
  const { db } = service.app.store;
  const all = new Map<string, string>();
  for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray())
    for await (const document of db.collection(name).find())
      all.set(`${name} ${idOf(document)}`, BSON.EJSON.stringify(document, withoutUses));
  return all;
}

const withoutUses = (name: string, value: unknown) => (name === 'lastUsedAt' ? undefined : value);

/** What changes by itself while a service runs; `orphan-documents` has the id of the file up to which it has looked. */
const MOVING =
  /^(jobs |health |claim_members |rate_windows |authority_state |installation orphan-documents$|request_log |series_turns |list_heads )/;

/** What stays of a tenant of {@link world}: its one live invoice with signed XML and receipt. */
const STAYS = { tenants: 1, kept_invoices: 1, invoice_numbers: 1, 'documents.files': 2, 'documents.chunks': 2 };

/** Numbers of documents by collection. @param keys those of {@link everything} */
function countsOf(keys: readonly string[]): Record<string, number> {
  const names = keys.filter((key) => !MOVING.test(key)).map((key) => key.slice(0, key.indexOf(' ')));
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, each]) => [name, each.length]));
}

/** Opens a stream in graphql-sse's single connection mode, on which no operation runs yet. */
async function idleStream(credential: string): Promise<Response> {
  const url = `${service.url}/graphql/stream`;
  const headers = { Authorization: `Bearer ${credential}` };
  const token = await (await fetch(url, { method: 'PUT', headers })).text();
  return fetch(url, { headers: { ...headers, Accept: 'text/event-stream', 'X-GraphQL-Event-Stream-Token': token } });
}

describe('an erased tenant', () => {
  it('is gone from every collection but what must stay, and its neighbour has lost nothing', async () => {
    const [own, neighbour] = [await world(), await world()];
    for (const { endpointIds } of [own, neighbour]) await attemptsCounted(endpointIds);
    const { db } = service.app.store;
    const both = await signedIn(service, {
      memberships: [own, neighbour].map(({ tenantId }) => ({ tenantId, role: 'viewer' as const })),
    });
    // Of dead processes: a file that no invoice refers to.
    await service.app.store.db.collection('documents.files').insertOne({
      filename: `${own.ofTest.id}.pdf`,
      length: 1,
      chunkSize: 1,
      uploadDate: new Date(),
    });
    const attempts = (await db.collection('webhook_deliveries').find({ tenantId: own.tenantId }).toArray()).flatMap(
      (each) => each.attempts as string[],
    );
    expect(attempts.length).toBeGreaterThanOrEqual(5);
    const before = await everything();
    const mentions = (text: string) => [...own.ids, ...attempts].some((id) => text.includes(id));
    expect(await erasing().whole(own.tenantId)).toEqual({ underWay: 0, isDone: true });
    const after = await everything();

    const lost = [...before].filter(([key, text]) => after.get(key) !== text && !MOVING.test(key));
    // `own` and `neighbour` share a logo, and a person who is a member of both has only left.
    expect(lost.filter(([key, text]) => !mentions(text) && !mentions(key)).map(([key]) => key)).toEqual([]);
    expect(lost.some(([key]) => key.startsWith('logos '))).toBe(false);
    expect(await db.collection('people').findOne({ _id: both.id as never })).not.toBeNull();
    expect(await db.collection('people').findOne({ _id: own.owner.id as never })).toBeNull();

    const left = [...after].filter(([key, text]) => mentions(key) || mentions(text));
    const collections = new Set((await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name));
    expect([...collections].filter((name) => COLLECTIONS[name] === undefined)).toEqual([]);
    const erased = left.filter(([key]) => COLLECTIONS[key.slice(0, key.indexOf(' '))]?.erasure === 'erased');
    expect(erased.map(([key]) => key)).toEqual([]);
    expect(countsOf(left.map(([key]) => key))).toEqual(STAYS);
    for (const secret of ['buyer@example.com', 'invited@example.com', 'Conseil', own.owner.email])
      for (const [, text] of left) expect(text).not.toContain(secret);
    const tombstone = await db.collection('tenants').findOne({ _id: own.tenantId as never });
    expect(tombstone).toMatchObject({ name: 'Test tenant', keys: [], profile: {}, seller: { ice: own.ice } });

    // The neighbour works on.
    const { body } = await neighbour.live.post('/v1/invoices', invoiceBody());
    expect(await neighbour.live.settled(body.id)).toMatchObject({ status: 'accepted' });
    expect(await Array.fromAsync(findInconsistencies(db))).toEqual([]);
  });

  it('is unknown everywhere at once: keys, people, pages, files, links', async () => {
    const { tenantId, secretKey, live, owner, ofLive, ofTest, accepted, endpointIds } = await world();
    const credential = owner.browser.credential(tenantId);
    const graphql = '{ invoices { edges { node { id } } } }';
    expect((await new Client(service.url, credential).graphql(graphql)).body.data).toBeDefined();
    const { token } = (
      await new Client(service.url, secretKey).graphql(
        `mutation { createInvoiceEmbed(id: "${ofTest.id}", origins: ["https://a.example"]) {
          ... on CreateInvoiceEmbedPayload { embed { token } } } }`,
      )
    ).body.data.createInvoiceEmbed.embed;
    const read = (path: string, secret: string) => new Client(service.url, secret).get(path);
    expect((await read(`/v1/invoices/${ofTest.id}`, token)).status).toBe(200);
    // All of it is still there.
    await createErasureStore(service.app.store.db).begin(tenantId, new Date());
    // The command is a process of its own: this one may know the key for this long.
    await sleep(2 * KEY_CACHE_MS);
    for (const secret of [secretKey, ofLive.client_secret, ofTest.client_secret, token])
      expect(
        (await read(`/v1/invoices/${secret === ofLive.client_secret ? ofLive.id : ofTest.id}`, secret)).status,
      ).toBe(401);
    for (const url of [accepted.xml_url, accepted.pdf_url, `${service.url}/verify/${ofLive.id}`])
      expect((await fetch(url)).status).toBe(404);

    await erasing().erase(tenantId);
    for (const secret of [secretKey, ofLive.client_secret, ofTest.client_secret, token])
      expect(
        (await read(`/v1/invoices/${secret === ofLive.client_secret ? ofLive.id : ofTest.id}`, secret)).status,
      ).toBe(401);
    expect((await live.graphql('{ __typename }')).status).toBe(401);
    expect((await new Client(service.url, credential).graphql(graphql)).status).toBe(401);
    for (const url of [accepted.xml_url, accepted.pdf_url, `${service.url}/verify/${ofLive.id}`])
      expect((await fetch(url)).status).toBe(404);
    const stream = await fetch(`${service.url}/v1/invoices/${ofTest.id}/stream?client_secret=${ofTest.client_secret}`, {
      headers: { Authorization: `Bearer ${ofTest.client_secret}` },
    });
    expect(stream.status).toBe(401);
    const { tenants, manageKeys } = service.app;
    expect(await tenants.find(tenantId)).toBeNull();
    expect((await tenants.list()).map(({ id }) => id)).not.toContain(tenantId);
    expect((await tenants.page(null, 100)).map(({ id }) => id)).not.toContain(tenantId);
    await expect(manageKeys.create(tenantId, 'secret', 'test')).rejects.toMatchObject({ code: 'resource_not_found' });
    expect(await tenants.updateProfile(tenantId, SELLER)).toBe(false);
    expect(await tenants.setSuspended(tenantId, new Date())).toBe(false);
    expect(
      await service.app.store.db
        .collection('webhook_endpoints')
        .countDocuments({ _id: { $in: endpointIds as never[] } }),
    ).toBe(0);
  });

  it('has its legal documents until the time has passed, byte for byte, also after crashes; then nothing is left', async () => {
    const { tenantId, ofLive, ids, endpointIds } = await world();
    await attemptsCounted(endpointIds);
    const { db } = service.app.store;
    const stored = await db.collection('invoices').findOne({ _id: ofLive.id as never });
    expect(await erasedWithCrashes(tenantId, 5)).toBeGreaterThan(4);
    const store = createErasureStore(db);
    const [kept, ...others] = await store.kept(tenantId, null, 10);
    expect(others).toEqual([]);
    expect(kept).toMatchObject({
      id: ofLive.id,
      status: 'accepted',
      dgiId: stored?.dgiId,
      xml: stored?.xml,
      receipt: stored?.receipt,
      issueYear: Number(kept?.number?.slice(0, 4)),
      keptThrough: Number(kept?.number?.slice(0, 4)) + 10,
    });
    // Nothing takes them for leftovers, and the nightly comparison with the authority finds them.
    await createOrphanCollector(db).collect(new Date(Date.now() + 2 * 3_600_000));
    expect(await Array.fromAsync(findInconsistencies(db))).toEqual([]);
    expect(await createTransmissions(db).bySubmission([ofLive.id])).toMatchObject([
      { invoiceId: ofLive.id, hasReceipt: true },
    ]);
    await db
      .collection('documents.chunks')
      .updateOne(
        { files_id: new BSON.ObjectId(stored?.xml.file) },
        { $set: { data: new BSON.Binary(Buffer.from('x')) } },
      );
    expect((await Array.fromAsync(findInconsistencies(db))).join()).toContain(`${ofLive.id}: the bytes of its xml`);

    const year = kept?.issueYear ?? 0;
    for (const retentionYears of [1, 10]) expect(await erasing({ year: year + 10, retentionYears }).sweep()).toBe(0);
    expect(await store.kept(tenantId, null, 10)).toHaveLength(1);
    const { sweep } = erasing({ year: year + 11 });
    expect(await sweep()).toBeGreaterThan(0);
    // Whose erasure is a minute old.
    await db.collection('tenants').updateOne({ _id: tenantId as never }, { $set: { 'erasure.since': new Date(0) } });
    await sweep();
    const left = [...(await everything())].filter(
      ([key, text]) => !MOVING.test(key) && ids.some((id) => `${key} ${text}`.includes(id)),
    );
    expect(left.map(([key]) => key)).toEqual([]);
  });

  it('whose live invoice is under way: it is finished, read by nobody, mailed to nobody, and then erased', async () => {
    const { tenantId, live } = await seller();
    const { db } = service.app.store;
    await simulator.control.setListening(false);
    const customer = { ice: '001234567000089', name: 'Client', email: 'late@example.com' };
    const { body } = await live.post('/v1/invoices', invoiceBody({ customer }));
    const stream = await fetch(`${service.url}/v1/invoices/${body.id}/stream`, {
      headers: { Authorization: `Bearer ${body.client_secret}` },
    });
    const eraser = erasing();
    expect(await eraser.whole(tenantId)).toEqual({ underWay: 1, isDone: false });
    // It ends although the invoice is not final.
    await expect(stream.text()).resolves.not.toContain('accepted');
    expect((await new Client(service.url, body.client_secret).get(`/v1/invoices/${body.id}`)).status).toBe(401);
    await simulator.control.setListening(true);
    const underWay = () => db.collection('invoices').findOne({ _id: body.id });
    await expect.poll(async () => (await underWay())?.receipt ?? null).not.toBeNull();
    await expect.poll(async () => (await underWay())?.work?.stage ?? null).toBeNull();
    expect((await underWay())?.email ?? null).toBeNull();
    expect(await eraser.whole(tenantId)).toEqual({ underWay: 0, isDone: true });
    expect((await createErasureStore(db).kept(tenantId, null, 10)).map(({ id }) => id)).toContain(body.id);
    expect(simulator.control.find(body.id)?.dgi_id).toBeDefined();
    expect(
      receiver.received.filter(({ event }) => event.data.id === body.id && event.type === 'invoice.accepted'),
    ).toEqual([]);
    const { sent } = await mails();
    expect(sent.filter((text) => text.includes('late@example.com'))).toEqual([]);
  });

  it('keeps no stream open on which no operation runs, whether the invoice is decided or not', async () => {
    const { id, secretKey } = await service.tenant();
    const key = new Client(service.url, secretKey);
    const ices = ['001234567000089', '999000000000878'];
    const made = await Promise.all(ices.map(async (ice) => (await key.post('/v1/invoices', invoiceFor(ice))).body));
    await expect.poll(async () => (await key.get(`/v1/invoices/${made[0].id}`)).body.status).toBe('accepted');
    const streams = await Promise.all(made.map((each) => idleStream(each.client_secret)));
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    await erasing().whole(id);
    // Nothing but heartbeats, then the end.
    expect(await Promise.all(streams.map((stream) => stream.text()))).toEqual(
      [/^[:\s]*$/, /^[:\s]*$/].map((form) => expect.stringMatching(form)),
    );
  });

  testLong('is erased as well after a crash at any statement', async () => {
    const { tenantId, ids, endpointIds } = await world();
    await attemptsCounted(endpointIds);
    const { db } = service.app.store;
    expect(await erasedWithCrashes(tenantId, 1)).toBeGreaterThan(20);
    const left = [...(await everything())].filter(([key, text]) => ids.some((id) => `${key} ${text}`.includes(id)));
    const erased = left.filter(
      ([key]) => COLLECTIONS[key.slice(0, key.indexOf(' '))]?.erasure === 'erased' && !MOVING.test(key),
    );
    expect(erased.map(([key]) => key)).toEqual([]);
    expect(countsOf(left.map(([key]) => key))).toEqual(STAYS);
    expect(await createErasureStore(db).kept(tenantId, null, 10)).toHaveLength(1);
    expect(await Array.fromAsync(findInconsistencies(db))).toEqual([]);
  });
});

/**
 * Erases a tenant although the process dies again and again, each time before one more write than `most`.
 * @returns the number of deaths
 */
async function erasedWithCrashes(tenantId: string, most: number): Promise<number> {
  for (let crashes = 0; ; crashes++) {
    // What was done is not done again.
    const died = await erasing({ store: createErasureStore(dyingAfter(service.app.store.db, most)) })
      .whole(tenantId)
      .then(
        () => false,
        (error) => {
          if (!(error instanceof Killed)) throw error;
          return true;
        },
      );
    if (!died) return crashes;
  }
}

async function mails(): Promise<{ sent: string[] }> {
  const folder = `${service.dataDir}/outbox`;
  const names = await readdir(folder).catch(() => []);
  return { sent: await Promise.all(names.map((name) => readFile(`${folder}/${name}`, 'utf8'))) };
}
