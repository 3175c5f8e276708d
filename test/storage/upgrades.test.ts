import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Collection, type Db, MongoServerError } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startSimulator } from '../../scripts/authority-simulator/simulator.ts';
import { openAdministration } from '../../src/app/administration.ts';
import { checkStore } from '../../src/app/check-store.ts';
import { watchData } from '../../src/app/data-watch.ts';
import { createClosing } from '../../src/app/runtime.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/domain/ids.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { MOVES_COLLECTION } from '../../src/storage/data-moves.ts';
import { ensureIndexes } from '../../src/storage/indexes.ts';
import { DATA_VERSION, UPGRADES, type Upgrade, upgradeData, versionTrouble } from '../../src/storage/upgrades.ts';
import { createLogger } from '../../src/transport/logger.ts';
import { startCommandLine } from '../support/command-line.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { firstOf } from '../support/samples.ts';
import { startService, withDatabase } from '../support/service.ts';

// The version of the data, and the upgrades that bring it to the program's (docs/decisions/0070).

const MASTER_KEY = 'ab'.repeat(32);

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

const versions = (db: Db) => db.collection<{ _id: string }>('installation');
const entry = (db: Db) => versions(db).findOne({ _id: 'data-version' });
const parts = { alone: true, noticedMs: 0, report: () => {} };

it('the list has a number for each upgrade, without a gap, and says of each what it does', () => {
  expect(UPGRADES.map(({ version }) => version)).toEqual(UPGRADES.map((_, place) => place + 2));
  expect(DATA_VERSION).toBe(UPGRADES.length + 1);
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
  await store.db.collection<{ _id: string }>('tenants').insertOne({ _id: newId('ten') });
  await versions(store.db).insertOne({ _id: 'data-version', version: DATA_VERSION - 1, oldest: 0 } as never);
  const faults: string[] = [];
  const check = checkStore(readConfig({ MONGODB_URL: store.url, MASTER_KEY }), (text) => faults.push(text), () => {}); // biome-ignore format: one line
  await expect(check).rejects.toThrow('The first start of this version upgrades it');
  expect(faults).toEqual([]);
});

it('a start replaces an index that was created with another filter, also in several processes at once', async () => {
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
  expect(told).toContain('replaces the index held_as of invoices, which was created otherwise');
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
  await upgradeData(store.db, parts);
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
      // Both refusals come from the same place: each of the ways is tried for one of them.
      firstOf(commands, collection === 'installation' ? commands.length : 1).map(async (args) => {
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
    version,
    what: `upgrade ${version}`,
    notBeside,
    run,
  });

  it('go on with the one that was interrupted, and never run one that is done', async () => {
    const { db } = await database();
    await ensureIndexes(db);
    const ran: number[] = [];
    let isFailing = true;
    const upgrades = [2, 3, 4].map((version) =>
      upgrade(version, async () => {
        ran.push(version);
        if (version === 3 && isFailing) throw new Error('interrupted');
      }),
    );
    await expect(upgradeData(db, { ...parts, upgrades })).rejects.toThrow('interrupted');
    expect(await entry(db)).toMatchObject({ version: 2, oldest: 1 });
    isFailing = false;
    await upgradeData(db, { ...parts, upgrades });
    await upgradeData(db, { ...parts, upgrades });
    expect(ran).toEqual([2, 3, 3, 4]);
    expect(await entry(db)).toMatchObject({ version: 4, oldest: 1 });
  });

  it('let a process of the version before go on, or end it before they begin, as they say', async () => {
    const { db } = await database();
    await ensureIndexes(db);
    const first = upgrade(2, async () => {});
    await upgradeData(db, { ...parts, upgrades: [first] });
    const log = createLogger('silent');
    const closing = createClosing(log);
    const fail = vi.fn();
    watchData({ closing, fail }, db, () => {}, 2);
    onTestFinished(() => closing.close({ delayMs: 0, graceMs: 0, patient: false }));
    const report = vi.fn();
    const several = { ...parts, alone: false, noticedMs: 6000, report };
    const second = upgrade(3, async () => expect(fail).not.toHaveBeenCalled());
    await upgradeData(db, { ...several, upgrades: [first, second] });
    const third = upgrade(4, async () => expect(fail).toHaveBeenCalledOnce(), 'it would harm');
    await upgradeData(db, { ...several, upgrades: [first, second, third] });
    expect(report.mock.calls).toEqual([
      ['upgrades the data to version 3: upgrade 3'],
      ['upgrades the data to version 4: upgrade 4. No process of an earlier version may run: it would harm'],
    ]);
    expect(fail.mock.lastCall?.[0]).toMatchObject({ message: expect.stringMatching(/upgraded by a later version/) });
  });
});
