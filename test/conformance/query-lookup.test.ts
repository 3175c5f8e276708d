import { type Db, type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

let mongo: TestMongo;
let client: MongoClient;
let db: Db;

interface Item {
  _id: number;
  text?: string;
}

/**
 * The server of TEST_MONGODB_URL may be the reference server, which fails the marked cases. MongoDB's manual is
 * authoritative.
 */
const elsewhere = process.env.TEST_MONGODB_URL !== undefined;

const FOREIGN: Document[] = [
  { _id: 'one', b: 1 },
  { _id: 'two', b: 2 },
  { _id: 'pair', b: [1, 2] },
  { _id: 'nested', b: [[1, 2]] },
  { _id: 'null', b: null },
  { _id: 'none' },
  { _id: 'empty', b: [] },
  { _id: 'text', b: 'x' },
  { _id: 'expression', b: /x/ },
];

beforeAll(async () => {
  mongo = await startTestMongo();
  client = await MongoClient.connect(mongo.uri);
  db = client.db(freshDbName());
  await db.collection('foreign').insertMany(FOREIGN.map((each) => ({ ...each })));
  await db.collection('indexed').insertMany(FOREIGN.map((each) => ({ ...each })));
  await db.collection('indexed').createIndex({ b: 1 });
  const text = 'x'.repeat(1024 * 1024);
  for (let _id = 0; _id < 20; _id++) await db.collection<Item>('large').insertOne({ _id, text });
  await db.collection<Item>('one').insertOne({ _id: 1 });
});

afterAll(async () => {
  await db.dropDatabase();
  await client.close();
  await mongo.close();
});

type Join = [local: Document, localField: string, found: string[], note?: 'elsewhere'];

const JOINS: Join[] = [
  [{ a: 1 }, 'a', ['one', 'pair']],
  [{ a: [1, 2] }, 'a', ['one', 'two', 'pair']],
  [{ a: [[1, 2]] }, 'a', ['pair', 'nested'], 'elsewhere'],
  [{ a: [[], 1] }, 'a', ['one', 'pair', 'empty'], 'elsewhere'],
  [{ a: [null, 1] }, 'a', ['one', 'pair', 'null', 'none']],
  [{ a: [] }, 'a', ['null', 'none'], 'elsewhere'],
  [{ a: null }, 'a', ['null', 'none']],
  [{}, 'a', ['null', 'none']],
  [{ a: /x/ }, 'a', ['expression']],
  [{ a: [/x/, 1] }, 'a', ['one', 'pair', 'expression']],
  [{ a: { x: [1, 2] } }, 'a.x', ['one', 'two', 'pair']],
  [{ a: [{ x: [1, 2] }] }, 'a.x', ['one', 'two', 'pair'], 'elsewhere'],
  [{ a: [{ x: [[1, 2]] }] }, 'a.x', ['pair', 'nested'], 'elsewhere'],
  [{ a: [{ x: 1 }, { y: 2 }] }, 'a.x', ['one', 'pair'], 'elsewhere'],
  [{ a: [{ x: 1 }, { x: null }] }, 'a.x', ['one', 'pair', 'null', 'none'], 'elsewhere'],
  [{ a: [{ y: 1 }, 2] }, 'a.x', ['null', 'none']],
  [{ a: [[{ x: 1 }]] }, 'a.x', ['null', 'none']],
  [{ a: 1 }, 'a.x', ['null', 'none']],
  [{ a: [{ x: 1 }, { x: 2 }] }, 'a.0.x', ['one', 'pair']],
  [{ a: [{ y: 1 }, { x: 2 }] }, 'a.0.x', ['null', 'none']],
  [{ a: { 0: { x: 2 } } }, 'a.0.x', ['two', 'pair']],
  [{ a: [0, [2, 5]] }, 'a.1.0', ['two', 'pair']],
  [{ a: [0, [2, 1]] }, 'a.1', ['one', 'two', 'pair']],
  [{ a: [1] }, 'a.3', ['null', 'none']],
  [{ a: [{ 0: 2 }] }, 'a.0', []],
  [{ a: { '00': 1 } }, 'a.00', ['one', 'pair']],
];

describe('a $lookup by localField', () => {
  describe.each(['foreign', 'indexed'])('in the collection %s', (from) => {
    for (const [local, localField, expected, note] of JOINS) {
      test.skipIf(note !== undefined && elsewhere)(`${JSON.stringify(local)} by ${localField}`, async () => {
        const locals = db.collection<Document>('local');
        await locals.deleteMany({});
        await locals.insertOne({ ...local });
        const stage = { $lookup: { from, localField, foreignField: 'b', as: 'found' } };
        const [joined] = await locals.aggregate([stage]).toArray();
        expect(joined?.found.map(({ _id }: Document) => _id).toSorted()).toEqual(expected.toSorted());
      });
    }
  });

  test.skipIf(elsewhere).each(['localField', 'foreignField', 'as'])('refuses a %s that begins with $', async (name) => {
    const fields = { from: 'foreign', localField: 'a', foreignField: 'b', as: 'found', [name]: '$a' };
    const joined = db.collection('one').aggregate([{ $lookup: fields }]);
    await expect(joined.toArray()).rejects.toMatchObject({ code: 16410 });
  });
});

describe('documents made of many', () => {
  const all = (as: string, limit = 20): Document => ({ $lookup: { from: 'large', pipeline: [{ $limit: limit }], as } });
  const made = (...stages: Document[]): Promise<Document[]> => db.collection('one').aggregate(stages).toArray();

  test.skipIf(elsewhere)('have at most 16 MiB: $lookup is error 4568, $facet 4031700', async () => {
    const small = { $project: { _id: 1 } };
    await expect(made(all('a'), small)).rejects.toMatchObject({ code: 4568 });
    await expect(made(all('a', 10), all('b', 10), small)).rejects.toMatchObject({ code: 4568 });
    expect(await made(all('a', 15), { $project: { n: { $size: '$a' } } })).toEqual([{ _id: 1, n: 15 }]);
    const facets = { a: [{ $limit: 10 }], b: [{ $limit: 10 }] };
    const faceted = db.collection('large').aggregate([{ $facet: facets }, { $project: { none: '' } }]);
    await expect(faceted.toArray()).rejects.toMatchObject({ code: 4031700 });
  });

  test('an $unwind takes any number of documents from the $lookup before it', async () => {
    expect(await made(all('a'), { $unwind: '$a' }, { $count: 'n' })).toEqual([{ n: 20 }]);
    expect(await made(all('a.b', 2), { $unwind: { path: '$a.b' } }, { $project: { n: '$a.b._id' } })).toEqual([
      { _id: 1, n: 0 },
      { _id: 1, n: 1 },
    ]);
    const none = { $lookup: { from: 'large', pipeline: [{ $match: { _id: -1 } }], as: 'a' } };
    expect(await made(none, { $unwind: '$a' })).toEqual([]);
    const kept = { $unwind: { path: '$a', preserveNullAndEmptyArrays: true } };
    expect(await made(none, kept)).toEqual([{ _id: 1 }]);
    const numbered = { $unwind: { path: '$a', includeArrayIndex: 'i' } };
    expect((await made(all('a', 3), numbered)).map(({ i }) => Number(i))).toEqual([0, 1, 2]);
  });
});

test.skipIf(elsewhere).each<[string, Document]>([
  ['$unionWith', { $unionWith: 'other' }],
  ['$lookup', { $lookup: { from: 'other', pipeline: [], as: 'o' } }],
  ['$facet', { $facet: { o: [{ $unionWith: { coll: 'other' } }, { $project: { text: 0 } }] } }],
])('a cursor with a %s ends with an error when the other collection is dropped', async (_, stage) => {
  await db.collection<Item>('other').insertMany(Array.from({ length: 10 }, (_, n) => ({ _id: n + 100 })));
  const pipeline = [{ $project: { _id: 1 } }, stage, { $unwind: { path: '$o', preserveNullAndEmptyArrays: true } }];
  const opened = await db.command({ aggregate: 'foreign', pipeline, cursor: { batchSize: 2 } });
  await db.collection('other').drop();
  await db.collection<Item>('another').insertMany(Array.from({ length: 10 }, (_, n) => ({ _id: n + 200 })));
  const next = db.command({ getMore: opened.cursor.id, collection: 'foreign' });
  await expect(next).rejects.toMatchObject({ code: 43 });
  await db.collection('another').drop();
});
