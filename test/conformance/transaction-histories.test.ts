import { MongoClient, type MongoServerError } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

interface Item {
  _id: number | 'total';
  v: number;
}

const ITEMS = 6;

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

test('under concurrent transactions and plain writes every snapshot is consistent, and no increment is lost or doubled', async () => {
  const db = client.db(freshDbName('histories'));
  const items = db.collection<Item>('items');
  await items.createIndex({ v: 1 });
  await items.insertMany([...Array.from({ length: ITEMS }, (_, _id) => ({ _id, v: 0 })), { _id: 'total', v: 0 }]);
  const increments = Array.from({ length: ITEMS }, () => 0);
  let aborted = 0;

  /** Increments two items and the total according to the values it read, or gives up on a write conflict. */
  const attempt = async (a: number, b: number): Promise<boolean> => {
    const session = client.startSession();
    try {
      session.startTransaction();
      const seen = new Map((await items.find({}, { session }).toArray()).map(({ _id, v }) => [_id, v]));
      const sum = Array.from({ length: ITEMS }, (_, n) => seen.get(n) as number).reduce((x, y) => x + y);
      expect(sum).toBe(seen.get('total'));
      for (const id of [a, b]) {
        await items.updateOne({ _id: id }, { $set: { v: (seen.get(id) as number) + 1 } }, { session });
      }
      const total = (seen.get('total') as number) + 2;
      await items.updateOne({ _id: 'total' }, { $set: { v: total } }, { session });
      expect(await items.find({ v: total }, { session }).hint({ v: 1 }).toArray()).toContainEqual({
        _id: 'total',
        v: total,
      });
      await session.commitTransaction();
      return true;
    } catch (error) {
      if (!(error as MongoServerError).hasErrorLabel?.('TransientTransactionError')) throw error;
      return false;
    } finally {
      await session.endSession();
    }
  };
  const worker = async (n: number): Promise<void> => {
    for (let round = 0; round < 3; round++) {
      const [a, b] = [(n + round) % ITEMS, (n * 2 + round + 1) % ITEMS] as [number, number];
      if (a === b) continue;
      while (!(await attempt(a, b))) aborted++;
      for (const id of [a, b]) increments[id] = (increments[id] as number) + 1;
    }
  };
  const bystander = async (): Promise<void> => {
    for (let n = 0; n < 20; n++) await db.collection<{ _id: number }>('others').insertOne({ _id: n });
  };
  await Promise.all([...Array.from({ length: 4 }, (_, n) => worker(n)), bystander()]);
  const end = new Map((await items.find().toArray()).map(({ _id, v }) => [_id, v]));
  expect(Array.from({ length: ITEMS }, (_, n) => end.get(n))).toEqual(increments);
  expect(aborted).toBeGreaterThan(0);
  expect((await db.command({ validate: 'items' })).valid).toBe(true);
});
