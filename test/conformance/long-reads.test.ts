import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { type Collection, type Document, MongoClient, type Timestamp } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Engine, startEngine } from '../../src/engine/embedded.ts';
import { startServer } from '../../src/engine/server.ts';
import { ENOUGH_INSERTS, mostInsertsDuring } from '../support/inserts-during.ts';
import { firstOf } from '../support/samples.ts';
import { WireClient } from '../support/wire-client.ts';

/**
 * Runs on the engine only. Reads of a whole collection, each long enough for many others. Counted, not timed: how many commands of another
 * client are answered while one runs.
 */
const COUNT = 8000;
const name = 'long';

let folder: string;
let engine: Engine;
let client: MongoClient;
let other: MongoClient;
let items: Collection<Document>;
/** Before the items. */
let beginning: Timestamp;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'engine-'));
  engine = await startEngine({ dataDir: folder });
  client = await new MongoClient(engine.uri).connect();
  other = await new MongoClient(engine.uri).connect();
  items = client.db(name).collection('items');
  beginning = (await client.db(name).command({ ping: 1 })).operationTime;
  for (let from = 0; from < COUNT; from += 2000) {
    const documents = Array.from({ length: 2000 }, (_, i) => from + i);
    await items.insertMany(documents.map((n) => ({ _id: n as never, n, group: n % 1000, list: [n % 7, n % 5] })));
  }
});

afterAll(async () => {
  await Promise.all([client?.close(), other?.close()]);
  await engine?.close();
  await rm(folder, { recursive: true, force: true });
});

describe('other commands run during', () => {
  const never = { $expr: { $eq: [{ $mod: ['$n', 2] }, 2] } };
  test.each<[string, () => Promise<unknown>]>([
    ['a find that matches nothing', () => items.find(never).toArray()],
    ['a large batch', () => items.find({}, { batchSize: COUNT }).toArray()],
    ['a sort', () => items.find({}, { sort: { group: 1, n: -1 }, projection: { _id: 1 } }).toArray()],
    ['a skip', () => items.find({ n: { $gte: 0 } }, { skip: COUNT }).toArray()],
    ['a count', () => items.countDocuments(never)],
    ['a validation', () => client.db(name).command({ validate: 'items' })],
    ['distinct values', () => items.distinct('n')],
    ['an explained query', () => items.find(never).explain('executionStats')],
    ['a $group', () => items.aggregate([{ $group: { _id: '$n', n: { $sum: '$group' } } }, { $limit: 1 }]).toArray()],
    ['a $match', () => items.aggregate([{ $addFields: { a: 1 } }, { $match: { a: 2 } }]).toArray()],
    ['a $sort', () => items.aggregate([{ $addFields: { a: 1 } }, { $sort: { n: -1 } }, { $limit: 1 }]).toArray()],
    ['a $count', () => items.aggregate([{ $unwind: '$list' }, { $count: 'n' }]).toArray()],
    [
      'a $lookup',
      () => {
        const pipeline = [{ $match: never }];
        return items.aggregate([{ $limit: 1 }, { $lookup: { from: 'items', as: 'all', pipeline } }]).toArray();
      },
    ],
    ['a $facet', () => items.aggregate([{ $facet: { n: [{ $count: 'n' }], m: [{ $skip: COUNT }] } }]).toArray()],
    ['a $unionWith', () => items.aggregate([{ $limit: 1 }, { $unionWith: 'items' }, { $skip: COUNT }]).toArray()],
  ])('%s', async (_, read) => {
    const beside = other.db(name).collection('beside');
    expect(await mostInsertsDuring(beside, read)).toBeGreaterThanOrEqual(ENOUGH_INSERTS);
  });
});

describe('a long read', () => {
  /** The number of open cursors and long reads. */
  const open = async () => (await other.db('admin').command({ serverStatus: 1 })).metrics.cursor.open.total;

  test('has the answer of a short one', async () => {
    expect(await items.countDocuments({ group: { $lt: 10 } })).toBe((COUNT / 1000) * 10);
    expect(await items.distinct('group')).toHaveLength(1000);
    const sorted = await items.find({}, { sort: { group: 1, n: -1 } }).toArray();
    expect(sorted).toHaveLength(COUNT);
    expect(sorted.slice(0, 2).map(({ n }) => n)).toEqual([COUNT - 1000, COUNT - 2000]);
    const grouped = await items.aggregate([{ $group: { _id: '$group', n: { $sum: 1 } } }]).toArray();
    expect(grouped).toHaveLength(1000);
    for (const { n } of grouped) expect(n).toBe(COUNT / 1000);
  });

  test('finds a collection valid while others write to it', async () => {
    const beside = other.db(name).collection<{ _id: number; n: number; list: number[] }>('items');
    const session = other.startSession();
    const random = () => Math.floor(Math.random() * COUNT);
    await beside.createIndex({ list: 1 }, { name: 'list' });
    let isOver = false;
    const writing = (async () => {
      while (!isOver) {
        const id = random();
        await beside.deleteOne({ _id: id });
        await beside.updateOne({ _id: random() }, { $set: { list: [random(), random(), random()] } });
        await session.withTransaction(async () => {
          await beside.updateOne({ _id: random() }, { $push: { list: random() } }, { session });
          await beside.countDocuments({ list: random() }, { session });
        });
        await beside.insertOne({ _id: id, n: id, list: [random()] }).catch(() => undefined);
        await beside.updateOne({ _id: random() }, [{ $set: { n: { $divide: [1, 0] } } }]).catch(() => undefined);
      }
    })();
    for (const _ of firstOf([1, 2, 3])) {
      const report = await client.db(name).command({ validate: 'items' });
      expect(report).toMatchObject({ valid: true, errors: [] });
    }
    isOver = true;
    await writing;
    await session.endSession();
    await beside.dropIndex('list');
  });

  test('keeps to its time limit', async () => {
    const slow = { $expr: { $gt: [{ $size: { $range: [0, 2000] } }, 2000] } };
    await expect(items.find(slow, { maxTimeMS: 50 }).toArray()).rejects.toMatchObject({ code: 50 });
  });

  test('ends with an error when its collection is dropped meanwhile', async () => {
    const dropped = client.db(name).collection('dropped');
    await items.aggregate([{ $out: 'dropped' }]).toArray();
    const never = { $expr: { $eq: [{ $size: { $range: [0, 1000] } }, 2] } };
    const before = await open();
    const joined = { $unionWith: { coll: 'dropped', pipeline: [{ $match: never }] } };
    const reads = [
      dropped.find(never).toArray(),
      dropped.countDocuments(never),
      dropped.distinct('n', never),
      items.aggregate([{ $limit: 1 }, joined]).toArray(),
    ];
    const settled = Promise.allSettled(reads);
    await expect.poll(open).toBe(before + 4);
    await other.db(name).dropCollection('dropped');
    for (const each of await settled) expect(each).toMatchObject({ status: 'rejected', reason: { code: 175 } });
    expect(await dropped.countDocuments()).toBe(0);
  });

  test('ends when its client disconnects, and leaves no cursor', async () => {
    const before = await open();
    const wire = await WireClient.connect(engine.uri);
    const filter = { $expr: { $eq: [{ $size: { $range: [0, 1000] } }, 2] } };
    void wire.command({ find: 'items', filter, $db: name }).catch(() => undefined);
    await expect.poll(open).toBeGreaterThan(before);
    wire.close();
    await expect.poll(open).toBe(before);
  });
});

describe('a change stream', () => {
  const watch = (collection: string, pipeline: Document[]) =>
    client.db(name).collection(collection).watch(pipeline, { startAtOperationTime: beginning });

  test('that passes over many events lets others run, and finds those that it has', async () => {
    const found: Document[] = [];
    const read = async () => {
      await using stream = watch('items', [{ $match: { 'fullDocument.n': COUNT - 1 } }]);
      found.push(await stream.next());
    };
    const inserts = await mostInsertsDuring(other.db(name).collection('beside'), read);
    expect(inserts).toBeGreaterThanOrEqual(ENOUGH_INSERTS);
    for (const event of found) expect(event).toMatchObject({ operationType: 'insert', fullDocument: { n: COUNT - 1 } });
  });

  test('answers with the position that it has come to', async () => {
    const wire = await WireClient.connect(engine.uri);
    const pipeline = [{ $changeStream: { startAtOperationTime: beginning } }, { $match: { 'fullDocument.n': COUNT } }];
    const { cursor } = await wire.command({ aggregate: 'items', pipeline, cursor: {}, $db: name });
    expect(cursor.firstBatch).toEqual([]);
    const more = { getMore: cursor.id, collection: 'items', maxTimeMS: 1, $db: name };
    const second = (await wire.command(more)).cursor;
    expect(second.nextBatch).toEqual([]);
    expect(second.postBatchResumeToken._data > cursor.postBatchResumeToken._data).toBe(true);
    wire.close();
  });

  test('passes over many events of other collections', async () => {
    await client
      .db(name)
      .collection('few')
      .insertMany([{ n: 1 }, { n: 2 }]);
    await using stream = watch('few', []);
    expect([await stream.next(), await stream.next()]).toMatchObject([
      { fullDocument: { n: 1 } },
      { fullDocument: { n: 2 } },
    ]);
  });
});

test('a validation finds a missing entry, and one too many', async () => {
  const own = await mkdtemp(join(tmpdir(), 'validate-'));
  let broken = await startServer({ dataDir: own });
  const withClient = async <T>(work: (from: MongoClient) => Promise<T>): Promise<T> => {
    const from = await new MongoClient(broken.uri).connect();
    return work(from).finally(() => from.close());
  };
  try {
    await withClient(async (from) => {
      const items = from.db(name).collection('items');
      await items.createIndex({ a: 1 }, { name: 'a' });
      await items.createIndex({ b: 1 }, { name: 'b' });
      await items.insertMany(Array.from({ length: 300 }, (_, n) => ({ _id: n as never, a: n, b: n })));
    });
    await broken.close();
    const file = new DatabaseSync(join(own, 'engine.sqlite'));
    const [idOfA, idOfB] = file.prepare('SELECT id FROM ind ORDER BY id DESC LIMIT 2').all().reverse();
    const row = file.prepare('SELECT key, rid FROM idx WHERE i = ? ORDER BY rid LIMIT 1 OFFSET 200');
    const missing = row.get(Number(idOfA?.id));
    const held = row.get(Number(idOfB?.id));
    file.prepare('DELETE FROM idx WHERE i = ? AND rid = ?').run(Number(idOfA?.id), Number(missing?.rid));
    const key = Buffer.concat([held?.key as Uint8Array, Buffer.from([1])]);
    const sum = (crc32(key) + Number(idOfB?.id) + Number(held?.rid)) % 4_294_967_291;
    file.prepare('INSERT INTO idx VALUES(?, ?, ?, ?)').run(Number(idOfB?.id), key, Number(held?.rid), sum);
    file.close();
    broken = await startServer({ dataDir: own });
    const report = await withClient((from) => from.db(name).command({ validate: 'items' }));
    expect(report).toMatchObject({ valid: false, nrecords: 300, keysPerIndex: { _id_: 300, a: 299, b: 301 } });
    expect(report.errors).toEqual([
      `index a is missing a key of record ${missing?.rid}`,
      'index b has 301 keys, but its documents have 300',
    ]);
  } finally {
    await broken.close();
    await rm(own, { recursive: true, force: true });
  }
});
