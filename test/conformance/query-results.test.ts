import { Decimal128, Double, Int32, Long, ObjectId } from 'bson';
import { type Collection, type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

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
 * The server of TEST_MONGODB_URL may be the reference server, which fails the marked cases. MongoDB's manual is
 * authoritative.
 */
const elsewhere = process.env.TEST_MONGODB_URL !== undefined;

async function holding(name: string, documents: Document[]): Promise<Collection<Document>> {
  const collection = client.db(database).collection(name);
  await collection.insertMany(documents.map((document) => ({ ...document })));
  return collection;
}

describe('sorts', () => {
  const documents = [
    { _id: 'array', a: [3, 9] },
    { _id: 'date', a: new Date(0) },
    { _id: 'decimal', a: Decimal128.fromString('2.5') },
    { _id: 'double', a: new Double(2.25) },
    { _id: 'empty', a: [] },
    { _id: 'false', a: false },
    { _id: 'id', a: new ObjectId('000000000000000000000001') },
    { _id: 'int', a: new Int32(2) },
    { _id: 'long', a: Long.fromNumber(7) },
    { _id: 'nan', a: new Double(Number.NaN) },
    { _id: 'nothing' },
    { _id: 'null', a: null },
    { _id: 'object', a: { b: 1 } },
    { _id: 'string', a: 'x' },
  ];
  const ascending = [
    'empty',
    'nothing',
    'null',
    'nan',
    'int',
    'double',
    'decimal',
    'array',
    'long',
    'string',
    'object',
    'id',
    'false',
    'date',
  ];
  const descending = [
    'date',
    'false',
    'id',
    'object',
    'string',
    'array',
    'long',
    'decimal',
    'double',
    'int',
    'nan',
    'nothing',
    'null',
    'empty',
  ];

  test.each([
    ['without an index', 'sort_plain'],
    ['by an index', 'sort_index'],
  ])('all types, smallest and largest elements of arrays, %s', async (_, name) => {
    const collection = await holding(name, documents);
    if (name === 'sort_index') await collection.createIndex({ a: 1, _id: 1 });
    const order = async (sort: Record<string, 1 | -1>) =>
      (await collection.find().sort(sort).toArray()).map(({ _id }) => String(_id));
    expect(await order({ a: 1, _id: 1 })).toEqual(ascending);
    expect(await order({ a: -1, _id: 1 })).toEqual(descending);
    expect(await order({ a: -1, _id: -1 })).toEqual(
      ascending.toReversed().map((id) => (id === 'array' ? 'long' : id === 'long' ? 'array' : id)),
    );
    const page = await collection.find().sort({ a: 1, _id: 1 }).skip(2).limit(3).toArray();
    expect(page.map(({ _id }) => String(_id))).toEqual(ascending.slice(2, 5));
  });

  test('paths through arrays of documents', async () => {
    const collection = await holding('sort_paths', [
      { _id: 1, l: [{ x: 5 }, { x: 1 }] },
      { _id: 2, l: { x: 3 } },
      { _id: 3, l: [{ x: 4 }, 7] },
      { _id: 4, l: [] },
      { _id: 5 },
    ]);
    const order = async (sort: Record<string, 1 | -1>) =>
      (await collection.find().sort(sort).toArray()).map(({ _id }) => Number(_id));
    expect(await order({ 'l.x': 1, _id: 1 })).toEqual([3, 4, 5, 1, 2]);
    expect(await order({ 'l.x': -1, _id: 1 })).toEqual([1, 3, 2, 4, 5]);
    expect(await order({ l: 1, _id: 1 })).toEqual([4, 5, 3, 1, 2]);
  });

  test('invalid ones are refused', async () => {
    const collection = await holding('sort_wrong', [{ _id: 1, a: [1], b: [2] }]);
    for (const [code, sort] of [
      [15975, { a: 2 }],
      [15974, { a: 'x' }],
    ] as const) {
      await expect(collection.aggregate([{ $sort: sort }]).toArray()).rejects.toMatchObject({ code });
    }
    if (!elsewhere) {
      await expect(collection.find().sort({ a: 1, b: 1 }).toArray()).rejects.toMatchObject({ code: 2 });
    }
  });
});

describe('projections', () => {
  const document = {
    _id: 1,
    a: 1,
    b: { c: 2, d: 3 },
    l: [{ x: 1, y: 2 }, 5, { x: 3, y: 4 }, [{ x: 9 }]],
    n: [[1, 2], [3]],
  };
  let collection: Collection<Document>;
  beforeAll(async () => {
    collection = await holding('projections', [document]);
  });

  const { a, b, l, n } = document;
  test.each<[Document, Document, Document?]>([
    [{ a: 1 }, { _id: 1, a }],
    [
      { a: 0, l: 0, n: 0 },
      { _id: 1, b },
    ],
    [{ _id: 0 }, { a, b, l, n }],
    [{ _id: 1 }, { _id: 1 }],
    [{ _id: 0, a: true }, { a }],
    [{ 'b.c': 1, _id: 0 }, { b: { c: 2 } }],
    [
      { 'b.c': 0, a: 0, l: 0, n: 0 },
      { _id: 1, b: { d: 3 } },
    ],
    [{ 'a.x': 1 }, { _id: 1 }],
    [{ 'l.x': 1, _id: 0 }, { l: [{ x: 1 }, { x: 3 }, [{ x: 9 }]] }],
    [{ 'l.x': 0, _id: 0, a: 0, b: 0, n: 0 }, { l: [{ y: 2 }, 5, { y: 4 }, [{}]] }],
    [
      { l: { $slice: 1 }, a: 1, _id: 0 },
      { a, l: [{ x: 1, y: 2 }] },
    ],
    [
      { l: { $slice: -1 }, _id: 0 },
      { a, b, l: [[{ x: 9 }]], n },
    ],
    [
      { l: { $slice: [1, 1] }, _id: 0, n: 0 },
      { a, b, l: [5] },
    ],
    [
      { l: { $slice: [-3, 2] }, _id: 0, n: 1 },
      { l: [5, { x: 3, y: 4 }], n },
    ],
    [{ l: { $elemMatch: { x: { $gt: 2 } } } }, { _id: 1, l: [{ x: 3, y: 4 }] }],
    [{ l: { $elemMatch: { x: 7 } } }, { _id: 1 }],
    [{ 'l.$': 1 }, { _id: 1, l: [{ x: 3, y: 4 }] }, { 'l.x': 3 }],
    [{ s: { $add: ['$a', 1] }, _id: 0 }, { s: 2 }],
    [
      { s: '$b.c', a: 1, _id: 0 },
      { a, s: 2 },
    ],
  ])('%j', async (projection, expected, query = {}) => {
    const found = await collection.findOne(query, { projection });
    expect(found).toEqual(expected);
  });

  test.skipIf(elsewhere).each<[Document, Document]>([
    [{ b: { d: 1 }, _id: 0 }, { b: { d: 3 } }],
    [
      { n: 1, a: 1 },
      { _id: 1, a, n },
    ],
  ])('%j keeps the order of the document', async (projection, expected) => {
    const found = await collection.findOne({}, { projection });
    expect(JSON.stringify(found)).toEqual(JSON.stringify(expected));
  });

  test.each<[number, Document]>([
    [31254, { a: 1, b: 0 }],
    [31253, { a: 0, b: 1 }],
    [31249, { a: 1, 'a.b': 1 }],
    [31250, { 'a.b': 1, a: 1 }],
  ])('%i: %j', async (code, projection) => {
    await expect(collection.findOne({}, { projection })).rejects.toMatchObject({ code });
  });

  test.skipIf(elsewhere)('expressions are validated, and the positional operator needs a matched element', async () => {
    await expect(collection.findOne({}, { projection: { a: { $foo: 1 } } })).rejects.toMatchObject({ code: 168 });
    await expect(collection.findOne({ a: 1 }, { projection: { 'l.$': 1 } })).rejects.toMatchObject({ code: 51246 });
  });
});
