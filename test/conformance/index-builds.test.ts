import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Collection, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Engine, startEngine } from '../../src/engine/embedded.ts';
import { startEngineProcess } from '../support/engine-process.ts';

/** Runs on the engine only. Index builds on collections that others read and write meanwhile. */
const COUNT = 8000;
const name = 'builds';

let folder: string;
let engine: Engine;
let client: MongoClient;
let other: MongoClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'engine-'));
  engine = await startEngine({ dataDir: folder });
  client = await new MongoClient(engine.uri).connect();
  other = await new MongoClient(engine.uri).connect();
});

afterAll(async () => {
  await Promise.all([client?.close(), other?.close()]);
  await engine?.close();
  await rm(folder, { recursive: true, force: true });
});

interface Item {
  _id: number;
  n: number;
  list: number[];
}

const random = (below: number) => Math.floor(Math.random() * below);
const item = (_id: number): Item => ({ _id, n: _id, list: [_id % 7, _id % 5] });

/** A collection of `COUNT` items with the ids from 0. */
async function filled(collection: string, from: MongoClient = client): Promise<Collection<Item>> {
  const items = from.db(name).collection<Item>(collection);
  for (let id = 0; id < COUNT; id += 2000) {
    await items.insertMany(Array.from({ length: 2000 }, (_, i) => item(id + i)));
  }
  return items;
}

/** Repeats `work` while a promise is pending. @returns how often */
async function during(pending: Promise<unknown>, work: () => Promise<unknown>): Promise<number> {
  let isPending = true;
  const settled = pending.then(
    () => undefined,
    () => undefined,
  );
  void settled.then(() => {
    isPending = false;
  });
  let times = 0;
  for (; isPending; times++) await work();
  return times;
}

const indexNames = async (items: Collection<Item>) => (await items.indexes()).map((index) => index.name);
const validate = (items: Collection<Item>) => client.db(name).command({ validate: items.collectionName });

test('other commands run during a build; the index has what was written meanwhile', async () => {
  const items = await filled('written');
  const building = items.createIndexes([
    { key: { n: 1 }, name: 'n' },
    { key: { list: 1, n: -1 }, name: 'list' },
    { key: { n: 1, _id: 1 }, name: 'large', partialFilterExpression: { n: { $gte: COUNT } } },
  ]);
  const beside = other.db(name).collection<Item>('written');
  const session = other.startSession();
  let next = COUNT;
  const writes = await during(building, async () => {
    const [id, value] = [random(next), random(2 * COUNT)];
    await beside.updateOne({ _id: id }, { $set: { n: value, list: [value, value + 1] } });
    await beside.deleteOne({ _id: random(next) });
    await beside.insertOne(item(next++));
    await session.withTransaction(async () => {
      await beside.updateOne({ _id: random(next) }, { $inc: { n: 1 } }, { session });
      await beside.insertOne(item(next++), { session });
    });
    // The second document ends the command, and the first is as before.
    const ends = { $divide: [1000, { $subtract: [id + 1, '$_id'] }] };
    await beside.updateMany({ _id: { $in: [id, id + 1] } }, [{ $set: { n: ends } }]).catch(() => undefined);
  });
  await session.endSession();
  expect(await building).toEqual(['n', 'list', 'large']);
  // Each time, eight commands were answered.
  expect(writes).toBeGreaterThan(0);
  expect(await indexNames(items)).toEqual(['_id_', 'n', 'list', 'large']);
  expect(await validate(items)).toMatchObject({ valid: true, errors: [] });
  const all = await items.find({}, { hint: { $natural: 1 } }).toArray();
  for (const hint of ['n', 'list']) expect(await items.countDocuments({ n: { $gte: 0 } }, { hint })).toBe(all.length);
  const large = all.filter(({ n }) => n >= COUNT).length;
  expect(await items.countDocuments({ n: { $gte: COUNT } }, { hint: 'large' })).toBe(large);
});

test('an index is not used before it is complete', async () => {
  const items = await filled('incomplete');
  const building = items.createIndex({ n: 1 }, { name: 'n' });
  const counts = new Set<number>();
  const beside = other.db(name).collection<Item>('incomplete');
  await during(building, async () => counts.add(await beside.countDocuments({ n: { $gte: 0 } })));
  await building;
  expect([...counts]).toEqual([COUNT]);
});

test('the same index asked for twice at once is built once; both succeed', async () => {
  const items = await filled('twice');
  const ask = (from: MongoClient) => from.db(name).collection<Item>('twice').createIndex({ n: 1 }, { name: 'n' });
  expect(await Promise.all([ask(client), ask(other), ask(client)])).toEqual(['n', 'n', 'n']);
  expect(await indexNames(items)).toEqual(['_id_', 'n']);
  expect(await validate(items)).toMatchObject({ valid: true });
});

test('a duplicate key ends the build of a unique index with error 11000, and nothing remains of it', async () => {
  const items = await filled('duplicate');
  await items.insertOne({ ...item(COUNT), n: 5 });
  await expect(items.createIndex({ n: 1 }, { unique: true })).rejects.toMatchObject({ code: 11000 });
  expect(await indexNames(items)).toEqual(['_id_']);
  await items.insertOne({ ...item(COUNT + 1), n: 5 });
  await items.deleteMany({ _id: { $gte: COUNT } });
  await items.createIndex({ n: 1 }, { unique: true });
  await expect(items.insertOne({ ...item(COUNT), n: 5 })).rejects.toMatchObject({ code: 11000 });
  expect(await validate(items)).toMatchObject({ valid: true });
});

test('a build ends with an error when its collection is dropped', async () => {
  const items = await filled('dropped');
  const building = items.createIndex({ n: 1 }).catch((error: unknown) => error);
  await other.db(name).collection('dropped').drop();
  const made = await other.db(name).collection<Item>('dropped').insertOne(item(1));
  expect(made.acknowledged).toBe(true);
  const outcome = await building;
  // The build may have been the first of the two.
  if (outcome !== 'n_1') expect(outcome).toMatchObject({ code: 276 });
  expect(await indexNames(items)).toEqual(['_id_']);
  expect(await validate(items)).toMatchObject({ valid: true, nrecords: 1 });
});

test('a build waits for an open transaction that uses the collection, and other commands do not wait for it', async () => {
  const items = await filled('transaction');
  const session = other.startSession();
  session.startTransaction();
  await other
    .db(name)
    .collection<Item>('transaction')
    .updateOne({ _id: 1 }, { $set: { n: -1 } }, { session });
  const building = items.createIndex({ n: 1 }, { name: 'n' });
  for (let i = 0; i < 50; i++) await items.insertOne(item(COUNT + i));
  expect(await indexNames(items)).toEqual(['_id_']);
  await session.commitTransaction();
  await session.endSession();
  expect(await building).toBe('n');
  expect(await items.countDocuments({ n: -1 }, { hint: 'n' })).toBe(1);
  expect(await validate(items)).toMatchObject({ valid: true });
});

test('a transaction that would break a unique index whose entries are there can not be committed', async () => {
  const items = await filled('unique');
  const session = other.startSession();
  session.startTransaction();
  await other
    .db(name)
    .collection<Item>('unique')
    .insertOne({ ...item(COUNT), n: 5 }, { session });
  await items.insertMany(Array.from({ length: 1000 }, (_, i) => item(COUNT + 1 + i)));
  const building = items.createIndex({ n: 1 }, { name: 'n', unique: true });
  // The build adds all keys, does not see the row of the transaction, and waits for its end.
  const running = async () => (await client.db('admin').command({ currentOp: 1 })).inprog[0];
  await expect
    .poll(async () => {
      const { msg, progress } = await running();
      return msg === 'Index Build: inserting keys' && progress.done === progress.total;
    })
    .toBe(true);
  expect(await running()).toMatchObject({ ns: `${name}.unique`, command: { indexes: [{ name: 'n' }] } });
  await expect(session.commitTransaction()).rejects.toMatchObject({ code: 11000 });
  await session.endSession();
  expect(await building).toBe('n');
  expect(await validate(items)).toMatchObject({ valid: true, nrecords: COUNT + 1000 });
  expect(await running()).toBeUndefined();
});

test('the entries of a dropped index are removed in the background, and it can be made again at once', async () => {
  const items = await filled('again');
  for (let i = 0; i < 3; i++) {
    await items.createIndex({ n: 1 }, { name: 'n' });
    expect(await items.countDocuments({ n: { $gte: 0 } }, { hint: 'n' })).toBe(COUNT);
    await items.dropIndex('n');
  }
  expect(await indexNames(items)).toEqual(['_id_']);
  expect(await validate(items)).toMatchObject({ valid: true, keysPerIndex: { _id_: COUNT } });
});

/** The number of entries of each index in the file of an engine that does not run. */
function entriesByIndex(ownFolder: string): Map<number, number> {
  const file = new DatabaseSync(join(ownFolder, 'engine.sqlite'));
  try {
    const rows = file.prepare('SELECT i, count(*) AS n FROM idx GROUP BY i').all();
    return new Map(rows.map(({ i, n }) => [i as number, n as number]));
  } finally {
    file.close();
  }
}

/** The numbers of entries after a short time of frequent maintenance. */
async function afterMaintenance(ownFolder: string): Promise<number[]> {
  const ownEngine = await startEngine({ dataDir: ownFolder, ttlSeconds: 0.02 });
  await sleep(200);
  await ownEngine.close();
  return [...entriesByIndex(ownFolder).values()];
}

test('after a kill during a build, the index is not there and is built anew, and its old entries are removed', async () => {
  const ownFolder = await mkdtemp(join(tmpdir(), 'builds-'));
  let ownEngine = await startEngineProcess(ownFolder);
  try {
    let own = await new MongoClient(ownEngine.uri).connect();
    await filled('killed', own);
    const building = own
      .db(name)
      .collection<Item>('killed')
      .createIndex({ n: 1 })
      .catch(() => undefined);
    await own.db(name).collection<Item>('killed').insertOne(item(COUNT));
    await ownEngine.kill();
    // After this error the driver knows that the server is gone. Before, its `endSessions` could wait for ever.
    await building;
    await own.close();
    ownEngine = await startEngineProcess(ownFolder);
    own = await new MongoClient(ownEngine.uri).connect();
    const items = own.db(name).collection<Item>('killed');
    expect(await indexNames(items)).toEqual(['_id_']);
    await items.createIndex({ n: 1 }, { name: 'n' });
    expect(await items.countDocuments({ n: { $gte: 0 } }, { hint: 'n' })).toBe(COUNT + 1);
    expect(await own.db(name).command({ validate: 'killed' })).toMatchObject({ valid: true });
    await items.dropIndex('n');
    await own.close();
    await ownEngine.kill();
    expect(entriesByIndex(ownFolder).size).toBeGreaterThan(1);
    await expect.poll(() => afterMaintenance(ownFolder)).toEqual([COUNT + 1]);
  } finally {
    await ownEngine.kill();
    await rm(ownFolder, { recursive: true, force: true });
  }
});

test('the engine ends properly during index builds, long reads and validations', async () => {
  const ownFolder = await mkdtemp(join(tmpdir(), 'builds-'));
  const ownEngine = await startEngineProcess(ownFolder);
  let complaints = '';
  ownEngine.child.stderr?.on('data', (chunk) => {
    complaints += chunk;
  });
  try {
    const own = await new MongoClient(ownEngine.uri).connect();
    const items = await filled('ended', own);
    const never = { $expr: { $eq: [{ $size: { $range: [0, 1000] } }, 2] } };
    const pending = [
      items.createIndex({ n: 1 }),
      items.find(never).toArray(),
      items.aggregate([{ $match: never }]).toArray(),
      own.db(name).command({ validate: 'ended' }),
    ].map((work) => work.catch((error: Error) => error.name));
    await items.insertOne(item(COUNT));
    const exited = once(ownEngine.child, 'exit');
    ownEngine.child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    await own.close();
    const outcomes = await Promise.all(pending);
    expect(outcomes.filter((each) => /^Mongo/.test(String(each)))).not.toEqual([]);
    expect(complaints).toBe('');
  } finally {
    await ownEngine.kill();
    await rm(ownFolder, { recursive: true, force: true });
  }
});
