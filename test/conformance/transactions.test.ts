import { MongoClient, type MongoServerError } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

interface Item {
  _id: number;
  n?: number;
  u?: string;
}

/**
 * The reference server timestamps the events of a transaction by statement, and reads current data in snapshot
 * sessions.
 */
const elsewhere = process.env.TEST_MONGODB_URL !== undefined;

let mongo: TestMongo;
let client: MongoClient;
let name: string;

const items = () => client.db(name).collection<Item>('c');

beforeAll(async () => {
  mongo = await startTestMongo();
  client = await new MongoClient(mongo.uri).connect();
});

beforeEach(async () => {
  name = freshDbName('transactions');
  await items().insertMany([
    { _id: 1, n: 0 },
    { _id: 2, n: 0 },
  ]);
});

afterAll(async () => {
  await client.close();
  await mongo.close();
});

/** Runs `work` in a session with an open transaction. */
async function inTransaction(work: (session: ReturnType<MongoClient['startSession']>) => Promise<void>): Promise<void> {
  const session = client.startSession();
  session.startTransaction();
  try {
    await work(session);
  } finally {
    await session.endSession();
  }
}

const failing = async (action: Promise<unknown>): Promise<MongoServerError> => {
  const error = await action.then(
    () => undefined,
    (reason) => reason as MongoServerError,
  );
  if (!error) throw new Error('it did not fail');
  return error;
};

describe('a transaction reads', () => {
  test('its own writes, by every command, which are not visible to others before the commit', async () => {
    await items().createIndex({ n: 1 });
    await inTransaction(async (session) => {
      await items().insertOne({ _id: 3, n: 7 }, { session });
      await items().updateOne({ _id: 1 }, { $set: { n: 7 } }, { session });
      await items().deleteOne({ _id: 2 }, { session });
      const seen = [
        { _id: 1, n: 7 },
        { _id: 3, n: 7 },
      ];
      expect(await items().find({}, { session }).sort({ _id: 1 }).toArray()).toEqual(seen);
      expect(await items().find({ n: 7 }, { session }).sort({ _id: 1 }).toArray()).toEqual(seen);
      expect(await items().countDocuments({}, { session })).toBe(2);
      expect(await items().distinct('n', {}, { session })).toEqual([7]);
      expect(await items().findOneAndUpdate({ _id: 3 }, { $inc: { n: 1 } }, { session })).toEqual({ _id: 3, n: 7 });
      expect(await items().find().sort({ _id: 1 }).toArray()).toEqual([
        { _id: 1, n: 0 },
        { _id: 2, n: 0 },
      ]);
      expect(await items().countDocuments({ n: 7 })).toBe(0);
      await session.commitTransaction();
    });
    expect(await items().find().sort({ _id: 1 }).toArray()).toEqual([
      { _id: 1, n: 7 },
      { _id: 3, n: 8 },
    ]);
    expect(await items().countDocuments({ n: 8 })).toBe(1);
    expect(await items().estimatedDocumentCount()).toBe(2);
    expect((await client.db(name).command({ validate: 'c' })).valid).toBe(true);
  });

  test('the data at its first command, whatever others write, by every command', async () => {
    await items().createIndex({ n: 1 });
    await inTransaction(async (session) => {
      expect(await items().findOne({ _id: 1 }, { session })).toEqual({ _id: 1, n: 0 });
      await items().updateOne({ _id: 1 }, { $set: { n: 5 } });
      await items().updateOne({ _id: 1 }, { $set: { n: 6 } });
      await items().deleteOne({ _id: 2 });
      await items().insertOne({ _id: 9, n: 0 });
      expect(await items().find({}, { session }).sort({ _id: 1 }).toArray()).toEqual([
        { _id: 1, n: 0 },
        { _id: 2, n: 0 },
      ]);
      expect(await items().find({ n: 0 }, { session }).hint({ n: 1 }).sort({ _id: 1 }).toArray()).toHaveLength(2);
      expect(await items().countDocuments({}, { session })).toBe(2);
      await session.commitTransaction();
    });
    expect(await items().find().sort({ _id: 1 }).toArray()).toEqual([
      { _id: 1, n: 6 },
      { _id: 9, n: 0 },
    ]);
  });

  test('from its cursor over several batches', async () => {
    await items().insertMany(Array.from({ length: 50 }, (_, n) => ({ _id: 100 + n, n })));
    await inTransaction(async (session) => {
      const cursor = items().find({}, { session, batchSize: 10 }).sort({ _id: 1 });
      expect((await cursor.next())?._id).toBe(1);
      await items().deleteMany({});
      const rest = await cursor.toArray();
      expect(rest).toHaveLength(51);
      await session.commitTransaction();
    });
    expect(await items().countDocuments()).toBe(0);
  });
});

describe('the end of a transaction', () => {
  test('abort leaves nothing, not even the collection that it created', async () => {
    await inTransaction(async (session) => {
      await items().insertOne({ _id: 3 }, { session });
      await client.db(name).collection<Item>('made').createIndex({ n: 1 }, { session });
      await client.db(name).collection<Item>('made').insertOne({ _id: 1 }, { session });
      await session.abortTransaction();
    });
    expect(await items().countDocuments()).toBe(2);
    expect(await client.db(name).listCollections({ name: 'made' }).toArray()).toEqual([]);
  });

  test('commit keeps the collections and indexes that it created', async () => {
    await inTransaction(async (session) => {
      const made = await client.db(name).createCollection<Item>('made', { session });
      await made.createIndex({ u: 1 }, { unique: true, session });
      await made.insertOne({ _id: 1, u: 'a' }, { session });
      expect(await made.find({ u: 'a' }, { session }).toArray()).toEqual([{ _id: 1, u: 'a' }]);
      expect(await client.db(name).listCollections({ name: 'made' }).toArray()).toEqual([]);
      await session.commitTransaction();
    });
    const made = client.db(name).collection<Item>('made');
    expect(await made.find({ u: 'a' }).toArray()).toEqual([{ _id: 1, u: 'a' }]);
    expect((await failing(made.insertOne({ _id: 2, u: 'a' }))).code).toBe(11000);
    expect((await client.db(name).command({ validate: 'made' })).valid).toBe(true);
  });

  // On other servers the second one may wait until the transaction ends, here for ever.
  test('a command with several statements fills the collection that its first one creates', async () => {
    await inTransaction(async (session) => {
      const made = client.db(name).collection<Item>('made');
      const upserts = [1, 2].map((_id) => ({
        updateOne: { filter: { _id }, update: { $inc: { n: 1 } }, upsert: true },
      }));
      await made.bulkWrite(upserts, { session });
      await made.bulkWrite(upserts, { session });
      expect(await made.find({}, { session }).toArray()).toHaveLength(2);
      await session.commitTransaction();
      expect(await made.find().sort({ _id: 1 }).toArray()).toEqual([1, 2].map((_id) => ({ _id, n: 2 })));
      expect(await made.estimatedDocumentCount()).toBe(2);
    });
  });

  test.skipIf(elsewhere)('a collection that somebody else creates meanwhile keeps its documents', async () => {
    const made = client.db(name).collection<Item>('made');
    await inTransaction(async (session) => {
      await made.insertOne({ _id: 1 }, { session });
      await made.insertOne({ _id: 2 });
      const later = await failing(made.insertOne({ _id: 3 }, { session }));
      expect(later.hasErrorLabel('TransientTransactionError')).toBe(true);
    });
    await made.insertOne({ _id: 4 });
    await client.db(name).createCollection('next');
    expect((await made.find().toArray()).map(({ _id }) => _id)).toEqual([2, 4]);
    expect((await client.db(name).command({ validate: 'made' })).valid).toBe(true);
  });

  test('a repeated commit gets the same answer, and later commands are refused', async () => {
    await inTransaction(async (session) => {
      await items().updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session });
      await session.commitTransaction();
      await session.commitTransaction();
    });
    expect(await items().findOne({ _id: 1 })).toEqual({ _id: 1, n: 1 });
  });

  test('a failing write aborts it, and its number is unknown afterwards', async () => {
    await inTransaction(async (session) => {
      await items().insertOne({ _id: 3 }, { session });
      expect((await failing(items().insertOne({ _id: 1 }, { session }))).code).toBe(11000);
      const after = await failing(items().insertOne({ _id: 4 }, { session }));
      expect(after.code).toBe(251);
      expect(after.hasErrorLabel('TransientTransactionError')).toBe(true);
    });
    expect(await items().countDocuments()).toBe(2);
  });

  test('count, and indexes on an existing collection, are refused in a transaction', async () => {
    await inTransaction(async (session) => {
      await items().findOne({}, { session });
      const count = await failing(client.db(name).command({ count: 'c' }, { session }));
      expect(count.code).toBe(263);
    });
    await inTransaction(async (session) => {
      expect((await failing(items().createIndex({ n: 1 }, { session }))).code).toBe(263);
    });
  });
});

describe('the first writer wins a conflict', () => {
  const conflicts = async (action: Promise<unknown>): Promise<void> => {
    const error = await failing(action);
    expect(error.code).toBe(112);
    expect(error.hasErrorLabel('TransientTransactionError')).toBe(true);
  };

  test('against another transaction', async () => {
    await inTransaction(async (first) => {
      await items().updateOne({ _id: 1 }, { $set: { n: 1 } }, { session: first });
      await inTransaction(async (second) => {
        await items().findOne({ _id: 2 }, { session: second });
        await conflicts(items().updateOne({ _id: 1 }, { $set: { n: 2 } }, { session: second }));
      });
      await first.commitTransaction();
    });
    expect(await items().findOne({ _id: 1 })).toEqual({ _id: 1, n: 1 });
  });

  test('against a transaction that began before a plain write', async () => {
    await inTransaction(async (session) => {
      await items().findOne({ _id: 2 }, { session });
      await items().updateOne({ _id: 1 }, { $set: { n: 5 } });
      await conflicts(items().updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session }));
    });
    expect(await items().findOne({ _id: 1 })).toEqual({ _id: 1, n: 5 });
  });

  test('for a new unique key too', async () => {
    await items().createIndex({ u: 1 }, { unique: true, sparse: true });
    await inTransaction(async (first) => {
      await items().insertOne({ _id: 10, u: 'x' }, { session: first });
      await inTransaction(async (second) => {
        await conflicts(items().insertOne({ _id: 11, u: 'x' }, { session: second }));
      });
      await first.commitTransaction();
    });
    await inTransaction(async (session) => {
      await items().findOne({}, { session });
      await items().insertOne({ _id: 12, u: 'y' });
      await conflicts(items().insertOne({ _id: 13, u: 'y' }, { session }));
    });
    expect(await items().countDocuments({ u: { $in: ['x', 'y'] } })).toBe(2);
    expect((await client.db(name).command({ validate: 'c' })).valid).toBe(true);
  });

  test('a plain write to a row held by a transaction waits for its end and then sees its result; other writes do not wait', async () => {
    let done = false;
    let waiting: Promise<unknown> = Promise.resolve();
    await inTransaction(async (session) => {
      await items().updateOne({ _id: 1 }, { $inc: { n: 10 } }, { session });
      waiting = items()
        .updateOne({ _id: 1 }, { $inc: { n: 1 } })
        .then(() => {
          done = true;
        });
      await items().updateOne({ _id: 2 }, { $inc: { n: 1 } });
      expect(await items().findOne({ _id: 2 })).toEqual({ _id: 2, n: 1 });
      expect(done).toBe(false);
      await session.commitTransaction();
    });
    await waiting;
    expect(await items().findOne({ _id: 1 })).toEqual({ _id: 1, n: 11 });
  });

  test('maxTimeMS ends such a wait', async () => {
    await inTransaction(async (session) => {
      await items().deleteOne({ _id: 1 }, { session });
      const error = await failing(
        client.db(name).command({ update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { n: 1 } } }], maxTimeMS: 50 }),
      );
      expect(error.code).toBe(50);
      await session.abortTransaction();
    });
    expect(await items().countDocuments()).toBe(2);
  });
});

test.skipIf(elsewhere)('change streams report its writes at the commit, in their order', async () => {
  const stream = items().watch([], { maxAwaitTimeMS: 50 });
  const next = async (): Promise<unknown[]> => {
    const change = await stream.next();
    return [change.operationType, 'documentKey' in change ? change.documentKey._id : undefined];
  };
  await stream.tryNext();
  await inTransaction(async (session) => {
    await items().insertOne({ _id: 5 }, { session });
    await items().updateOne({ _id: 1 }, { $set: { n: 1 } }, { session });
    await items().insertOne({ _id: 6 });
    await items().deleteOne({ _id: 2 }, { session });
    await session.commitTransaction();
  });
  expect([await next(), await next(), await next(), await next()]).toEqual([
    ['insert', 6],
    ['insert', 5],
    ['update', 1],
    ['delete', 2],
  ]);
  await stream.close();
});

test('concurrent transfers with withTransaction keep the total', async () => {
  const accounts = client.db(name).collection<{ _id: number; balance: number }>('accounts');
  await accounts.insertMany(Array.from({ length: 5 }, (_, _id) => ({ _id, balance: 100 })));
  const transfer = (from: number, to: number): Promise<void> =>
    client.withSession((session) =>
      session.withTransaction(async () => {
        const source = await accounts.findOne({ _id: from }, { session });
        if (!source || source.balance < 10) return;
        await accounts.updateOne({ _id: from }, { $set: { balance: source.balance - 10 } }, { session });
        await accounts.updateOne({ _id: to }, { $inc: { balance: 10 } }, { session });
      }),
    );
  await Promise.all(Array.from({ length: 10 }, (_, n) => transfer(n % 5, (n * 3 + 1) % 5)));
  const [sum] = await accounts.aggregate([{ $group: { _id: null, total: { $sum: '$balance' } } }]).toArray();
  expect(sum?.total).toBe(500);
  expect(await accounts.countDocuments({ balance: { $lt: 0 } })).toBe(0);
});

test.skipIf(elsewhere)('snapshot sessions read one point in time', async () => {
  await client.withSession({ snapshot: true }, async (session) => {
    expect(await items().find({}, { session }).toArray()).toHaveLength(2);
    await items().deleteOne({ _id: 2 });
    await items().updateOne({ _id: 1 }, { $set: { n: 9 } });
    expect(await items().find({}, { session }).toArray()).toEqual([
      { _id: 1, n: 0 },
      { _id: 2, n: 0 },
    ]);
    expect(await items().distinct('n', {}, { session })).toEqual([0]);
    const inBatches = items().find({}, { session, batchSize: 1 });
    expect(await inBatches.next()).toEqual({ _id: 1, n: 0 });
    expect(await inBatches.next()).toEqual({ _id: 2, n: 0 });
    await inBatches.close();
  });
  expect(await items().find().toArray()).toEqual([{ _id: 1, n: 9 }]);
});
