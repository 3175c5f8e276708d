import { Decimal128, Double, Int32, Long } from 'bson';
import { type Collection, type Document, MongoClient, type UpdateOptions } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

let mongo: TestMongo;
let client: MongoClient;
let collection: Collection<Document>;
/**
 * The same collection with BSON types preserved, so that an int that comes back as a double of the same value is
 * detected.
 */
let typed: Collection<Document>;
const database = freshDbName();

beforeAll(async () => {
  mongo = await startTestMongo();
  client = await MongoClient.connect(mongo.uri);
  collection = client.db(database).collection('updates');
  typed = client.db(database).collection('updates', { promoteValues: false });
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

interface Case {
  on: Document;
  update: Document | Document[];
  /**
   * The document after the update (without `_id`), or the code of the error, after which the document must be
   * unchanged.
   */
  gives: Document | number;
  filter?: Document;
  options?: UpdateOptions;
  modified?: number;
  note?: 'elsewhere';
}

async function stored(): Promise<Document> {
  const { _id, ...rest } = (await typed.findOne({})) ?? { _id: 0 };
  return rest;
}

function cases(name: string, list: Case[]) {
  describe(name, () => {
    for (const { on, update, gives, filter = {}, options = {}, modified, note } of list) {
      test.skipIf(note !== undefined && elsewhere)(`${JSON.stringify(on)} ${JSON.stringify(update)}`, async () => {
        await collection.deleteMany({});
        await collection.insertOne({ _id: new Int32(1), ...on } as Document);
        const before = await stored();
        const outcome = collection.updateOne({ _id: new Int32(1), ...filter } as Document, update, options);
        if (typeof gives === 'number') {
          await expect(outcome).rejects.toMatchObject({ code: gives });
          expect(await stored()).toEqual(before);
        } else {
          const { modifiedCount } = await outcome;
          expect(await stored()).toEqual(gives);
          expect(Object.keys(await stored())).toEqual(Object.keys(gives));
          expect(modifiedCount).toBe(modified ?? 1);
        }
      });
    }
  });
}

const [one, two, three] = [new Int32(1), new Int32(2), new Int32(3)];

cases('numbers keep their types', [
  { on: { n: one }, update: { $inc: { n: 2 } }, gives: { n: three } },
  { on: { n: new Int32(2147483647) }, update: { $inc: { n: 1 } }, gives: { n: Long.fromBigInt(2147483648n) } },
  { on: { n: one }, update: { $inc: { n: Long.ZERO } }, gives: { n: Long.ONE } },
  { on: { n: Long.fromNumber(5) }, update: { $inc: { n: -1 } }, gives: { n: Long.fromNumber(4) } },
  { on: { n: Long.MAX_VALUE }, update: { $inc: { n: 1 } }, gives: 2 },
  { on: { n: one }, update: { $inc: { n: 0.5 } }, gives: { n: new Double(1.5) } },
  {
    on: { n: one },
    update: { $inc: { n: Decimal128.fromString('0.10') } },
    gives: { n: Decimal128.fromString('1.10') },
  },
  { on: {}, update: { $inc: { 'a.b': Long.fromNumber(2) } }, gives: { a: { b: Long.fromNumber(2) } } },
  { on: { n: 'x' }, update: { $inc: { n: 1 } }, gives: 14 },
  { on: { n: one }, update: { $inc: { n: 'x' } }, gives: 14 },
  { on: { n: three }, update: { $mul: { n: 2 } }, gives: { n: new Int32(6) } },
  { on: { n: new Int32(2147483647) }, update: { $mul: { n: 2 } }, gives: { n: Long.fromBigInt(4294967294n) } },
  { on: {}, update: { $mul: { n: Long.fromNumber(7) } }, gives: { n: Long.ZERO } },
  { on: { n: one }, update: { $set: { n: new Double(1) } }, gives: { n: new Double(1) } },
  { on: { n: one }, update: { $set: { n: one } }, gives: { n: one }, modified: 0 },
  { on: { n: two }, update: { $min: { n: new Double(2) }, $max: { m: 1 } }, gives: { n: two, m: one } },
  { on: { n: two }, update: { $min: { n: 1 } }, gives: { n: one } },
  { on: { n: two }, update: { $max: { n: 'a' } }, gives: { n: 'a' } },
  { on: { n: new Int32(12) }, update: { $bit: { n: { and: new Int32(10) } } }, gives: { n: new Int32(8) } },
  { on: { n: one }, update: { $bit: { n: { or: Long.fromNumber(4) } } }, gives: { n: Long.fromNumber(5) } },
  { on: { n: new Double(1) }, update: { $bit: { n: { xor: 1 } } }, gives: 2 },
]);

cases('paths', [
  { on: { z: one }, update: { $set: { c: 1, a: 2 }, $inc: { b: 3 } }, gives: { z: one, a: two, b: three, c: one } },
  { on: {}, update: { $set: { 'l.10': 1, 'l.9': 2 } }, gives: { l: { 9: two, 10: one } } },
  { on: { a: { b: one } }, update: { $set: { 'a.c.d': 2 } }, gives: { a: { b: one, c: { d: two } } } },
  { on: { a: [one] }, update: { $set: { 'a.3': 2 } }, gives: { a: [one, null, null, two] } },
  { on: { a: [{ b: one }] }, update: { $set: { 'a.0.b': 2 } }, gives: { a: [{ b: two }] } },
  { on: { a: one }, update: { $set: { 'a.b': 1 } }, gives: 28 },
  { on: { a: [one] }, update: { $set: { 'a.b': 1 } }, gives: 28 },
  { on: { a: null }, update: { $set: { 'a.b': 1 } }, gives: 28 },
  { on: { a: one, b: two }, update: { $unset: { a: '', 'b.c': '' } }, gives: { b: two } },
  { on: { a: [one, two] }, update: { $unset: { 'a.0': '' } }, gives: { a: [null, two] } },
  { on: { a: one }, update: { $unset: { x: '' } }, gives: { a: one }, modified: 0 },
  { on: { a: one, b: two }, update: { $rename: { a: 'c.d' } }, gives: { b: two, c: { d: one } } },
  { on: { a: one, b: two }, update: { $rename: { a: 'b' } }, gives: { b: one } },
  { on: { a: one }, update: { $rename: { x: 'y' } }, gives: { a: one }, modified: 0 },
  { on: { a: [{ b: one }] }, update: { $rename: { 'a.0.b': 'c' } }, gives: 2 },
  { on: { a: one }, update: { $rename: { 'a.b': 'c' } }, gives: 28 },
  { on: {}, update: { $set: { a: 1, 'a.b': 2 } }, gives: 40 },
  { on: {}, update: { $set: { a: 1 }, $unset: { a: '' } }, gives: 40 },
  { on: {}, update: { $set: { _id: 2 } }, gives: 66 },
  { on: {}, update: { $set: { _id: 1 } }, gives: {}, modified: 0 },
  { on: {}, update: { $set: { '': 1 } }, gives: 56 },
  { on: {}, update: { $set: { 'a..b': 1 } }, gives: 56 },
  { on: {}, update: { $foo: { a: 1 } }, gives: 9 },
  { on: { a: one }, update: { $setOnInsert: { b: 1 } }, gives: { a: one }, modified: 0 },
]);

cases('arrays', [
  { on: { l: [one] }, update: { $push: { l: 2 } }, gives: { l: [one, two] } },
  { on: {}, update: { $push: { l: [1] } }, gives: { l: [[one]] } },
  { on: { l: 'x' }, update: { $push: { l: 1 } }, gives: 2 },
  { on: { l: [three] }, update: { $push: { l: { $each: [2, 1], $position: 0 } } }, gives: { l: [two, one, three] } },
  { on: { l: [one, two] }, update: { $push: { l: { $each: [3], $position: -1 } } }, gives: { l: [one, three, two] } },
  {
    on: { l: [three, one] },
    update: { $push: { l: { $each: [2], $sort: 1, $slice: -2 } } },
    gives: { l: [two, three] },
  },
  { on: { l: [one] }, update: { $push: { l: { $each: [2, 3], $slice: 0 } } }, gives: { l: [] } },
  {
    on: { l: [{ x: two }, { x: one, y: one }] },
    update: { $push: { l: { $each: [{ x: 3 }], $sort: { x: -1 } } } },
    gives: { l: [{ x: three }, { x: two }, { x: one, y: one }] },
  },
  { on: { l: [] }, update: { $push: { l: { $each: 1 } } }, gives: 2 },
  { on: { l: [] }, update: { $push: { l: { $each: [], $foo: 1 } } }, gives: 2 },
  { on: { l: [one] }, update: { $addToSet: { l: { $each: [new Double(1), 2, 2] } } }, gives: { l: [one, two] } },
  { on: { l: [one] }, update: { $addToSet: { l: 1 } }, gives: { l: [one] }, modified: 0 },
  {
    on: { l: [{ a: one, b: two }] },
    update: { $addToSet: { l: { b: 2, a: 1 } } },
    gives: {
      l: [
        { a: one, b: two },
        { b: two, a: one },
      ],
    },
  },
  { on: { l: [one, two, three] }, update: { $pull: { l: { $gte: 2 } } }, gives: { l: [one] } },
  {
    on: { l: [{ a: one, b: two }, { a: two }, one] },
    update: { $pull: { l: { a: 1 } } },
    gives: { l: [{ a: two }, one] },
  },
  { on: { l: [{ a: [one, two] }] }, update: { $pull: { 'l.0.a': 2 } }, gives: { l: [{ a: [one] }] } },
  { on: { l: ['ab', 'b'] }, update: { $pull: { l: /^a/ } }, gives: { l: ['b'] } },
  { on: { l: [one, two, one] }, update: { $pullAll: { l: [1, 3] } }, gives: { l: [two] } },
  { on: { l: [one, two] }, update: { $pop: { l: -1 } }, gives: { l: [two] } },
  { on: { l: [] }, update: { $pop: { l: 1 } }, gives: { l: [] }, modified: 0 },
  { on: { l: [] }, update: { $pop: { l: 2 } }, gives: 9 },
  { on: { l: one }, update: { $pop: { l: 1 } }, gives: 14 },
  { on: { l: one }, update: { $pull: { l: 1 } }, gives: 2 },
]);

const orders = {
  l: [
    { k: one, q: one },
    { k: two, q: two },
  ],
};

cases('positions', [
  {
    on: orders,
    filter: { 'l.k': 2 },
    update: { $inc: { 'l.$.q': 5 } },
    gives: {
      l: [
        { k: one, q: one },
        { k: two, q: new Int32(7) },
      ],
    },
  },
  {
    on: orders,
    filter: { l: { $elemMatch: { k: 1, q: 1 } } },
    update: { $set: { 'l.$': 3 } },
    gives: { l: [three, { k: two, q: two }] },
  },
  { on: { l: [one, two] }, filter: { l: { $gte: 2 } }, update: { $set: { 'l.$': 3 } }, gives: { l: [one, three] } },
  {
    on: { l: [one, two] },
    filter: { $or: [{ l: { $gte: 2 } }] },
    update: { $set: { 'l.$': 3 } },
    gives: { l: [one, three] },
    note: 'elsewhere',
  },
  {
    on: { l: [one, two] },
    filter: { $or: [{ l: 5 }, { l: 2 }] },
    update: { $set: { 'l.$': 3 } },
    gives: { l: [one, three] },
  },
  {
    on: { l: [two, one], x: one, y: one },
    filter: { $or: [{ $and: [{ l: 1 }, { x: 2 }] }, { y: 1 }] },
    update: { $set: { 'l.$': 3 } },
    gives: 2,
  },
  {
    on: { l: [two, one], y: one },
    filter: { $or: [{ l: 1 }, { y: 1 }] },
    update: { $set: { 'l.$': 3 } },
    gives: 2,
  },
  { on: orders, update: { $set: { 'l.$.q': 1 } }, gives: 2 },
  { on: { l: [one, two] }, update: { $mul: { 'l.$[]': 2 } }, gives: { l: [two, new Int32(4)] } },
  {
    on: orders,
    update: { $set: { 'l.$[].q': 0 } },
    gives: {
      l: [
        { k: one, q: new Int32(0) },
        { k: two, q: new Int32(0) },
      ],
    },
  },
  {
    on: orders,
    update: { $set: { 'l.$[big].q': 9 } },
    options: { arrayFilters: [{ 'big.k': { $gt: 1 } }] },
    gives: {
      l: [
        { k: one, q: one },
        { k: two, q: new Int32(9) },
      ],
    },
  },
  {
    on: { l: [{ m: [one, two] }, { m: [three] }] },
    update: { $inc: { 'l.$[].m.$[x]': 10 } },
    options: { arrayFilters: [{ x: { $gte: 2 } }] },
    gives: { l: [{ m: [one, new Int32(12)] }, { m: [new Int32(13)] }] },
  },
  { on: orders, update: { $set: { 'l.$[x].q': 9 } }, gives: 2 },
  { on: orders, update: { $set: { a: 1 } }, options: { arrayFilters: [{ x: 1 }] }, gives: 9 },
  { on: orders, update: { $set: { 'l.$[x]': 9 } }, options: { arrayFilters: [{ x: 1, y: 2 }] }, gives: 9 },
  { on: { a: one }, update: { $set: { 'l.$[].q': 0 } }, gives: 2 },
  { on: { l: one }, update: { $set: { 'l.$[]': 0 } }, gives: 2 },
]);

cases('pipelines', [
  {
    on: { a: one, b: two },
    update: [{ $set: { c: { $add: ['$a', '$b'] } } }, { $unset: 'a' }],
    gives: { b: two, c: three },
  },
  { on: { a: one }, update: [{ $replaceWith: { x: '$a' } }], gives: { x: one } },
  { on: { a: one }, update: [{ $set: { a: '$missing' } }], gives: {}, note: 'elsewhere' },
  { on: { a: one }, update: [{ $set: { _id: 5 } }], gives: 66 },
  { on: { a: one }, update: [{ $match: {} }], gives: 72 },
]);

describe('replacement and upsert', () => {
  test('a replacement keeps only the _id', async () => {
    await collection.deleteMany({});
    await collection.insertOne({ _id: one, a: one, b: two } as Document);
    await collection.replaceOne({ a: 1 }, { c: 3 });
    expect(await typed.findOne({})).toEqual({ _id: one, c: three });
    await expect(collection.replaceOne({ c: 3 }, { _id: two, d: 1 } as Document)).rejects.toMatchObject({ code: 66 });
  });

  test.skipIf(elsewhere)('an identical replacement modifies nothing', async () => {
    await collection.deleteMany({});
    await collection.insertOne({ _id: one, c: three } as Document);
    expect(await collection.replaceOne({}, { c: three })).toMatchObject({ matchedCount: 1, modifiedCount: 0 });
  });

  test('an upsert takes the fields of equality conditions, wherever they are in the filter', async () => {
    await collection.deleteMany({});
    await collection.updateOne(
      { a: 1, $and: [{ 'b.c': { $eq: 2 } }], d: { $gt: 3 }, e: { $in: [1, 2] } },
      { $set: { f: 6 }, $setOnInsert: { g: 7 }, $unset: { a: '' } },
      { upsert: true },
    );
    expect(await stored()).toEqual({ b: { c: two }, f: new Int32(6), g: new Int32(7) });
  });

  test('a repeated upsert by one _id in a list makes one document', async () => {
    await collection.deleteMany({});
    for (let time = 0; time < 3; time++)
      await collection.updateOne({ _id: { $in: ['k'] } } as Document, { $inc: { n: 1 } }, { upsert: true });
    expect(await stored()).toEqual({ n: three });
    expect(await collection.find({}).toArray()).toEqual([{ _id: 'k', n: 3 }]);
  });

  test('an upsert with two equality conditions on one field is an error', async () => {
    const twice = collection.updateOne({ a: 1, $and: [{ a: 2 }] }, { $set: { b: 1 } }, { upsert: true });
    await expect(twice).rejects.toMatchObject({ code: 54 });
  });

  test('an upsert by replacement takes only the _id from the filter', async () => {
    await collection.deleteMany({});
    await collection.replaceOne({ _id: two, a: 1 } as Document, { c: 3 }, { upsert: true });
    expect(await typed.findOne({})).toEqual({ _id: two, c: three });
  });

  test('a repeated upsert by replacement with the _id null makes one document', async () => {
    await collection.deleteMany({});
    for (let time = 0; time < 3; time++)
      await collection
        .replaceOne({ _id: null, a: 1 } as Document, { c: time }, { upsert: true })
        .catch(() => undefined);
    await collection.replaceOne({ _id: null } as Document, { c: 3 }, { upsert: true });
    expect(await collection.find({}).toArray()).toEqual([{ _id: null, c: 3 }]);
  });
});

test('all elements of a large array are updated in one step', async () => {
  const large = client.db(freshDbName('large')).collection<{ _id: number; lines: { v: number }[] }>('c');
  await large.insertOne({ _id: 1, lines: Array.from({ length: 100_000 }, (_, v) => ({ v })) });
  await large.updateOne({ _id: 1 }, { $inc: { 'lines.$[].v': 1 } });
  const { lines } = (await large.findOne({ _id: 1 })) as { lines: { v: number }[] };
  expect(lines.map(({ v }) => v)).toEqual(Array.from({ length: 100_000 }, (_, v) => v + 1));
});
