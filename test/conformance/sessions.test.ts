import { Long, UUID } from 'bson';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { WireClient } from '../support/wire-client.ts';

let mongo: TestMongo;
let wire: WireClient;
let db: string;

beforeAll(async () => {
  mongo = await startTestMongo();
  wire = await WireClient.connect(mongo.uri);
});

beforeEach(() => {
  db = freshDbName('sessions');
});

afterAll(async () => {
  wire.close();
  await mongo.close();
});

/** A session id, and transaction numbers for its retryable writes. */
function session(): { lsid: { id: UUID }; txn: (n: number) => { txnNumber: Long; lsid: { id: UUID } } } {
  const lsid = { id: new UUID() };
  return { lsid, txn: (n) => ({ lsid, txnNumber: Long.fromNumber(n) }) };
}

const all = async (): Promise<unknown[]> =>
  (await wire.command({ find: 'c', sort: { _id: 1 }, $db: db })).cursor.firstBatch;

describe('retryable writes', () => {
  test('an insert, update, delete and findAndModify sent twice are executed once, with the same answer', async () => {
    const { txn } = session();
    const commands = [
      {
        insert: 'c',
        documents: [
          { _id: 1, n: 0 },
          { _id: 2, n: 0 },
        ],
      },
      {
        update: 'c',
        updates: [
          { q: { _id: 1 }, u: { $inc: { n: 1 } } },
          { q: { _id: 3 }, u: { $inc: { n: 5 } }, upsert: true },
        ],
      },
      { findAndModify: 'c', query: { _id: 1 }, update: { $inc: { n: 1 } }, new: true },
      { delete: 'c', deletes: [{ q: {}, limit: 1 }] },
      { findAndModify: 'c', query: { n: 5 }, remove: true },
    ];
    for (const [n, command] of commands.entries()) {
      const {
        operationTime: _t,
        $clusterTime: _c,
        opTime: _o, // the reference server returns the opTime of the last operation of any client
        ...first
      } = await wire.command({ ...command, ...txn(n + 1), $db: db });
      const {
        operationTime: _u,
        $clusterTime: _d,
        opTime: _p,
        ...second
      } = await wire.command({ ...command, ...txn(n + 1), $db: db });
      expect(first).toMatchObject({ ok: 1 });
      expect(second).toMatchObject(first);
    }
    expect(await all()).toEqual([{ _id: 2, n: 0 }]);
  });

  test('each session has its own numbers, and an older number is refused (error 225)', async () => {
    const one = session();
    const other = session();
    const insert = (_id: number): object => ({ insert: 'c', documents: [{ _id }], $db: db });
    expect(await wire.command({ ...insert(1), ...one.txn(5) })).toMatchObject({ n: 1 });
    expect(await wire.command({ ...insert(2), ...other.txn(5) })).toMatchObject({ n: 1 });
    expect(await wire.command({ ...insert(3), ...one.txn(4) })).toMatchObject({ ok: 0, code: 225 });
    expect(await wire.command({ ...insert(3), ...one.txn(6) })).toMatchObject({ n: 1 });
    expect((await all()).length).toBe(3);
  });

  test.skipIf(process.env.TEST_MONGODB_URL !== undefined)(
    'a late one does not abort a newer transaction of its session',
    async () => {
      const { txn } = session();
      await wire.command({ insert: 'c', documents: [{ _id: 0 }], $db: db });
      const inTransaction = { ...txn(5), autocommit: false };
      const documents = [{ _id: 5 }];
      await wire.command({ insert: 'c', documents, ...inTransaction, startTransaction: true, $db: db });
      const late = { insert: 'c', documents: [{ _id: 3 }], $db: db };
      expect(await wire.command({ ...late, ...txn(3) })).toMatchObject({ ok: 0, code: 225 });
      expect(await wire.command({ ...late, ...txn(5) })).toMatchObject({ ok: 0, code: 72 });
      expect(await wire.command({ commitTransaction: 1, ...inTransaction, $db: 'admin' })).toMatchObject({ ok: 1 });
      expect(await all()).toEqual([{ _id: 0 }, { _id: 5 }]);
    },
  );

  test('the driver numbers its writes', async () => {
    const client = new MongoClient(mongo.uri, { monitorCommands: true });
    const sent: unknown[] = [];
    client.on('commandStarted', (event) => sent.push(event.command.txnNumber));
    await client.db(db).collection('c').insertOne({ a: 1 });
    await client.close();
    expect(sent.filter((txn) => txn !== undefined)).toHaveLength(1);
  });
});

test('ending a session closes its cursors', async () => {
  const { lsid } = session();
  await wire.command({ insert: 'c', documents: [1, 2, 3].map((_id) => ({ _id })), $db: db });
  const { cursor } = await wire.command({ find: 'c', batchSize: 1, lsid, $db: db });
  expect(await wire.command({ getMore: cursor.id, collection: 'c', batchSize: 1, lsid, $db: db })).toMatchObject({
    ok: 1,
  });
  expect(await wire.command({ killSessions: [lsid], $db: 'admin' })).toMatchObject({ ok: 1 });
  expect(await wire.command({ getMore: cursor.id, collection: 'c', lsid, $db: db })).toMatchObject({ ok: 0, code: 43 });
});

test('refreshing and ending sessions succeed', async () => {
  const { lsid } = session();
  expect(await wire.command({ refreshSessions: [lsid], $db: 'admin' })).toMatchObject({ ok: 1 });
  expect(await wire.command({ endSessions: [lsid], $db: 'admin' })).toMatchObject({ ok: 1 });
});

test('a transaction is executed as a whole or refused with a clear error, never in part', async () => {
  const client = await new MongoClient(mongo.uri).connect();
  try {
    await client.db(db).createCollection('c');
    const attempt = client.withSession((own) =>
      own.withTransaction(async () => {
        await client.db(db).collection<{ _id: number }>('c').insertOne({ _id: 1 }, { session: own });
        throw new Error('given up');
      }),
    );
    await expect(attempt).rejects.toThrow();
    expect(await all()).toEqual([]);
  } finally {
    await client.close();
  }
});

test('answers carry the operation time and the cluster time, which writes advance', async () => {
  const first = await wire.command({ ping: 1, $db: db });
  await wire.command({ insert: 'c', documents: [{ _id: 1 }], $db: db });
  const second = await wire.command({ ping: 1, $db: db });
  expect(second.operationTime.greaterThan(first.operationTime)).toBe(true);
  expect(second.$clusterTime.clusterTime.greaterThanOrEqual(second.operationTime)).toBe(true);
});

test('a write concern that one node cannot satisfy is reported after the write', async () => {
  const reply = await wire.command({
    insert: 'c',
    documents: [{ _id: 1 }],
    writeConcern: { w: 5, wtimeout: 50 },
    $db: db,
  });
  expect(reply).toMatchObject({ n: 1, writeConcernError: { code: expect.any(Number) } });
  expect(await all()).toEqual([{ _id: 1 }]);
  for (const writeConcern of [{ w: 1, j: true }, { w: 'majority' }]) {
    expect(
      await wire.command({ update: 'c', updates: [{ q: {}, u: { $set: { a: 1 } } }], writeConcern, $db: db }),
    ).not.toHaveProperty('writeConcernError');
  }
});
