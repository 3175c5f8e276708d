import { type Collection, type Document, MongoClient, MongoServerError } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

let mongo: TestMongo;
let client: MongoClient;
let items: Collection<Document & { _id: number }>;

beforeAll(async () => {
  mongo = await startTestMongo();
  client = await new MongoClient(mongo.uri).connect();
});

beforeEach(() => {
  items = client.db(freshDbName('indexes')).collection('items');
});

afterAll(async () => {
  await client.close();
  await mongo.close();
});

/** The server of TEST_MONGODB_URL may be the reference server, which fails these cases (test/support/reference-deviations.ts). */
const elsewhere = process.env.TEST_MONGODB_URL !== undefined;

interface Explained {
  stages: string[];
  index: string | undefined;
  keys: number;
  docs: number;
  returned: number;
}

/** The stages of the winning plan of a find, and the work that it did. */
async function explain(
  filter: Document,
  options: { sort?: Document; limit?: number; hint?: Document | string } = {},
): Promise<Explained> {
  const { queryPlanner, executionStats } = await items
    .find(filter as never, options as never)
    .explain('executionStats');
  const stages: string[] = [];
  let index: string | undefined;
  const walk = (stage: Document | undefined): void => {
    if (!stage) return;
    stages.push(stage.stage);
    if (stage.stage === 'IXSCAN') index = stage.indexName;
    walk(stage.inputStage);
    for (const each of stage.inputStages ?? []) walk(each);
  };
  walk(queryPlanner.winningPlan.queryPlan ?? queryPlanner.winningPlan);
  return {
    stages,
    index,
    keys: executionStats.totalKeysExamined,
    docs: executionStats.totalDocsExamined,
    returned: executionStats.nReturned,
  };
}

describe('unique', () => {
  test('a duplicate key is error 11000 with key pattern, key value and the message of MongoDB', async () => {
    await items.createIndex({ tenant: 1, number: -1 }, { unique: true });
    await items.insertOne({ _id: 1, tenant: 't', number: 7 });
    await expect(items.insertOne({ _id: 2, tenant: 't', number: 7 })).rejects.toMatchObject({
      code: 11000,
      keyPattern: { tenant: 1, number: -1 },
      keyValue: { tenant: 't', number: 7 },
      message: expect.stringMatching(
        new RegExp(
          `^E11000 duplicate key error collection: ${items.namespace} index: tenant_1_number_-1 dup key: { tenant: "t", number: 7 }`,
        ),
      ),
    });
    await items.insertOne({ _id: 2, tenant: 't', number: 8 });
    await expect(items.updateOne({ _id: 2 }, { $set: { number: 7 } })).rejects.toMatchObject({ code: 11000 });
    await expect(items.findOneAndUpdate({ _id: 2 }, { $set: { number: 7 } })).rejects.toMatchObject({ code: 11000 });
    expect(await items.findOne({ _id: 2 })).toEqual({ _id: 2, tenant: 't', number: 8 });
  });

  test('missing counts as null, unless the index is sparse or partial', async () => {
    await items.createIndex({ a: 1 }, { unique: true });
    await items.insertOne({ _id: 1 });
    await expect(items.insertOne({ _id: 2 })).rejects.toMatchObject({ code: 11000, keyValue: { a: null } });
    await expect(items.insertOne({ _id: 2, a: null })).rejects.toMatchObject({ code: 11000 });
    await items.drop();
    await items.createIndexes([
      { key: { a: 1 }, unique: true, sparse: true },
      { key: { b: 1 }, unique: true, partialFilterExpression: { b: { $exists: true } } },
    ]);
    await items.insertMany([{ _id: 1 }, { _id: 2 }, { _id: 3, a: 1, b: 1 }]);
    await expect(items.insertOne({ _id: 4, a: 1 })).rejects.toMatchObject({ code: 11000, keyPattern: { a: 1 } });
    await expect(items.insertOne({ _id: 4, b: 1 })).rejects.toMatchObject({ code: 11000, keyPattern: { b: 1 } });
  });

  test('a sparse index ignores array elements without the field', async () => {
    await items.createIndex({ 'l.x': 1 }, { unique: true, sparse: true });
    const lists = [[], [{}], [{ y: 1 }, 2], [{ x: 1 }, {}], [{ x: 2 }, {}], [{ x: null }]];
    await items.insertMany(lists.map((l, n) => ({ _id: n, l })));
    await expect(items.insertOne({ _id: 9, l: [{ x: 2 }] })).rejects.toMatchObject({ code: 11000 });
    await expect(items.insertOne({ _id: 9, l: [{ x: null }] })).rejects.toMatchObject({ code: 11000 });
    expect(await items.find({ 'l.x': { $gte: 1 } }).toArray()).toHaveLength(2);
    await items.updateMany({}, { $set: { l: [] } });
    expect(await client.db(items.dbName).command({ validate: items.collectionName })).toMatchObject({ valid: true });
  });

  test('equal numbers share a key whatever their type; other types do not', async () => {
    await items.createIndex({ a: 1 }, { unique: true });
    await items.insertMany([
      { _id: 1, a: 1 },
      { _id: 2, a: '1' },
      { _id: 3, a: true },
    ]);
    await expect(items.insertOne({ _id: 4, a: 1.0 })).rejects.toMatchObject({ code: 11000 });
  });

  test('applies to each element of an array, but not within one document', async () => {
    await items.createIndex({ tags: 1 }, { unique: true });
    await items.insertOne({ _id: 1, tags: ['a', 'b', 'a'] });
    await expect(items.insertOne({ _id: 2, tags: ['c', 'b'] })).rejects.toMatchObject({
      code: 11000,
      keyValue: { tags: 'b' },
    });
    await items.insertOne({ _id: 2, tags: ['c'] });
  });

  test('a unique index on duplicates fails and leaves nothing behind', async () => {
    await items.insertMany([
      { _id: 1, a: 1 },
      { _id: 2, a: 1 },
    ]);
    await expect(items.createIndex({ a: 1 }, { unique: true })).rejects.toMatchObject({ code: 11000 });
    expect((await items.indexes()).map((index) => index.name)).toEqual(['_id_']);
  });

  test('an ordered insert stops at a duplicate, an unordered one continues', async () => {
    await items.insertOne({ _id: 2 });
    const documents = [1, 2, 3].map((_id) => ({ _id }));
    await expect(items.insertMany(documents)).rejects.toMatchObject({ code: 11000, result: { insertedCount: 1 } });
    await items.deleteOne({ _id: 1 });
    await expect(items.insertMany(documents, { ordered: false })).rejects.toMatchObject({
      result: { insertedCount: 2 },
    });
    expect(await items.countDocuments()).toBe(3);
  });

  test.skipIf(elsewhere)('a key that an update released can be used again', async () => {
    await items.createIndex({ a: 1 }, { unique: true });
    await items.insertOne({ _id: 1, a: 1 });
    await items.updateOne({ _id: 1 }, { $set: { a: 2 } });
    await items.insertOne({ _id: 2, a: 1 });
    await items.deleteOne({ _id: 1 });
    await items.insertOne({ _id: 3, a: 2 });
  });
});

describe('the plan', () => {
  beforeEach(async () => {
    const documents = Array.from({ length: 400 }, (_, n) => ({
      _id: n,
      tenant: `t${n % 4}`,
      status: ['pending', 'signing', 'accepted', 'rejected', 'other'][n % 5],
      at: new Date(1_700_000_000_000 + n * 1000),
      n,
    }));
    await items.insertMany(documents);
    await items.createIndexes([{ key: { tenant: 1, status: 1, at: -1 } }, { key: { n: 1 } }]);
  });

  test('by _id reads one document', async () => {
    expect(await explain({ _id: 7 })).toMatchObject({ docs: 1, returned: 1 });
  });

  test('binds equalities first, then a range', async () => {
    const filter = {
      tenant: 't0',
      status: 'pending',
      at: { $gte: new Date(1_700_000_100_000), $lt: new Date(1_700_000_200_000) },
    };
    expect(await explain(filter)).toMatchObject({ index: 'tenant_1_status_1_at_-1', keys: 5, docs: 5, returned: 5 });
  });

  test('uses the index order in both directions instead of sorting', async () => {
    for (const direction of [1, -1] as const) {
      const options = { sort: { at: direction }, limit: 3 };
      const explained = await explain({ tenant: 't0', status: 'pending' }, options);
      expect(explained).toMatchObject({ index: 'tenant_1_status_1_at_-1', keys: 3, docs: 3, returned: 3 });
      expect(explained.stages).not.toContain('SORT');
      const found = await items.find({ tenant: 't0', status: 'pending' }, options as never).toArray();
      expect(found.map((item) => item._id)).toEqual(direction === 1 ? [0, 20, 40] : [380, 360, 340]);
    }
  });

  test('uses the index order across the values of $in', async () => {
    const filter = { tenant: 't1', status: { $in: ['pending', 'signing', 'rejected'] } };
    const expected = Array.from({ length: 400 }, (_, n) => n).filter((n) => n % 4 === 1 && [0, 1, 3].includes(n % 5));
    const found = await items.find(filter).sort({ at: 1 }).toArray();
    expect(found.map((item) => item._id)).toEqual(expected);
    const back = await items.find(filter).sort({ at: -1 }).limit(7).toArray();
    expect(back.map((item) => item._id)).toEqual(expected.reverse().slice(0, 7));
    expect((await explain(filter, { sort: { at: -1 } })).stages).toContain('IXSCAN');
  });

  test('prefers the index with fewer keys when two have the same score', async () => {
    await items.createIndexes([{ key: { tenant: 1 } }, { key: { status: 1 } }, { key: { rare: 1 } }]);
    await items.updateMany({ _id: { $lt: 3 } }, { $set: { rare: true } });
    expect(await explain({ status: 'pending', rare: true })).toMatchObject({ index: 'rare_1', docs: 3, returned: 1 });
    expect(await explain({ rare: true, status: 'pending' })).toMatchObject({ index: 'rare_1', docs: 3, returned: 1 });
  });

  test.skipIf(elsewhere)('prefers the index with fewer keys also when both have many', async () => {
    const many = client.db(freshDbName('many')).collection<Document & { _id: number }>('items');
    await many.insertMany(Array.from({ length: 5000 }, (_, _id) => ({ _id, a: 1, b: _id < 300 ? 1 : 0, at: -_id })));
    await many.createIndexes([{ key: { a: 1, at: 1 } }, { key: { b: 1, at: 1 } }]);
    const explained = await many.find({ a: 1, b: 1 }).sort({ at: 1 }).limit(20).explain('executionStats');
    expect(explained.executionStats).toMatchObject({ nReturned: 20, totalDocsExamined: 20 });
  });

  test('prefers a partial index to one whose keys it has some of, however many both have', async () => {
    const many = client.db(freshDbName('partial')).collection<Document & { _id: number }>('items');
    await many.insertMany(
      Array.from({ length: 1000 }, (_, _id) => ({ _id, tenant: 't', ...(_id >= 600 && { file: 1 }) })),
    );
    const partialFilterExpression = { file: { $exists: true } };
    await many.createIndexes([{ key: { tenant: 1, _id: 1 } }, { key: { tenant: 1 }, partialFilterExpression }]);
    const explained = await many
      .find({ tenant: 't', file: { $exists: true } })
      .limit(50)
      .explain('executionStats');
    expect(explained.executionStats).toMatchObject({ nReturned: 50, totalDocsExamined: 50 });
  });

  test('seeks each of thousands of $in values', async () => {
    const wanted = Array.from({ length: 3000 }, (_, n) => n * 2);
    expect(await explain({ _id: { $in: wanted } })).toMatchObject({ docs: 200, returned: 200 });
  });

  test('combines the indexes of the branches of $or', async () => {
    const filter = {
      $or: [{ n: { $lt: 3 } }, { tenant: 't0', status: 'pending', at: { $lt: new Date(1_700_000_030_000) } }],
    };
    expect((await items.find(filter).sort({ n: -1 }).toArray()).map((item) => item._id)).toEqual([20, 2, 1, 0]);
    const explained = await explain(filter);
    expect(explained.stages).not.toContain('COLLSCAN');
    expect(explained.docs).toBeLessThanOrEqual(5);
  });

  test.skipIf(elsewhere)('a hint of $natural does not replace the sort', async () => {
    const few = client.db(freshDbName('natural')).collection<Document & { _id: number }>('items');
    await few.insertMany([3, 1, 2].map((a, _id) => ({ _id, a })));
    const hint = { $natural: 1 } as const;
    const values = async (options: object) => (await few.find({}, { hint, ...options }).toArray()).map(({ a }) => a);
    expect(await values({ sort: { a: 1 } })).toEqual([1, 2, 3]);
    expect(await values({ sort: { a: 1 }, limit: 1 })).toEqual([1]);
    expect(await values({ sort: { $natural: -1 } })).toEqual([2, 1, 3]);
    const sorted = await few.aggregate([{ $sort: { a: -1 } }], { hint }).toArray();
    expect(sorted.map(({ a }) => a)).toEqual([3, 2, 1]);
    await expect(few.find({}, { sort: { $natural: 1, a: 1 } }).toArray()).rejects.toMatchObject({ code: 2 });
  });

  test('scans the collection if no index is usable, and for $natural', async () => {
    expect(await explain({ other: 1 })).toMatchObject({ stages: ['COLLSCAN'], keys: 0, docs: 400, returned: 0 });
    expect(await explain({ n: 3 }, { hint: { $natural: 1 } })).toMatchObject({
      stages: ['COLLSCAN'],
      docs: 400,
      returned: 1,
    });
  });

  test('follows a hint by name or keys, and refuses an unknown index', async () => {
    expect(await explain({ n: 3 }, { hint: 'tenant_1_status_1_at_-1' })).toMatchObject({
      index: 'tenant_1_status_1_at_-1',
      returned: 1,
    });
    expect(await explain({ tenant: 't0' }, { hint: { n: 1 } })).toMatchObject({ index: 'n_1', returned: 100 });
    await expect(items.find({ n: 3 }, { hint: 'nonsense' }).toArray()).rejects.toMatchObject({ code: 2 });
  });

  test('sorts without an index, with a stable order of equal documents across pages', async () => {
    const explained = await explain({ tenant: 't0' }, { sort: { n: 1, status: 1 } });
    expect(explained.returned).toBe(100);
    const all = await items.find().sort({ status: 1, _id: 1 }).toArray();
    const paged: unknown[] = [];
    for (let skip = 0; skip < 400; skip += 90) {
      paged.push(...(await items.find().sort({ status: 1, _id: 1 }).skip(skip).limit(90).toArray()));
    }
    expect(paged).toEqual(all);
  });
});

describe('arrays', () => {
  beforeEach(async () => {
    await items.createIndexes([
      { key: { tags: 1 } },
      { key: { 'lines.sku': 1, 'lines.qty': 1 } },
      { key: { scores: 1 } },
    ]);
    await items.insertMany([
      {
        _id: 1,
        tags: ['a', 'b'],
        lines: [
          { sku: 'x', qty: 1 },
          { sku: 'y', qty: 9 },
        ],
        scores: [1, 20],
      },
      { _id: 2, tags: 'b', lines: [{ sku: 'x', qty: 9 }], scores: [7] },
      { _id: 3, tags: [], lines: [], scores: [] },
      { _id: 4, tags: [['a', 'b'], null], scores: null },
      { _id: 5 },
    ]);
  });

  const cases: [Document, number[]][] = [
    [{ tags: 'b' }, [1, 2]],
    [{ tags: { $in: ['a', 'b'] } }, [1, 2]],
    [{ tags: ['a', 'b'] }, [1, 4]],
    [{ tags: [] }, [3]],
    [{ tags: null }, [4, 5]],
    [{ tags: { $gte: 'a' } }, [1, 2]],
    [{ 'lines.sku': 'x', 'lines.qty': 9 }, [1, 2]],
    [{ lines: { $elemMatch: { sku: 'x', qty: 9 } } }, [2]],
    [{ scores: { $gt: 5, $lt: 10 } }, [1, 2]],
    [{ scores: { $elemMatch: { $gt: 5, $lt: 10 } } }, [2]],
    [{ scores: null }, [4, 5]],
    [{ scores: { $exists: false } }, [5]],
  ];
  test.each(cases)('%j finds the same with an index and without', async (filter, expected) => {
    const found = await items
      .find(filter as never)
      .sort({ _id: 1 })
      .toArray();
    expect(found.map((item) => item._id)).toEqual(expected);
    const scanned = await items.find(filter as never, { hint: { $natural: 1 } }).toArray();
    expect(scanned.map((item) => item._id)).toEqual(expected);
  });

  test('a document with several keys is returned once, in the order of its smallest or largest key', async () => {
    const up = await items
      .find({ scores: { $gt: 0 } })
      .sort({ scores: 1 })
      .toArray();
    expect(up.map((item) => item._id)).toEqual([1, 2]);
    const down = await items
      .find({ scores: { $gt: 0 } })
      .sort({ scores: -1 })
      .toArray();
    expect(down.map((item) => item._id)).toEqual([1, 2]);
  });

  test.skipIf(elsewhere)('parallel arrays cannot be indexed (error 171)', async () => {
    await items.createIndex({ p: 1, q: 1 });
    await expect(items.insertOne({ _id: 9, p: [1], q: [2] })).rejects.toMatchObject({ code: 171 });
    await items.insertOne({ _id: 9, p: [1], q: 2 });
  });
});

test.skipIf(elsewhere).each([
  ['a range', { $gte: 0 }],
  ['points', { $in: Array.from({ length: 1000 }, (_, n) => n) }],
])('a document that makes the index multikey during a read of %s is returned once', async (_, a) => {
  await items.createIndex({ a: 1 });
  await items.insertMany(Array.from({ length: 1000 }, (_, i) => ({ _id: i, a: i })));
  const cursor = items.find({ a } as never, { batchSize: 2, hint: { a: 1 } });
  await cursor.next();
  // What a failing command rolls back is read again.
  await expect(items.findOneAndUpdate({ _id: 1 }, { $set: { _id: 2 } })).rejects.toMatchObject({ code: 66 });
  await items.insertOne({ _id: 1000, a: [800, 900, 950] });
  const ids = (await cursor.toArray()).map(({ _id }) => _id);
  expect(ids.filter((each) => each === 1000)).toEqual([1000]);
});

describe('sparse and partial', () => {
  test('are used only for filters whose documents they all contain', async () => {
    await items.createIndexes([
      { key: { s: 1 }, sparse: true },
      { key: { p: 1 }, partialFilterExpression: { active: true } },
    ]);
    await items.insertMany([{ _id: 1, s: 1, p: 1, active: true }, { _id: 2, p: 1, active: false }, { _id: 3 }]);
    expect(await explain({ s: 1 })).toMatchObject({ index: 's_1', docs: 1 });
    expect((await items.find({ s: null }).toArray()).map((item) => item._id)).toEqual([2, 3]);
    expect((await items.find().sort({ s: 1, _id: 1 }).toArray()).map((item) => item._id)).toEqual([2, 3, 1]);
    expect(await explain({ p: 1, active: true })).toMatchObject({ index: 'p_1', docs: 1, returned: 1 });
    expect((await items.find({ p: 1 }).toArray()).map((item) => item._id)).toEqual([1, 2]);
    await items.updateOne({ _id: 2 }, { $set: { active: true } });
    expect(await explain({ p: 1, active: true })).toMatchObject({ index: 'p_1', returned: 2 });
    await items.updateMany({}, { $set: { active: false } });
    expect(await explain({ p: 1, active: true })).toMatchObject({ index: 'p_1', keys: 0, returned: 0 });
  });
});

describe('administration', () => {
  test('creating an existing index does nothing; a different one with its name or keys is refused', async () => {
    expect(await items.createIndex({ a: 1 })).toBe('a_1');
    expect(await items.createIndex({ a: 1 })).toBe('a_1');
    await expect(items.createIndex({ b: 1 }, { name: 'a_1' })).rejects.toMatchObject({ code: 86 });
    await expect(items.createIndex({ a: 1 }, { name: 'other' })).rejects.toMatchObject({ code: 85 });
    expect((await items.indexes()).map((index) => index.name)).toEqual(['_id_', 'a_1']);
  });

  test.skipIf(elsewhere)('an index shows whether it was asked for in the background; dropDups is ignored', async () => {
    await items.createIndexes([
      { key: { a: 1 }, background: true },
      { key: { b: 1 }, background: false },
      { key: { c: 1 }, unique: true, dropDups: true } as never,
    ]);
    const shown = (await items.indexes()).map(({ name, background, dropDups }) => [name, background, dropDups]);
    expect(shown).toEqual([
      ['_id_', undefined, undefined],
      ['a_1', true, undefined],
      ['b_1', false, undefined],
      ['c_1', undefined, undefined],
    ]);
    expect(await items.createIndex({ a: 1 }, { background: false })).toBe('a_1');
  });

  test('dropping works by name, by keys and for all but _id_', async () => {
    await items.createIndexes([{ key: { a: 1 } }, { key: { b: 1 } }, { key: { c: 1, d: -1 } }]);
    await items.dropIndex('a_1');
    expect((await items.indexes()).length).toBe(3);
    await expect(items.dropIndex('a_1')).rejects.toMatchObject({ code: 27 });
    await expect(items.dropIndex('_id_')).rejects.toMatchObject({ code: 72 });
    await items.dropIndexes();
    expect((await items.indexes()).map((index) => index.name)).toEqual(['_id_']);
  });

  test('after an index is dropped, its cursor continues or ends with an error, and skips no documents', async () => {
    await items.insertMany(Array.from({ length: 300 }, (_, n) => ({ _id: n, a: n })));
    await items.createIndex({ a: 1 });
    const db = client.db(items.dbName);
    const { cursor } = await db.command({ find: 'items', filter: { a: { $gte: 0 } }, batchSize: 2 });
    await items.dropIndex('a_1');
    const more = await db
      .command({ getMore: cursor.id, collection: 'items' })
      .catch((error: MongoServerError) => error);
    if (more instanceof MongoServerError) expect(more.code).toBeGreaterThan(0);
    else expect(more.cursor.nextBatch).toHaveLength(298);
  });

  test.skipIf(elsewhere)('collMod refuses what createIndexes would refuse, and changes nothing then', async () => {
    await items.createIndexes([{ key: { a: 1 } }, { key: { b: 1, c: 1 } }]);
    const before = await items.indexes();
    const changed = (name: string, change: object) =>
      client.db(items.dbName).command({ collMod: 'items', index: { name, ...change } });
    for (const [code, name, change] of [
      [72, 'b_1_c_1', { expireAfterSeconds: 5 }],
      [72, '_id_', { expireAfterSeconds: 5 }],
      [72, 'a_1', { expireAfterSeconds: -1 }],
      [72, 'a_1', { expireAfterSeconds: 2 ** 31 }],
      [14, 'a_1', { expireAfterSeconds: '5' }],
      [14, 'a_1', { hidden: 'yes' }],
      [2, '_id_', { hidden: true }],
    ] as const) {
      await expect(changed(name, change), JSON.stringify([name, change])).rejects.toMatchObject({ code });
    }
    expect(await items.indexes()).toEqual(before);
    expect(await changed('a_1', { expireAfterSeconds: 5, hidden: true })).toMatchObject({
      expireAfterSeconds_new: 5,
      hidden_new: true,
    });
    expect(await items.indexes()).toContainEqual(
      expect.objectContaining({ name: 'a_1', expireAfterSeconds: 5, hidden: true }),
    );
  });

  test('unsupported index types are clear errors', async () => {
    for (const key of [{ a: 'text' }, { a: '2dsphere' }, { a: 'hashed' }, { '$**': 1 }]) {
      if (mongo.kind === 'embedded') await expect(items.createIndex(key as never)).rejects.toMatchObject({ code: 67 });
    }
    await expect(items.createIndex({ a: 0 } as never)).rejects.toMatchObject({ code: 67 });
    await expect(items.createIndex({ a: 1, b: 1 }, { expireAfterSeconds: 5 })).rejects.toMatchObject({ code: 67 });
  });
});

test('validate confirms that indexes agree with documents after all kinds of writes', async () => {
  await items.createIndexes([
    { key: { a: 1 } },
    { key: { tags: 1 } },
    { key: { s: 1 }, sparse: true },
    { key: { p: 1 }, partialFilterExpression: { p: { $gt: 5 } } },
  ]);
  await items.insertMany(
    Array.from({ length: 60 }, (_, n) => ({
      _id: n,
      a: n % 7,
      tags: [n, n % 3],
      ...(n % 2 ? { s: n } : {}),
      p: n % 12,
    })),
  );
  await items.updateMany({ a: { $lt: 3 } }, { $inc: { p: 3 }, $push: { tags: 'x' as never }, $unset: { s: 1 } });
  await items.replaceOne({ _id: 5 }, { a: 'replaced' });
  await items.deleteMany({ a: 4 });
  await items.findOneAndDelete({ a: 5 });
  const report = await client.db(items.dbName).command({ validate: items.collectionName });
  expect(report).toMatchObject({ valid: true, nrecords: await items.countDocuments() });
});

describe('a range of one field with bounds of the next', () => {
  const values = [null, -3, 0, 1.5, 2, 7, 'a', 'a\u0000b', 'b', new Date(5), true];

  async function fill(): Promise<void> {
    const documents = values.flatMap((a, i) => [0, 1, 2, 3, 4, 5].map((b) => ({ _id: i * 10 + b, a, b })));
    await items.insertMany(documents as never[]);
  }

  test.each([
    { a: 1, b: 1 },
    { a: 1, b: -1 },
    { a: -1, b: 1 },
    { a: -1, b: -1 },
  ] as const)('finds in both directions of %j what a scan of the collection finds', async (key) => {
    await fill();
    await items.createIndex(key);
    for (const a of [{ $gte: -3, $lt: 7 }, { $gt: 0 }, { $gte: 'a' }, { $lte: 'b' }, { $gte: new Date(0) }]) {
      for (const b of [{ $lte: 1 }, { $gt: 1, $lt: 4 }, { $gte: 5 }, 3, { $in: [0, 4] }, { $gt: 9 }]) {
        const ids = async (order: 1 | -1) => {
          const sort = { a: order * key.a, b: order * key.b } as Record<string, 1 | -1>;
          return (
            await items
              .find({ a, b } as never, { hint: key })
              .sort(sort)
              .toArray()
          ).map(({ _id }) => _id);
        };
        const all = (await items.find({ a, b } as never, { hint: { $natural: 1 } }).toArray()).map(({ _id }) => _id);
        const found = await ids(1);
        expect(found.toSorted((x, y) => x - y)).toEqual(all.sort((x, y) => x - y));
        expect(await ids(-1)).toEqual(found.toReversed());
      }
    }
  });

  test('costs one key for each value of the first field that has nothing within the bounds', async () => {
    await items.createIndex({ a: 1, b: 1 });
    await items.insertMany(
      Array.from({ length: 2000 }, (_, i) => ({ _id: i, a: i % 20, b: i % 20 === 13 ? 0 : 100 + i })),
    );
    const found = await explain({ a: { $gte: 0, $lt: 20 }, b: { $lte: 50 } }, { sort: { a: 1, b: 1 }, limit: 5 });
    expect(found.stages).not.toContain('SORT');
    expect(found.docs).toBe(5);
    expect(found.keys).toBeLessThan(40);
  });
});
