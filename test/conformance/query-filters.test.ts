import { Decimal128, Double, Int32, Long, MaxKey, MinKey } from 'bson';
import fc from 'fast-check';
import { type Collection, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { filter, smallDoc } from '../unit/engine/arbitraries.ts';

type Stored = { _id: string | number; [field: string]: unknown };

let mongo: TestMongo;
let client: MongoClient;
const database = freshDbName();

beforeAll(async () => {
  mongo = await startTestMongo();
  client = await MongoClient.connect(mongo.uri);
});

afterAll(async () => {
  await client.db(database).dropDatabase();
  await client.close();
  await mongo.close();
});

/**
 * The server of TEST_MONGODB_URL may be the reference server, which fails the marked cases: it treats a double as equal
 * to the decimal with the same digits, uses a regular expression as a literal on an index, and accepts some invalid
 * filters. MongoDB's manual and its matcher tests are authoritative.
 */
const elsewhere = process.env.TEST_MONGODB_URL !== undefined;

/** Creates a collection with the documents, and a second one with indexes on their paths as well. */
async function stored(name: string, documents: Stored[]): Promise<Collection<Stored>[]> {
  const [plain, indexed] = [name, `${name}_indexed`].map((each) => client.db(database).collection<Stored>(each));
  if (plain === undefined || indexed === undefined) throw new Error('two collections');
  await indexed.createIndexes([
    { key: { a: 1 } },
    { key: { 'a.b': -1 } },
    { key: { b: 1, a: -1 } },
    { key: { 'b.a': 1 } },
  ]);
  for (const collection of documents.length > 0 ? [plain, indexed] : []) {
    await collection.insertMany(documents.map((document) => ({ ...document })));
  }
  return [plain, indexed];
}

async function ids(collection: Collection<Stored>, query: Record<string, unknown>): Promise<unknown[]> {
  const found = await collection.find(query).sort({ _id: 1 }).toArray();
  return found.map(({ _id }) => _id);
}

/** Asserts that each query finds these documents, with and without indexes. */
function finds(
  name: string,
  documents: Stored[],
  cases: [query: Record<string, unknown>, expected: unknown[], note?: 'elsewhere'][],
) {
  describe(name, () => {
    let collections: Collection<Stored>[];
    beforeAll(async () => {
      collections = await stored(name.replaceAll(/\W/g, '_'), documents);
    });
    for (const [query, expected, note] of cases) {
      test.skipIf(note === 'elsewhere' && elsewhere)(show(query), async () => {
        for (const collection of collections) expect(await ids(collection, query)).toEqual(expected);
      });
    }
  });
}

function show(query: unknown): string {
  return JSON.stringify(query, (_, value: unknown) => (value instanceof RegExp ? String(value) : value));
}

finds(
  'null and missing',
  [
    { _id: 'array', a: [] },
    { _id: 'docs', a: [{ b: 1 }, { c: 2 }] },
    { _id: 'nothing' },
    { _id: 'null', a: null },
    { _id: 'nulls', a: [null] },
    { _id: 'scalar', a: 5 },
    { _id: 'scalars', a: [1, 2] },
    { _id: 'sub', a: { b: null } },
  ],
  [
    [{ a: null }, ['nothing', 'null', 'nulls']],
    [{ a: { $ne: null } }, ['array', 'docs', 'scalar', 'scalars', 'sub']],
    [{ a: { $exists: false } }, ['nothing']],
    [{ a: { $type: 'null' } }, ['null', 'nulls']],
    [{ a: { $gte: null } }, ['nothing', 'null', 'nulls']],
    [{ a: { $gt: null } }, []],
    [{ 'a.b': null }, ['docs', 'nothing', 'null', 'scalar', 'sub']],
    [{ 'a.b': { $exists: true } }, ['docs', 'sub']],
    [{ 'a.b': { $exists: false } }, ['array', 'nothing', 'null', 'nulls', 'scalar', 'scalars']],
    [{ a: { $in: [null, 5] } }, ['nothing', 'null', 'nulls', 'scalar']],
    [{ a: { $nin: [null, 5] } }, ['array', 'docs', 'scalars', 'sub']],
    [{ a: { $not: { $gt: 1 } } }, ['array', 'docs', 'nothing', 'null', 'nulls', 'sub']],
    [{ a: { $elemMatch: { $exists: true } } }, ['docs', 'nulls', 'scalars']],
  ],
);

finds(
  'numbers of all types',
  [
    { _id: 1, a: new Int32(1) },
    { _id: 2, a: new Double(1) },
    { _id: 3, a: Long.fromNumber(1) },
    { _id: 4, a: Decimal128.fromString('1.0') },
    { _id: 5, a: new Double(Number.NaN) },
    { _id: 6, a: Long.fromBigInt(9007199254740993n) },
    { _id: 7, a: new Double(9007199254740992) },
    { _id: 8, a: Decimal128.fromString('0.1') },
    { _id: 9, a: new Double(0.1) },
    { _id: 10, a: '1' },
    { _id: 11, a: new Double(-0) },
  ],
  [
    [{ a: 1 }, [1, 2, 3, 4]],
    [{ a: { $gte: 1, $lt: 2 } }, [1, 2, 3, 4]],
    [{ a: { $gt: Long.fromBigInt(9007199254740992n) } }, [6]],
    [{ a: Long.fromBigInt(9007199254740992n) }, [7]],
    [{ a: new Double(0.1) }, [9], 'elsewhere'],
    [{ a: Number.NaN }, [5]],
    [{ a: { $lt: 1 } }, [8, 9, 11]],
    [{ a: { $lte: Number.NaN } }, [5]],
    [{ a: 0 }, [11]],
    [{ a: { $mod: [2, 1] } }, [1, 2, 3, 4, 6]],
    [{ a: { $type: 'number' } }, [1, 2, 3, 4, 5, 6, 7, 8, 9, 11]],
    [{ a: { $type: ['int', 'decimal'] } }, [1, 4, 8]],
    [{ a: { $gt: new MinKey() } }, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
    [{ a: { $lt: new MaxKey() } }, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
    [{ a: { $bitsAllSet: [0] } }, [1, 2, 3, 4, 6], 'elsewhere'],
    [{ a: { $bitsAnyClear: 3 } }, [1, 2, 3, 4, 6, 7, 11], 'elsewhere'],
  ],
);

finds(
  'arrays',
  [
    { _id: 1, a: [1, 2, 3] },
    { _id: 2, a: [[1, 2], 3] },
    {
      _id: 3,
      a: [
        { b: 1, c: 1 },
        { b: 2, c: 2 },
      ],
    },
    { _id: 4, a: { b: [1, 2] } },
    { _id: 5, a: [5, [2, 4]] },
    { _id: 6, a: 2 },
    { _id: 7, a: [] },
    { _id: 8, a: [-3, 2] },
  ],
  [
    [{ a: 2 }, [1, 6, 8]],
    [{ a: [1, 2] }, [2]],
    [{ a: { $eq: [1, 2, 3] } }, [1]],
    [{ a: [] }, [7]],
    [{ a: { $gt: 0, $lt: 1 } }, [8]],
    [{ a: { $gte: -1, $lt: 0.1 } }, [8]],
    [{ a: { $elemMatch: { $gte: -1, $lt: 0.1 } } }, []],
    [{ a: { $elemMatch: { $gt: 1, $lt: 3 } } }, [1, 8]],
    [{ 'a.b': 1 }, [3, 4]],
    [{ 'a.b': 1, 'a.c': 2 }, [3]],
    [{ a: { $elemMatch: { b: 1, c: 2 } } }, []],
    [{ a: { $elemMatch: { b: 2, c: 2 } } }, [3]],
    [{ 'a.0': 1 }, [1]],
    [{ 'a.1': 2 }, [1, 8]],
    [{ 'a.1': [2, 4] }, [5]],
    [{ 'a.1.b': 2 }, [3]],
    [{ 'a.b.1': 2 }, [4]],
    [{ a: { $size: 2 } }, [2, 3, 5, 8]],
    [{ a: { $size: 0 } }, [7]],
    [{ a: { $all: [2, 3] } }, [1]],
    [{ a: { $all: [] } }, []],
    [{ a: { $all: [[1, 2]] } }, [2]],
    [{ a: { $all: [{ $elemMatch: { b: 1 } }, { $elemMatch: { c: 2 } }] } }, [3]],
    [{ a: { $type: 'array' } }, [1, 2, 3, 5, 7, 8]],
    [{ a: { $in: [[1, 2], 5] } }, [2, 5]],
    [{ a: { $ne: 2 } }, [2, 3, 4, 5, 7]],
    [{ $expr: { $eq: [{ $size: { $cond: [{ $isArray: '$a' }, '$a', []] } }, 2] } }, [2, 3, 5, 8]],
  ],
);

finds(
  'documents and strings',
  [
    { _id: 1, a: { b: 1, c: 2 } },
    { _id: 2, a: { c: 2, b: 1 } },
    { _id: 3, a: { b: 1 } },
    { _id: 4, a: 'abc' },
    { _id: 5, a: 'ABC\n' },
    { _id: 6, a: 'x\nabc' },
    { _id: 7, a: ['zz', 'abd'] },
    { _id: 8, a: {} },
    { _id: 9, a: /^ab/ },
    { _id: 10, a: '\u{10000}' },
    { _id: 11, a: '\uffff' },
  ],
  [
    [{ a: { b: 1, c: 2 } }, [1]],
    [{ a: { b: 1 } }, [3]],
    [{ a: {} }, [8]],
    [{ a: { $gt: { b: 1 } } }, [1, 2]],
    [{ a: /^ab/ }, [4, 7, 9], 'elsewhere'],
    [{ a: /^ab/i }, [4, 5, 7], 'elsewhere'],
    [{ a: /^ab/m }, [4, 6, 7], 'elsewhere'],
    [{ a: { $regex: 'BC$', $options: 'i' } }, [4, 5, 6]],
    [{ a: { $regex: 'a b c', $options: 'x' } }, [4, 6]],
    [{ a: { $in: [/^ab/, 'zz'] } }, [4, 7, 9], 'elsewhere'],
    [{ a: { $not: /b/ } }, [1, 2, 3, 5, 8, 9, 10, 11]],
    [{ a: { $gt: '\uffff' } }, [10]],
    [{ a: { $gte: 'abc', $lt: 'abd' } }, [4]],
    [{ $and: [{ a: { $type: 'string' } }, { $or: [{ a: /c$/ }, { a: 'ABC\n' }] }] }, [4, 5, 6], 'elsewhere'],
    [{ $nor: [{ a: { $type: 'string' } }, { a: { $type: 'object' } }] }, [9]],
    [{ 'a.b': 1, $comment: 'why' }, [1, 2, 3]],
  ],
);

describe('invalid filters', () => {
  test.each<[number, Record<string, unknown>]>([
    [2, { a: { $foo: 1 } }],
    [2, { $foo: 1 }],
    [2, { a: { $in: 1 } }],
    [2, { a: { $in: [{ $gt: 1 }] } }],
    [2, { $and: [1] }],
    [2, { a: { $mod: [0, 1] } }],
    [2, { a: { $size: -1 } }],
    [2, { a: { $not: {} } }],
    [2, { a: { $options: 'i' } }],
    [2, { a: { $ne: /x/ } }],
    [2, { a: { $all: 1 } }],
    [2, { a: { $elemMatch: 1 } }],
    [168, { $expr: { $foo: 1 } }],
    [17276, { $expr: { $eq: ['$$other', 1] } }],
  ])('%i: %j', async (code, query) => {
    await expect(client.db(database).collection('none').find(query).toArray()).rejects.toMatchObject({ code });
  });

  test.skipIf(elsewhere).each<[number, Record<string, unknown>]>([
    [2, { $or: [] }],
    [51091, { a: { $regex: '(' } }],
    [51091, { a: { $regex: '(?>x)' } }],
    [2, { a: { $gt: 3, b: 1 } }],
  ])('%i: %j', async (code, query) => {
    await expect(client.db(database).collection('none').find(query).toArray()).rejects.toMatchObject({ code });
  });
});

test('an index never changes a result, whatever the documents and the filter', async () => {
  const sample = fc.sample(smallDoc, { numRuns: 150, seed: 5 }).map((document, _id): Stored => ({ ...document, _id }));
  const [plain, indexed] = (await stored('random', [])) as [Collection<Stored>, Collection<Stored>];
  for (const document of sample) {
    // Documents that no compound index can contain (parallel arrays) are left out of both collections.
    const accepted = await indexed.insertOne({ ...document }).then(
      () => true,
      () => false,
    );
    if (accepted) await plain.insertOne({ ...document });
  }
  expect(await plain.countDocuments()).toBeGreaterThan(100);
  for (const query of fc.sample(filter, { numRuns: 300, seed: 6 })) {
    expect([query, await ids(indexed, query)]).toEqual([query, await ids(plain, query)]);
  }
});
