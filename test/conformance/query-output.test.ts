import { type Db, type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

/**
 * The reference server accepts a depth and a size below their minimum, and lacks some of the commands that tools send.
 */
const elsewhere = process.env.TEST_MONGODB_URL !== undefined;

let mongo: TestMongo;
let client: MongoClient;
let db: Db;

type Item = Document & { _id: number };

beforeAll(async () => {
  mongo = await startTestMongo();
  client = await new MongoClient(mongo.uri).connect();
});

beforeEach(async () => {
  db = client.db(freshDbName('output'));
  await db.collection<Item>('source').insertMany([
    { _id: 1, k: 'a', n: 10 },
    { _id: 2, k: 'b', n: 20 },
  ]);
});

afterAll(async () => {
  await client.close();
  await mongo.close();
});

const write = (stage: Document, ...before: Document[]): Promise<Document[]> =>
  db
    .collection('source')
    .aggregate([...before, stage])
    .toArray();
const target = (): Promise<Item[]> => db.collection<Item>('target').find().sort({ _id: 1 }).toArray();

describe('$out', () => {
  test('creates the collection again, with the same indexes', async () => {
    await db.collection<Item>('target').insertOne({ _id: 9 });
    await db.collection('target').createIndex({ k: 1 }, { unique: true });
    expect(await write({ $out: 'target' }, { $match: { n: { $gt: 10 } } })).toEqual([]);
    expect(await target()).toEqual([{ _id: 2, k: 'b', n: 20 }]);
    expect((await db.collection('target').indexes()).map(({ name }) => name)).toEqual(['_id_', 'k_1']);
  });

  test('does not modify the collection if it fails', async () => {
    await db.collection<Item>('target').insertOne({ _id: 9 });
    await db.collection('target').createIndex({ z: 1 }, { unique: true });
    await expect(write({ $out: 'target' })).rejects.toMatchObject({ code: 11000 });
    expect(await target()).toEqual([{ _id: 9 }]);
  });

  test('may replace the collection that it reads, and write to another database', async () => {
    await write({ $out: 'source' }, { $set: { n: 0 } });
    expect(await db.collection<Item>('source').find().sort({ _id: 1 }).toArray()).toEqual([
      { _id: 1, k: 'a', n: 0 },
      { _id: 2, k: 'b', n: 0 },
    ]);
    const other = client.db(`${db.databaseName}_2`);
    await write({ $out: { db: other.databaseName, coll: 'target' } });
    expect(await other.collection('target').countDocuments()).toBe(2);
    await other.dropDatabase();
  });

  test('is error 40601 unless it is the last stage', async () => {
    await expect(write({ $match: {} }, { $out: 'target' })).rejects.toMatchObject({ code: 40601 });
  });
});

describe('$merge', () => {
  beforeEach(async () => {
    await db.collection<Item>('target').insertOne({ _id: 1, k: 'z', kept: true });
  });

  test.each<[string, Document, Item[]]>([
    [
      'merges and inserts by default',
      {},
      [
        { _id: 1, k: 'a', kept: true, n: 10 },
        { _id: 2, k: 'b', n: 20 },
      ],
    ],
    [
      'replaces',
      { whenMatched: 'replace' },
      [
        { _id: 1, k: 'a', n: 10 },
        { _id: 2, k: 'b', n: 20 },
      ],
    ],
    [
      'keeps',
      { whenMatched: 'keepExisting' },
      [
        { _id: 1, k: 'z', kept: true },
        { _id: 2, k: 'b', n: 20 },
      ],
    ],
    ['discards', { whenNotMatched: 'discard' }, [{ _id: 1, k: 'a', kept: true, n: 10 }]],
    [
      'runs a pipeline with $$new',
      { whenMatched: [{ $set: { sum: { $add: ['$$new.n', 1] } } }], whenNotMatched: 'discard' },
      [{ _id: 1, k: 'z', kept: true, sum: 11 }],
    ],
    [
      'runs a pipeline with variables of its own',
      { let: { was: '$n' }, whenMatched: [{ $set: { was: '$$was' } }], whenNotMatched: 'discard' },
      [{ _id: 1, k: 'z', kept: true, was: 10 }],
    ],
  ])('%s', async (_name, options, expected) => {
    expect(await write({ $merge: { into: 'target', ...options } })).toEqual([]);
    expect(await target()).toEqual(expected);
  });

  test('on other fields needs a unique index', async () => {
    const stage = { $merge: { into: 'target', on: 'k', whenMatched: 'merge' } };
    await expect(write(stage, { $project: { _id: 0 } })).rejects.toMatchObject({ code: 51183 });
    await db.collection('target').createIndex({ k: 1 }, { unique: true });
    await db.collection<Item>('target').insertOne({ _id: 7, k: 'b' });
    await write(stage, { $match: { k: 'b' } }, { $project: { _id: 0 } });
    expect(await target()).toEqual([
      { _id: 1, k: 'z', kept: true },
      { _id: 7, k: 'b', n: 20 },
    ]);
  });

  test('fails as specified: 11000 with the key, 13113', async () => {
    await expect(write({ $merge: { into: 'target', whenNotMatched: 'fail' } })).rejects.toMatchObject({ code: 13113 });
    await expect(write({ $merge: { into: 'target', whenMatched: 'fail' } })).rejects.toMatchObject({
      code: 11000,
      keyPattern: { _id: 1 },
      keyValue: { _id: 1 },
    });
  });
});

describe('pipelines without a collection', () => {
  test('$documents', async () => {
    const cursor = db.aggregate([{ $documents: [{ n: 1 }, { n: { $add: [1, 1] } }] }, { $match: { n: { $gt: 1 } } }]);
    expect(await cursor.toArray()).toEqual([{ n: 2 }]);
  });

  test('without a source stage are error 73', async () => {
    await expect(db.aggregate([{ $match: {} }]).toArray()).rejects.toMatchObject({ code: 73 });
  });

  test('$collStats describes a collection', async () => {
    const [stats] = await db
      .collection('source')
      .aggregate([{ $collStats: { storageStats: {}, count: {} } }])
      .toArray();
    expect(stats).toMatchObject({ ns: `${db.databaseName}.source`, count: 2, storageStats: { count: 2, nindexes: 1 } });
  });
});

describe('$graphLookup and $sample', () => {
  test('follows connections up to maxDepth, each document once', async () => {
    const people = db.collection<Item>('people');
    await people.insertMany([
      { _id: 1, boss: null },
      { _id: 2, boss: 1 },
      { _id: 3, boss: 2, skip: true },
      { _id: 4, boss: [3, 5] },
      { _id: 5, boss: 4 },
    ]);
    const reached = async (options: Document): Promise<unknown> => {
      const stage = { from: 'people', startWith: '$boss', connectFromField: 'boss', connectToField: '_id', as: 'up' };
      const [found] = await people
        .aggregate([{ $match: { _id: 4 } }, { $graphLookup: { ...stage, depthField: 'd', ...options } }])
        .toArray();
      return found?.up.map(({ _id, d }: Document) => [_id, Number(d)]).sort();
    };
    expect(await reached({})).toEqual([
      [1, 2],
      [2, 1],
      [3, 0],
      [4, 1],
      [5, 0],
    ]);
    expect(await reached({ maxDepth: 0 })).toEqual([
      [3, 0],
      [5, 0],
    ]);
    expect(await reached({ restrictSearchWithMatch: { skip: { $ne: true } } })).toEqual([
      [4, 1],
      [5, 0],
    ]);
    if (!elsewhere) await expect(reached({ maxDepth: -1 })).rejects.toMatchObject({ code: 40101 });
  });

  test('returns a random subset', async () => {
    await db.collection<Item>('many').insertMany(Array.from({ length: 100 }, (_, _id) => ({ _id })));
    const take = async (size: number): Promise<number[]> =>
      (
        await db
          .collection<Item>('many')
          .aggregate([{ $sample: { size } }])
          .toArray()
      ).map(({ _id }) => _id);
    const some = await take(10);
    expect(new Set(some).size).toBe(10);
    expect(new Set(await take(1000)).size).toBe(100);
    if (!elsewhere) await expect(take(0)).rejects.toMatchObject({ code: 28747 });
  });
});

test.skipIf(elsewhere)(
  'a regular expression with catastrophic backtracking is error 51156 wherever it is used; others are not slowed',
  async () => {
    const texts = db.collection<Item>('texts');
    await texts.insertOne({ _id: 1, text: `${'a'.repeat(50)}!` });
    const endless = '^(a+)+$';
    await expect(texts.find({ text: { $regex: endless } }).toArray()).rejects.toMatchObject({ code: 51156 });
    const matched = { matched: { $regexMatch: { input: '$text', regex: endless } } };
    await expect(texts.aggregate([{ $project: matched }]).toArray()).rejects.toMatchObject({ code: 51156 });
    expect(await texts.countDocuments({ text: { $regex: '^a+.*!$' } })).toBe(1);
    expect(await texts.countDocuments({ text: { $regex: '^(a+)!' } })).toBe(1);
  },
);

test.skipIf(elsewhere)('the commands that shells and tools send when they connect are answered', async () => {
  const admin = client.db('admin');
  const commands = [
    { buildInfo: 1 },
    { hostInfo: 1 },
    { getCmdLineOpts: 1 },
    { connectionStatus: 1, showPrivileges: true },
    { getLog: 'startupWarnings' },
    { getParameter: 1, featureCompatibilityVersion: 1 },
    { serverStatus: 1 },
    { replSetGetStatus: 1 },
    { replSetGetConfig: 1 },
    { usersInfo: 1 },
    { fsync: 1 },
    { whatsmyuri: 1 },
  ];
  for (const command of commands) expect(await admin.command(command)).toMatchObject({ ok: 1 });
  await expect(admin.command({ fsync: 1, lock: true })).rejects.toMatchObject({ code: 115 });
  await expect(db.command({ distinct: 'source' })).rejects.toMatchObject({ code: 40414 });
  await expect(admin.command({ atlasVersion: 1 })).rejects.toMatchObject({ code: 59 });
  expect(await db.command({ dbStats: 1 })).toMatchObject({ collections: 1, objects: 2 });
  expect(await db.command({ collStats: 'source' })).toMatchObject({ count: 2 });
});
