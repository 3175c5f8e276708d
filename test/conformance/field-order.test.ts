import { deserialize } from 'bson';
import { type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

let mongo: TestMongo;
let client: MongoClient;

beforeAll(async () => {
  mongo = await startTestMongo();
  client = await new MongoClient(mongo.uri).connect();
});

afterAll(async () => {
  await client.close();
  await mongo.close();
});

/** The field names of a document in the order of its bytes. JavaScript objects would sort whole numbers first. */
function names(bytes: Uint8Array): string[] {
  const found = [];
  for (const name of ['2', '1', 'b', 'c']) {
    const at = Buffer.from(bytes).indexOf(Buffer.from(`\u0010${name}\0`));
    if (at >= 0) found.push([at, name] as const);
  }
  return found.sort(([a], [b]) => a - b).map(([, name]) => name);
}

test('an update keeps the order of fields named by whole numbers, also in nested documents', async () => {
  const items = client.db(freshDbName('order')).collection<{ _id: number }>('c', { raw: true });
  const inner = new Map([
    ['b', 1],
    ['2', 2],
    ['1', 3],
  ]);
  await items.insertOne(new Map<string, unknown>([['_id', 1], ...inner]) as never);
  await items.insertOne(
    new Map<string, unknown>([
      ['_id', 2],
      ['list', [inner]],
    ]) as never,
  );
  await items.updateOne({ _id: 1 }, { $set: { c: 4 } });
  await items.updateOne({ _id: 2 }, { $set: { 'list.0.c': 4 } });
  const stored = (await items.find().sort({ _id: 1 }).toArray()) as unknown as Uint8Array[];
  expect(stored.map(names)).toEqual([
    ['b', '2', '1', 'c'],
    ['b', '2', '1', 'c'],
  ]);
  expect(deserialize(stored[0] as Uint8Array)).toEqual({ _id: 1, b: 1, 2: 2, 1: 3, c: 4 });
});

/** The reference server's index takes documents with the same fields in another order for equal. */
const elsewhere = process.env.TEST_MONGODB_URL !== undefined;

describe.skipIf(elsewhere)('the order of the fields of an indexed document', () => {
  const was = { city: 'A', zip: 1 };
  const is = { zip: 1, city: 'A' };

  async function stored(fields: object = {}) {
    const db = client.db(freshDbName('order'));
    const items = db.collection<Document & { _id: number }>('c');
    await items.createIndex({ addr: 1 }, { unique: true });
    await items.insertMany([
      { _id: 1, addr: was, ...fields },
      { _id: 2, addr: { city: 'B', zip: 2 }, ...fields },
    ]);
    return { db, items };
  }

  /** The document is found by its new value alone, the unique index has that one, and the collection is intact. */
  async function expectChanged({ db, items }: Awaited<ReturnType<typeof stored>>) {
    expect(Object.keys((await items.findOne({ _id: 1 }))?.addr)).toEqual(['zip', 'city']);
    for (const hint of ['addr_1', { $natural: 1 as const }]) {
      expect(await items.find({ addr: is }, { hint }).toArray()).toHaveLength(1);
      expect(await items.find({ addr: was }, { hint }).toArray()).toEqual([]);
    }
    await expect(items.insertOne({ _id: 3, addr: is })).rejects.toThrow(/E11000/);
    await items.insertOne({ _id: 4, addr: was });
    await items.deleteOne({ _id: 1 });
    expect((await items.find({}, { sort: { addr: 1 } }).toArray()).map(({ _id }) => _id)).toEqual([4, 2]);
    expect((await db.command({ validate: 'c' })).valid).toBe(true);
  }

  test('is that of the new value, beside a field that is named by a whole number', async () => {
    const made = await stored({ perYear: { 2026: 7 } });
    await made.items.updateOne({ _id: 1 }, { $set: { addr: is } });
    await expectChanged(made);
  });

  test('is that of the new value by a pipeline', async () => {
    const made = await stored();
    const { modifiedCount } = await made.items.updateOne({ _id: 1 }, [{ $set: { addr: { $literal: is } } }]);
    expect(modifiedCount).toBe(1);
    await expectChanged(made);
  });

  test('is that of the new value by a pipeline that replaces the document', async () => {
    const made = await stored();
    await made.items.updateOne({ _id: 1 }, [{ $replaceWith: { $literal: { addr: is, _id: 1 } } }]);
    await expectChanged(made);
  });

  test('is that of the new value by $merge', async () => {
    const made = await stored();
    await made.db.collection<{ _id: number; addr: object }>('source').insertOne({ _id: 1, addr: is });
    await made.db
      .collection('source')
      .aggregate([{ $merge: { into: 'c', whenMatched: 'merge' } }])
      .toArray();
    await expectChanged(made);
  });

  test('is that of elements that are added to an array', async () => {
    const db = client.db(freshDbName('order'));
    const items = db.collection<Document & { _id: number }>('c');
    await items.createIndex({ list: 1 });
    await items.insertOne({ _id: 1, list: [{ x: 1, y: 2 }], m: { 1: 1 } });
    await items.updateOne({ _id: 1 }, { $push: { list: { $each: [{ y: 5, x: 6 }], $position: 0 } } } as never);
    expect((await items.findOne({ list: { y: 5, x: 6 } }))?._id).toBe(1);
    expect(Object.keys((await items.findOne({ _id: 1 }))?.list[0])).toEqual(['y', 'x']);
    expect((await db.command({ validate: 'c' })).valid).toBe(true);
  });

  test('is told by a change stream', async () => {
    const made = await stored();
    const stream = made.items.watch([], { maxAwaitTimeMS: 100 });
    await stream.tryNext();
    await made.items.updateOne({ _id: 1 }, [{ $replaceWith: { $literal: { _id: 1, addr: is } } }]);
    const event = await stream.next();
    expect(event).toMatchObject({ operationType: expect.stringMatching(/update|replace/) });
    if (event.operationType === 'update') expect(event.updateDescription.updatedFields).toEqual({ addr: is });
    await stream.close();
  });
});
