import { type Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

let mongo: TestMongo;
let client: MongoClient;
let db: Db;

beforeAll(async () => {
  mongo = await startTestMongo();
  client = await new MongoClient(mongo.uri).connect();
});

beforeEach(() => {
  db = client.db(freshDbName('commands'));
});

afterAll(async () => {
  await client.close();
  await mongo.close();
});

type Numbered = { _id: number; [field: string]: unknown };

describe('cursors', () => {
  beforeEach(async () => {
    await db.collection<Numbered>('c').insertMany(Array.from({ length: 250 }, (_, _id) => ({ _id })));
  });

  test('batches return every document once, in order', async () => {
    for (const batchSize of [1, 7, 100, 1000]) {
      const ids = (await db.collection<Numbered>('c').find().sort({ _id: 1 }).batchSize(batchSize).toArray()).map(
        (doc) => doc._id,
      );
      expect(ids).toEqual(Array.from({ length: 250 }, (_, _id) => _id));
    }
  });

  test('the first batch has 101 documents, the following ones batchSize', async () => {
    const { cursor } = await db.command({ find: 'c' });
    expect(cursor.firstBatch.length).toBe(101);
    const more = await db.command({ getMore: cursor.id, collection: 'c', batchSize: 100 });
    expect(more.cursor.nextBatch.length).toBe(100);
    const last = await db.command({ getMore: cursor.id, collection: 'c' });
    expect(last.cursor.nextBatch.length).toBe(49);
    expect(Number(last.cursor.id)).toBe(0);
    await expect(db.command({ getMore: cursor.id, collection: 'c' })).rejects.toMatchObject({ code: 43 });
  });

  test('batchSize 0 opens a cursor without reading; limit and singleBatch close it', async () => {
    const { cursor } = await db.command({ find: 'c', batchSize: 0 });
    expect(cursor.firstBatch).toEqual([]);
    expect(Number(cursor.id)).not.toBe(0);
    expect(await db.command({ killCursors: 'c', cursors: [cursor.id] })).toMatchObject({ cursorsKilled: [cursor.id] });
    expect(await db.command({ killCursors: 'c', cursors: [cursor.id] })).toMatchObject({
      cursorsNotFound: [cursor.id],
    });
    expect(Number((await db.command({ find: 'c', batchSize: 5, singleBatch: true })).cursor.id)).toBe(0);
    expect(await db.collection('c').find().skip(3).limit(120).batchSize(50).toArray()).toHaveLength(120);
  });

  test('a batch ends at 16 MiB', async () => {
    const text = 'x'.repeat(5 * 1024 * 1024);
    await db.collection<Numbered>('big').insertMany([1, 2, 3, 4].map((_id) => ({ _id, text })));
    const { cursor } = await db.command({ find: 'big' });
    expect(cursor.firstBatch.length).toBe(3);
    expect((await db.command({ getMore: cursor.id, collection: 'big' })).cursor.nextBatch.length).toBe(1);
  });

  test('a cursor survives writes to its collection', async () => {
    const cursor = db.collection<Numbered>('c').find().sort({ _id: 1 }).batchSize(10);
    const seen: number[] = [];
    for await (const { _id } of cursor) {
      seen.push(_id);
      if (_id % 2 === 0) await db.collection<Numbered>('c').deleteOne({ _id });
    }
    expect(seen).toEqual(Array.from({ length: 250 }, (_, _id) => _id));
    expect(await db.collection('c').countDocuments()).toBe(125);
  });

  test('a cursor on a dropped collection is closed', async () => {
    const { cursor } = await db.command({ find: 'c', batchSize: 1 });
    await db.collection('c').drop();
    await expect(db.command({ getMore: cursor.id, collection: 'c' })).rejects.toMatchObject({ ok: 0 });
  });
});

describe('collections and databases', () => {
  test('are created by the first write, listed, and dropped', async () => {
    await db.createCollection('empty');
    await expect(db.command({ create: 'empty', capped: true, size: 1000 })).rejects.toMatchObject({ ok: 0 });
    await db.collection('c').insertOne({});
    expect((await db.listCollections().toArray()).map((each) => each.name).sort()).toEqual(['c', 'empty']);
    expect(await db.listCollections({ name: 'c' }, { nameOnly: true }).toArray()).toEqual([
      { name: 'c', type: 'collection' },
    ]);
    const { databases } = await client.db().admin().listDatabases({ nameOnly: true });
    expect(databases.map((each) => each.name)).toContain(db.databaseName);
    expect(await db.collection('c').drop()).toBe(true);
    expect((await db.listCollections().toArray()).map((each) => each.name)).toEqual(['empty']);
    await db.dropDatabase();
    expect(await db.listCollections().toArray()).toEqual([]);
  });

  test('a failed $out leaves its target as it was, for later writes too, whatever others drop', async () => {
    const target = db.collection<{ _id: number; a: number }>('target');
    await target.createIndex({ a: 1 }, { unique: true });
    await target.insertOne({ _id: 1, a: 1 });
    await db.collection('source').insertMany([{ a: 5 }, { a: 5 }]);
    const failing = db
      .collection('source')
      .aggregate([{ $out: 'target' }])
      .toArray();
    await expect(failing).rejects.toMatchObject({ code: 11000 });
    await target.insertMany([
      { _id: 2, a: 2 },
      { _id: 3, a: 3 },
    ]);
    const all = [1, 2, 3].map((n) => ({ _id: n, a: n }));
    expect(await target.find().sort({ _id: 1 }).toArray()).toEqual(all);
    const other = db.collection<{ _id: number }>('other');
    await other.insertOne({ _id: 99 });
    expect(await other.find().toArray()).toEqual([{ _id: 99 }]);
    await other.drop();
    expect(await target.find().sort({ _id: 1 }).toArray()).toEqual(all);
    expect(await target.countDocuments({ a: { $gt: 1 } })).toBe(2);
    expect(await db.command({ validate: 'target' })).toMatchObject({ valid: true });
  });

  test('a dropped collection is created again without documents and indexes', async () => {
    await db.collection('c').createIndex({ a: 1 });
    await db.collection('c').insertOne({ a: 1 });
    await db.collection('c').drop();
    await db.collection('c').insertOne({ a: 2 });
    expect(await db.collection('c').countDocuments()).toBe(1);
    expect((await db.collection('c').indexes()).length).toBe(1);
  });

  test('are renamed with documents and indexes', async () => {
    await db.collection('c').createIndex({ a: 1 });
    await db.collection<Numbered>('c').insertOne({ _id: 1, a: 1 });
    await db.collection('taken').insertOne({});
    await expect(db.collection('c').rename('taken')).rejects.toMatchObject({ code: 48 });
    await db.collection('c').rename('d');
    expect(await db.collection('d').find({ a: 1 }).toArray()).toEqual([{ _id: 1, a: 1 }]);
    expect((await db.collection('d').indexes()).map((index) => index.name)).toEqual(['_id_', 'a_1']);
    expect(await db.collection('c').countDocuments()).toBe(0);
    await db.collection('d').rename('taken', { dropTarget: true });
    expect(await db.collection('taken').find().toArray()).toEqual([{ _id: 1, a: 1 }]);
  });

  test('invalid names are refused (error 73)', async () => {
    for (const name of ['', 'a$b', 'system.x']) {
      await expect(db.command({ insert: name, documents: [{ a: 1 }] })).rejects.toMatchObject({ code: 73 });
    }
  });

  test('statistics count documents and indexes', async () => {
    await db.collection('c').createIndex({ a: 1 });
    await db.collection('c').insertMany([{ a: 1 }, { a: 2 }]);
    expect(await db.command({ collStats: 'c' })).toMatchObject({ ns: `${db.databaseName}.c`, count: 2, nindexes: 2 });
    expect(await db.stats()).toMatchObject({ collections: 1, objects: 2, indexes: 2 });
  });
});

describe('what mongorestore sends', () => {
  const idIndex = { v: 2, key: { _id: 1 }, name: '_id_' };

  test('a collection is made with its index on _id as listCollections shows it', async () => {
    await db.command({ create: 'first', idIndex });
    const [shown] = await db.listCollections({ name: 'first' }).toArray();
    await db.command({ create: 'restored', idIndex: (shown as { idIndex?: object }).idIndex });
    expect(await db.collection('restored').indexes()).toEqual([expect.objectContaining(idIndex)]);
    await expect(db.command({ create: 'other', idIndex: { ...idIndex, key: { a: 1 } } })).rejects.toMatchObject({
      code: 2,
    });
    expect(await db.listCollections({ name: 'other' }).toArray()).toEqual([]);
  });

  // The other server refuses them all the same.
  test.skipIf(process.env.TEST_MONGODB_URL !== undefined)(
    'options of an index that no index has are ignored if it asks for that',
    async () => {
      const index = { v: 2, key: { a: 1 }, name: 'a_1', safe: true };
      await expect(db.command({ createIndexes: 'c', indexes: [index] })).rejects.toMatchObject({ code: 197 });
      await db.command({ createIndexes: 'c', indexes: [index], ignoreUnknownIndexOptions: true });
      expect((await db.collection('c').indexes()).map(({ name }) => name)).toEqual(['_id_', 'a_1']);
    },
  );
});

describe('counts', () => {
  test('with a hint count documents, not index keys', async () => {
    const lists = db.collection<Numbered>('lists');
    await lists.createIndex({ list: 1 });
    await lists.insertMany([
      { _id: 1, list: [1, 2, 3] },
      { _id: 2, list: [4] },
    ]);
    expect(await lists.countDocuments({}, { hint: 'list_1' })).toBe(2);
    expect(await db.command({ count: 'lists', query: {}, hint: 'list_1' })).toMatchObject({ n: 2 });
  });

  test('agree with find, with filter, skip and limit', async () => {
    const collection = db.collection<Numbered>('c');
    await collection.insertMany(Array.from({ length: 30 }, (_, _id) => ({ _id, a: _id % 3, tags: [_id, 'x'] })));
    await collection.createIndexes([{ key: { a: 1, _id: 1 } }, { key: { tags: 1 } }]);
    expect(await collection.estimatedDocumentCount()).toBe(30);
    for (const filter of [
      {},
      { a: 1 },
      { a: { $in: [0, 2] } },
      { a: 1, _id: { $gt: 10 } },
      { tags: 'x' },
      { a: { $gte: 1 }, _id: 4 },
    ]) {
      const found = await collection.find(filter as never).toArray();
      expect(await collection.countDocuments(filter as never)).toBe(found.length);
      expect((await db.command({ count: 'c', query: filter, skip: 2, limit: 5 })).n).toBe(
        Math.min(5, Math.max(0, found.length - 2)),
      );
    }
    await expect(db.command({ distinct: 'c' })).rejects.toMatchObject({ code: 40414 });
    await expect(db.command({ find: 'c', limit: -1 })).rejects.toThrow(/'limit' value must be >= 0/);
    await expect(db.command({ find: 'c', hint: [] })).rejects.toMatchObject({ code: 9 });
    expect((await db.command({ find: 'c', limit: 1.5 })).cursor.firstBatch).toHaveLength(1);
    expect(await collection.distinct('a')).toEqual([0, 1, 2]);
    expect((await collection.distinct('tags', { _id: { $lt: 2 } })).sort()).toEqual([0, 1, 'x']);
  });
});

// The reference server does not support expressions in projections.
test.skipIf(process.env.TEST_MONGODB_URL !== undefined)(
  'variables of let are available in filters, projections, updates and pipelines',
  async () => {
    const collection = db.collection<Numbered>('c');
    await collection.insertMany([1, 2, 3].map((_id) => ({ _id, n: _id })));
    const filter = { $expr: { $gte: ['$n', '$$low'] } };
    const found = await collection
      .find(filter, { let: { low: 2 }, projection: { twice: { $multiply: ['$$low', '$n'] } } })
      .toArray();
    expect(found).toEqual([
      { _id: 2, twice: 4 },
      { _id: 3, twice: 6 },
    ]);
    expect(
      await collection.aggregate([{ $match: filter }, { $project: { x: '$$low' } }], { let: { low: 3 } }).toArray(),
    ).toEqual([{ _id: 3, x: 3 }]);
    await collection.updateMany(filter, [{ $set: { n: '$$low' } }], { let: { low: 2 } });
    expect((await collection.find().sort({ _id: 1 }).toArray()).map((doc) => doc.n)).toEqual([1, 2, 2]);
    expect((await collection.findOneAndUpdate(filter, { $set: { seen: true } }, { let: { low: 2 } }))?._id).toBe(2);
    expect(await collection.deleteMany(filter, { let: { low: 2 } })).toMatchObject({ deletedCount: 2 });
  },
);

describe('diagnostics', () => {
  test('answer the commands of common clients', async () => {
    const admin = client.db('admin');
    expect(await admin.command({ ping: 1 })).toMatchObject({ ok: 1 });
    expect(await admin.command({ buildInfo: 1 })).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      maxBsonObjectSize: 16 * 1024 * 1024,
    });
    expect(await admin.command({ hello: 1 })).toMatchObject({
      isWritablePrimary: true,
      setName: expect.any(String),
      logicalSessionTimeoutMinutes: 30,
    });
    expect(await admin.command({ hostInfo: 1 })).toMatchObject({ ok: 1 });
    expect(await admin.command({ serverStatus: 1 })).toMatchObject({ connections: { current: expect.any(Number) } });
    expect(await admin.command({ connectionStatus: 1 })).toMatchObject({ authInfo: { authenticatedUsers: [] } });
    expect(await admin.command({ getParameter: '*' })).toMatchObject({ ok: 1 });
  });
});

/** Triples a text of 9 MB, which exceeds the size of any document. */
const TRIPLED = { $concat: ['$text', '$text', '$text'] };

describe('refusals', () => {
  test.each([
    [{ find: 'c', nonsense: 1 }, 40415],
    [{ find: 'c', filter: 'x' }, 14],
    [{ find: 'c', filter: { a: { $nonsense: 1 } } }, 2],
    [{ aggregate: 'c', pipeline: [{ $nonsense: 1 }], cursor: {} }, 40324],
    [{ nonsense: 1 }, 59],
  ] as const)('%j', async (command, code) => {
    await expect(db.command(command)).rejects.toMatchObject({ code });
  });

  test.skipIf(process.env.TEST_MONGODB_URL !== undefined).each([
    [{ find: '' }, 73],
    [{ insert: '', documents: [{}] }, 73],
    [{ find: 'c', maxTimeMS: 2 ** 31 }, 2],
    [{ find: 'c', batchSize: '5' }, 14],
    [{ aggregate: 'c', pipeline: [], cursor: { batchSize: 'x' } }, 14],
    [{ aggregate: 'c', pipeline: [], cursor: { batchSize: -1 } }, 51024],
    [{ listCollections: 1, cursor: { batchSize: {} } }, 14],
    [{ listIndexes: 'c', cursor: { nonsense: 1 } }, 40415],
    [{ insert: 'c', documents: [{}], writeConcern: 'majority' }, 14],
    [{ aggregate: 'c', pipeline: [{ $project: { text: TRIPLED } }], cursor: {} }, 10334],
  ] as const)('wrong options: %j', async (command, code) => {
    await db.collection<{ _id: number; text: string }>('c').insertOne({ _id: 1, text: 'x'.repeat(9_000_000) });
    await expect(db.command(command)).rejects.toMatchObject({ code });
    expect(await db.collection('c').countDocuments()).toBe(1);
  });

  test.skipIf(process.env.TEST_MONGODB_URL !== undefined)(
    'invalid flags and limits of a write are refused, and nothing is written',
    async () => {
      const items = db.collection<{ _id: number; n?: number }>('c');
      await items.insertMany([{ _id: 1 }, { _id: 2 }]);
      for (const limit of [null, false, '', [], '1']) {
        const answer = await db.command({ delete: 'c', deletes: [{ q: {}, limit }] });
        expect(answer, JSON.stringify(limit)).toMatchObject({ n: 0, writeErrors: [{ code: 9 }] });
      }
      const update = { q: {}, u: { $inc: { n: 1 } } };
      for (const wrong of [{ multi: 'yes' }, { upsert: {} }]) {
        const answer = await db.command({ update: 'c', updates: [{ ...update, ...wrong }] });
        expect(answer).toMatchObject({ n: 0, writeErrors: [{ code: 14 }] });
      }
      expect(await db.command({ update: 'c', updates: [{ ...update, multi: 1 }] })).toMatchObject({ nModified: 2 });
      const upsert = { q: { _id: 3 }, u: { $inc: { n: 1 } }, upsert: 1 };
      expect(await db.command({ update: 'c', updates: [upsert] })).toMatchObject({ n: 1, upserted: [{ _id: 3 }] });
      const documents = [{ _id: 1 }, { _id: 4 }];
      expect(await db.command({ insert: 'c', documents, ordered: 0 })).toMatchObject({ n: 1 });
      expect(await items.countDocuments()).toBe(4);
    },
  );

  test('an invalid _id is refused, also in upserts', async () => {
    const collection = db.collection('c');
    for (const _id of [[1], /x/, { $a: 1 }]) {
      await expect(collection.insertOne({ _id } as never)).rejects.toMatchObject({ code: expect.any(Number) });
    }
    await expect(
      collection.updateOne({ a: 1 }, { $set: { _id: [1] } } as never, { upsert: true }),
    ).rejects.toMatchObject({ code: 53 });
    expect(await collection.countDocuments()).toBe(0);
  });

  test('an update with an unknown operator is an entry of writeErrors', async () => {
    await db.createCollection('c');
    const reply = await db.command({ update: 'c', updates: [{ q: {}, u: { $nonsense: { a: 1 } } }] });
    expect(reply).toMatchObject({ n: 0, writeErrors: [{ index: 0, code: 9 }] });
  });

  test('an update of several documents that fails for one of them reports the error', async () => {
    await db.collection<Numbered>('c').insertMany([
      { _id: 1, a: 1 },
      { _id: 2, a: 'text' },
    ]);
    await expect(db.collection('c').updateMany({}, { $inc: { a: 1 } })).rejects.toMatchObject({ code: 14 });
  });

  test('maxTimeMS aborts a command (error 50)', async () => {
    await db.collection('c').insertMany(Array.from({ length: 20_000 }, (_, n) => ({ n, text: 'x'.repeat(50) })));
    await expect(db.command({ find: 'c', filter: { text: /y$/ }, maxTimeMS: 1 })).rejects.toMatchObject({ code: 50 });
  });
});
