import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Collection, type Db, type IndexDescription, MongoServerError } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startSimulator } from '../../scripts/authority-simulator/simulator.ts';
import { openAdministration } from '../../src/app/administration.ts';
import { checkStore } from '../../src/app/check-store.ts';
import { watchData } from '../../src/app/data-watch.ts';
import { createClosing } from '../../src/app/runtime.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/domain/ids.ts';
import { NEW_WORK } from '../../src/domain/invoice/invoice.ts';
import { createInvoiceIds } from '../../src/domain/invoice/invoice-ids.ts';
import { ALL_PARTITIONS, type Lane } from '../../src/domain/invoice/lanes.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { MOVES_COLLECTION } from '../../src/storage/data-moves.ts';
import { ensureIndexes } from '../../src/storage/indexes.ts';
import { documentOf, type InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { DATA_VERSION, UPGRADES, type Upgrade, upgradeData, versionTrouble } from '../../src/storage/upgrades.ts';
import { createLogger } from '../../src/transport/logger.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { startCommandLine } from '../support/command-line.ts';
import { pendingInvoice } from '../support/invoices.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { startService, withDatabase } from '../support/service.ts';

// The version of the data, and the upgrades that bring it to the program's (docs/decisions/0070).

const IDS = createInvoiceIds('secret');
const MASTER_KEY = 'ab'.repeat(32);
/** The last upgrade beside which no earlier version may run. */
const OLDEST = UPGRADES.findLast(({ notBeside }) => notBeside !== null)?.version;

let mongo: TestMongo;
beforeAll(async () => {
  mongo = await startTestMongo();
});
afterAll(() => mongo.close());

/** The URL of a new database, which the end of the test drops. */
async function database(): Promise<Store & { readonly url: string }> {
  const url = withDatabase(mongo.uri, freshDbName('upgrade'));
  const store = await connect(url);
  onTestFinished(async () => {
    await store.db.dropDatabase();
    await store.close();
  });
  return { ...store, url };
}

const entry = (db: Db) => db.collection<{ _id: string }>('installation').findOne({ _id: 'data-version' });
const parts = { alone: true, noticedMs: 0, report: () => {} };

/** Invoices as versions stored them that kept no version: numbers, keys and customers are in the invoices alone. */
async function storeEarlier({ db }: Store, tenantId: string): Promise<string> {
  await ensureIndexes(db);
  const invoices = db.collection<InvoiceDocument>('invoices');
  const unique = (name: string, field: string, key: Record<string, 1>) => ({
    ...{ name, key: { tenantId: 1, environment: 1, ...key } as const, unique: true },
    partialFilterExpression: { [field]: { $exists: true } },
  });
  await invoices.createIndexes([
    unique('series', 'series.serial', { 'series.year': 1, 'series.serial': 1 }),
    unique('own_number', 'ownNumber', { ownNumber: 1 }),
    unique('idempotency', 'idempotency.key', { 'idempotency.key': 1 }),
  ]);
  const id = newId('inv');
  const invoice = pendingInvoice({ id, tenantId, number: 'FA 7', ownNumber: 'FA 7', status: 'accepted', work: null });
  const used = { key: 'order-7', fingerprint: 'of another request' };
  const { customerKey: _later, ...earlier } = documentOf(invoice, newCreationMoment().order, used);
  await invoices.insertOne(earlier as InvoiceDocument);
  return id;
}

it('the list has a number for each upgrade, without a gap, and says of each what it does', () => {
  expect(UPGRADES.map(({ version }) => version)).toEqual(UPGRADES.map((_, place) => place + 1));
  expect(DATA_VERSION).toBe(UPGRADES.length);
});

it('a start on data without a version passes all upgrades; it finds its numbers, keys and customers, also after that version ran again', async () => {
  const store = await database();
  const start = () => startService({ MONGODB_URL: store.url, MASTER_KEY });
  let service = await start();
  const tenant = await service.tenant();
  await service.app.close();
  for (let time = 1; time <= 2; time++) {
    await store.db.collection('invoices').deleteMany({});
    await store.db.collection('invoice_numbers').deleteMany({});
    await store.db.collection('earlier_idempotency_keys').deleteMany({});
    if (time === 1) await store.db.collection('installation').deleteOne({ _id: 'data-version' as never });
    const id = await storeEarlier(store, tenant.id);
    service = await start();
    const client = new Client(service.url, tenant.secretKey);
    expect((await client.graphql('{ invoiceByNumber(number: "FA 7") { id } }')).body.data.invoiceByNumber).toEqual({
      id,
    });
    expect((await client.post('/v1/invoices', invoiceBody(), { 'Idempotency-Key': 'order-7' })).status).toBe(409);
    const search = '{ invoices(customerName: "ATLAS") { nodes { id } } }';
    expect((await client.graphql(search)).body.data.invoices.nodes).toEqual([{ id }]);
    expect(await entry(store.db)).toMatchObject({ version: DATA_VERSION, oldest: OLDEST });
    await service.app.close();
  }
});

it('a command makes the indexes of a new store, and leaves data of an earlier version as it is', async () => {
  const store = await database();
  const config = readConfig({ MONGODB_URL: store.url, MASTER_KEY });
  const command = async () => (await openAdministration(config)).close();
  const names = async () => (await store.db.collection('invoices').listIndexes().toArray()).map(({ name }) => name);
  await command();
  expect(await names()).toContain('queue');
  await store.db.collection('tenants').insertOne({ name: 'Atlas' });
  await store.db.collection('invoices').dropIndex('queue');
  await command();
  expect(await names()).not.toContain('queue');
});

it('a check of data of an earlier version says that a start upgrades it, and finds no faults in it', async () => {
  const store = await database();
  const tenantId = newId('ten');
  await storeEarlier(store, tenantId);
  await store.db.collection<{ _id: string }>('tenants').insertOne({ _id: tenantId });
  const faults: string[] = [];
  const check = checkStore(readConfig({ MONGODB_URL: store.url, MASTER_KEY }), (text) => faults.push(text), () => {}); // biome-ignore format: one line
  await expect(check).rejects.toThrow('The first start of this version upgrades it');
  expect(faults).toEqual([]);
});

it('idle work that the first versions stored without a place is found', async () => {
  const store = await database();
  await ensureIndexes(store.db);
  const invoices = store.db.collection<InvoiceDocument>('invoices');
  await invoices.createIndex(
    { 'work.idle': 1, 'work.dueAt': 1 },
    { name: 'idle', partialFilterExpression: { 'work.idle': { $exists: true } } },
  );
  const repository = createInvoiceRepository(store.db);
  const work = { ...NEW_WORK, stage: 'render', idle: true, claims: 0, dueAt: new Date(0), since: new Date(0) } as const;
  const ids = [newId('inv'), newId('inv'), newId('inv')] as const;
  for (const id of ids)
    await invoices.insertOne(
      documentOf(
        pendingInvoice({ id, tenantId: newId('ten'), status: 'accepted', work }),
        newCreationMoment().order,
        null,
      ),
    );
  const [idle, hurried, present] = ids;
  await invoices.updateMany({ _id: { $in: [idle, hurried] } }, { $unset: { 'work.lane': '', 'work.partition': '' } });
  await repository.hurry(hurried, new Date(0));
  const before = await invoices.findOne({ _id: present });
  await upgradeData(store.db, IDS, parts);
  const due = async (lane: Lane) => (await repository.due(lane, ALL_PARTITIONS, 5)).map(({ invoiceId }) => invoiceId);
  expect((await due('idle')).sort()).toEqual([idle, present].sort());
  expect(await due('documents')).toEqual([hurried]);
  expect(await invoices.findOne({ _id: present })).toEqual(before);
});

it('a start replaces an index that an earlier version created with another filter, also in several processes at once', async () => {
  const store = await database();
  await ensureIndexes(store.db);
  const invoices = store.db.collection('invoices');
  const spec = async (name: string) => (await invoices.listIndexes().toArray()).find((index) => index.name === name);
  const before = { held_as: await spec('held_as'), live_digest: await spec('live_digest') };
  for (const [name, field] of [
    ['held_as', 'heldAs'],
    ['live_digest', 'xml.sha256'],
  ] as const) {
    await invoices.dropIndex(name);
    await invoices.createIndex({ [field]: 1 }, { name, partialFilterExpression: { [field]: { $gt: '' } } });
  }
  const told: string[] = [];
  await Promise.all(Array.from({ length: 3 }, () => ensureIndexes(store.db, (text) => told.push(text))));
  expect({ held_as: await spec('held_as'), live_digest: await spec('live_digest') }).toEqual(before);
  expect(told).toContain('replaces the index held_as of invoices, which an earlier version created otherwise');
  const stored = told.length;
  await ensureIndexes(store.db, (text) => told.push(text));
  expect(told).toHaveLength(stored);
});

it('a start drops the indexes that only earlier versions used, also in several processes at once', async () => {
  const store = await database();
  await store.db.createCollection('jobs');
  // Stays, because it removes what earlier versions stored.
  await store.db.collection('webhook_events').createIndex({ expiresAt: 1 }, { name: 'expiry', expireAfterSeconds: 0 });
  await ensureIndexes(store.db);
  const earlier: Record<string, IndexDescription[]> = {
    tenants: [
      {
        ...{ name: 'erasure_pending', key: { 'erasure.pending': 1 } },
        partialFilterExpression: { 'erasure.pending': { $exists: true } },
      },
    ],
    kept_invoices: [{ name: 'expiry', key: { issueYear: 1 } }],
    mock_submissions: [{ name: 'dgi_id', key: { dgiId: 1 } }],
    webhook_deliveries: [
      { name: 'list', key: { tenantId: 1, environment: 1, order: -1 } },
      { name: 'list_by_endpoint', key: { endpointId: 1, order: -1 } },
      { name: 'pending_of_invoice', key: { invoiceId: 1 } },
    ],
    jobs: [{ name: 'invoice', key: { 'data.invoiceId': 1 } }],
  };
  const names = async () => {
    const found = [...Object.keys(earlier), 'webhook_events'].map(async (name) => {
      const indexes = await store.db.collection(name).listIndexes().toArray();
      return indexes.map((index) => `${name} ${index.name}`);
    });
    return (await Promise.all(found)).flat().sort();
  };
  const before = await names();
  for (const [name, indexes] of Object.entries(earlier)) await store.db.collection(name).createIndexes(indexes);
  expect(await names()).not.toEqual(before);
  const told: string[] = [];
  await Promise.all(Array.from({ length: 3 }, () => ensureIndexes(store.db, (text) => told.push(text))));
  expect(await names()).toEqual(before);
  expect(before).toEqual(
    expect.arrayContaining(['tenants erasures_pending', 'kept_invoices retention', 'webhook_events expiry']),
  );
  expect(told).toContain('drops the index erasure_pending of tenants, which only earlier versions used');
  const stored = told.length;
  await ensureIndexes(store.db, (text) => told.push(text));
  expect(told).toHaveLength(stored);
});

it('a start goes on when another process drops an index that it builds', async () => {
  const store = await database();
  await ensureIndexes(store.db);
  const invoices = store.db.collection('invoices');
  const spec = async () => (await invoices.listIndexes().toArray()).find(({ name }) => name === 'held_as');
  const before = await spec();
  const { createIndexes } = Collection.prototype;
  // The build of all indexes, that of the one which is to be replaced, and that after its drop.
  for (const aborted of [1, 2, 3]) {
    await invoices.dropIndex('held_as');
    await invoices.createIndex({ heldAs: 1 }, { name: 'held_as' });
    let builds = 0;
    const spy = vi.spyOn(Collection.prototype, 'createIndexes').mockImplementation(function (
      this: Collection,
      ...args
    ) {
      const isBuild = this.collectionName === 'invoices' && args[0].some(({ name }) => name === 'held_as');
      if (isBuild && ++builds === aborted) throw new MongoServerError({ message: 'aborted', code: 276 });
      return createIndexes.apply(this, args);
    });
    await ensureIndexes(store.db).finally(() => spy.mockRestore());
    expect(await spec()).toEqual(before);
  }
});

it('a start on data of a later version refuses, and says what to do', async () => {
  const store = await database();
  await ensureIndexes(store.db);
  await upgradeData(store.db, IDS, parts);
  await store.db.collection('installation').updateOne({ _id: 'data-version' as never }, { $inc: { version: 1 } });
  const refusal = new RegExp(
    `version ${DATA_VERSION + 1} of the data, .* Install that version, or go back to a backup`,
  );
  await expect(startService({ MONGODB_URL: store.url, MASTER_KEY })).rejects.toThrow(refusal);
  // A process that runs already may go on, unless an upgrade forbids it.
  expect(await versionTrouble(store.db, true)).toBeNull();
  const oldest = DATA_VERSION + 1;
  await store.db.collection('installation').updateOne({ _id: 'data-version' as never }, { $set: { oldest } });
  expect(await versionTrouble(store.db, true)).toMatch(refusal);
});

describe('a command', () => {
  const later = { _id: 'data-version', version: DATA_VERSION + 1, oldest: 0 };
  const moved = {
    _id: 'source',
    move: 'm',
    other: 'mongodb://elsewhere/x',
    startedAt: new Date(),
    endedAt: new Date(),
  };
  const kinds: [name: string, collection: string, mark: { _id: string }, refusal: RegExp][] = [
    ['of a later version', 'installation', later, /^This data was upgraded by a later version .* Install that version/],
    ['that was moved', MOVES_COLLECTION, moved, /^This data was moved to mongodb:\/\/elsewhere\/x .* --abandon/],
  ];

  it.each(kinds)('refuses data %s, and changes nothing', async (_name, collection, mark, refusal) => {
    const { db, url } = await database();
    const folder = await mkdtemp(join(tmpdir(), 'refused-'));
    const simulator = await startSimulator();
    onTestFinished(async () => {
      await simulator.close();
      await rm(folder, { recursive: true, force: true });
    });
    await db.collection<{ _id: string }>(collection).insertOne(mark);
    const settings = { ...simulator.settings, MONGODB_URL: url, MASTER_KEY, DATA_DIR: folder };
    // One for each way in which commands open the store.
    const commands = [
      ['check'],
      ['authority', 'reconcile'],
      ['tenants', 'list'],
      ['tenants', 'export', 'ten_1', '--to', join(folder, 'export')],
      ['master-key', 'rotate'],
    ];
    await Promise.all(
      commands.map(async (args) => {
        const child = startCommandLine(args, settings);
        let [out, err] = ['', ''];
        child.stdout.on('data', (chunk) => (out += chunk));
        child.stderr.on('data', (chunk) => (err += chunk));
        const [code] = await once(child, 'close');
        expect({ args, code, out, err }).toEqual({ args, code: 1, out: '', err: expect.stringMatching(refusal) });
      }),
    );
    expect((await db.listCollections().toArray()).map(({ name }) => name)).toEqual([collection]);
    expect(await db.collection<{ _id: string }>(collection).find().toArray()).toEqual([mark]);
  });
});

describe('upgrades', () => {
  const upgrade = (version: number, run: () => Promise<void>, notBeside: string | null = null): Upgrade => ({
    ...{ version, what: `upgrade ${version}`, notBeside, run },
  });

  it('go on with the one that was interrupted, and never run one that is done', async () => {
    const { db } = await database();
    await ensureIndexes(db);
    const ran: number[] = [];
    let isFailing = true;
    const upgrades = [1, 2, 3].map((version) =>
      upgrade(version, async () => {
        ran.push(version);
        if (version === 2 && isFailing) throw new Error('interrupted');
      }),
    );
    await expect(upgradeData(db, IDS, { ...parts, upgrades })).rejects.toThrow('interrupted');
    expect(await entry(db)).toMatchObject({ version: 1, oldest: 0 });
    isFailing = false;
    await upgradeData(db, IDS, { ...parts, upgrades });
    await upgradeData(db, IDS, { ...parts, upgrades });
    expect(ran).toEqual([1, 2, 2, 3]);
    expect(await entry(db)).toMatchObject({ version: 3, oldest: 0 });
  });

  it('let a process of the version before go on, or end it before they begin, as they say', async () => {
    const { db } = await database();
    await ensureIndexes(db);
    const first = upgrade(1, async () => {});
    await upgradeData(db, IDS, { ...parts, upgrades: [first] });
    const log = createLogger('silent');
    const closing = createClosing(log);
    const fail = vi.fn();
    watchData({ closing, fail }, db, () => {}, 1);
    onTestFinished(() => closing.close({ delayMs: 0, graceMs: 0, patient: false }));
    const several = { ...parts, alone: false, noticedMs: 6000 };
    const second = upgrade(2, async () => expect(fail).not.toHaveBeenCalled());
    await upgradeData(db, IDS, { ...several, upgrades: [first, second] });
    const third = upgrade(3, async () => expect(fail).toHaveBeenCalledOnce(), 'it would harm');
    await upgradeData(db, IDS, { ...several, upgrades: [first, second, third] });
    expect(fail.mock.lastCall?.[0]).toMatchObject({ message: expect.stringMatching(/upgraded by a later version/) });
  });

  it('refuse to begin while a worker of a version runs that does not ask', async () => {
    const { db } = await database();
    await ensureIndexes(db);
    const workers = db.collection<{ _id: string }>('claim_members');
    const beat = () => workers.updateOne({ _id: 'invoices' }, { $set: { 'workers.w': new Date() } }, { upsert: true });
    await beat();
    const beats = setInterval(() => void beat(), 500);
    const run = vi.fn();
    const upgrades = [upgrade(1, run, 'it would harm')];
    const refused = upgradeData(db, IDS, { ...parts, alone: false, upgrades });
    await expect(refused).rejects.toThrow(/earlier version still use this data.*it would harm\. Stop all of them/);
    expect(run).not.toHaveBeenCalled();
    clearInterval(beats);
    await upgradeData(db, IDS, { ...parts, alone: false, upgrades });
    expect(run).toHaveBeenCalledOnce();
  });
});
