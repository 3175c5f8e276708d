import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Document, Long, UUID } from 'bson';
import { MongoClient, type MongoServerError } from 'mongodb';
import { afterEach, describe, expect, test } from 'vitest';
import type { Engine, EngineOptions } from '../../src/engine/embedded.ts';
import { startServer } from '../../src/engine/server.ts';
import { startEngineProcess } from '../support/engine-process.ts';
import { WireClient } from '../support/wire-client.ts';

interface Item {
  _id: number;
  n?: number;
}

const cleanUp: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const action of cleanUp.splice(0).reverse()) await action();
});

async function folder(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'engine-'));
  cleanUp.push(() => rm(dataDir, { recursive: true, force: true }));
  return dataDir;
}

async function serve(options: Partial<EngineOptions> = {}): Promise<MongoClient> {
  const engine: Engine = await startServer({ dataDir: await folder(), ...options });
  cleanUp.push(() => engine.close());
  return connect(engine.uri);
}

async function connect(uri: string): Promise<MongoClient> {
  const client = await new MongoClient(uri).connect();
  cleanUp.push(() => client.close());
  return client;
}

describe('fail points', () => {
  const failInserts = (data: object, mode: object = { times: 1 }) => ({
    configureFailPoint: 'failCommand',
    mode,
    data: { failCommands: ['insert'], ...data },
  });

  test('do not exist on a server without test commands', async () => {
    const client = await serve();
    await expect(client.db('admin').command(failInserts({ errorCode: 91 }))).rejects.toMatchObject({ code: 59 });
    expect(await client.db('admin').command({ getParameter: 1, enableTestCommands: 1 })).toMatchObject({
      enableTestCommands: false,
    });
  });

  test('fail a command the configured number of times, with the error labels of its code', async () => {
    const client = await serve({ testCommands: true });
    const items = client.db('t').collection<Item>('c');
    await client.db('admin').command(failInserts({ errorCode: 121 }, { times: 2 }));
    await expect(items.insertOne({ _id: 1 })).rejects.toMatchObject({ code: 121, errorLabels: [] });
    await expect(items.insertOne({ _id: 1 })).rejects.toMatchObject({ code: 121 });
    await items.insertOne({ _id: 1 });
    await client.db('admin').command(failInserts({ errorCode: 91 }));
    await items.insertOne({ _id: 2 });
    await client.db('admin').command(failInserts({ errorCode: 91 }, { times: 2 }));
    const error = await items.insertOne({ _id: 3 }).catch((reason: MongoServerError) => reason);
    expect(error).toMatchObject({ code: 91 });
    expect((error as MongoServerError).hasErrorLabel('RetryableWriteError')).toBe(true);
    expect(await items.countDocuments()).toBe(2);
  });

  test('let every command that has a time limit exceed it', async () => {
    const client = await serve({ testCommands: true });
    const [items, admin] = [client.db('t').collection<Item>('c'), client.db('admin')];
    await items.insertOne({ _id: 1 });
    await admin.command({ configureFailPoint: 'maxTimeAlwaysTimeOut', mode: 'alwaysOn' });
    await expect(items.find({}, { maxTimeMS: 60_000 }).toArray()).rejects.toMatchObject({ code: 50 });
    await expect(items.createIndex({ n: 1 }, { maxTimeMS: 60_000 })).rejects.toMatchObject({ code: 50 });
    expect(await items.find().toArray()).toHaveLength(1);
    await admin.command({ configureFailPoint: 'maxTimeAlwaysTimeOut', mode: 'off' });
    expect(await items.find({}, { maxTimeMS: 60_000 }).toArray()).toHaveLength(1);
  });

  test('close the connection, delay, and add write concern errors; off removes them', async () => {
    const client = await serve({ testCommands: true });
    const items = client.db('t').collection<Item>('c');
    const admin = client.db('admin');
    await admin.command(failInserts({ closeConnection: true }));
    await items.insertOne({ _id: 1 });
    await admin.command(failInserts({ writeConcernError: { code: 64, errmsg: 'slow' } }));
    await expect(items.insertOne({ _id: 2 })).rejects.toMatchObject({ code: 64 });
    await admin.command(failInserts({ blockConnection: true, blockTimeMS: 60 }));
    const started = performance.now();
    await items.insertOne({ _id: 3 });
    expect(performance.now() - started).toBeGreaterThan(50);
    await admin.command({ ...failInserts({ errorCode: 1 }), mode: 'alwaysOn' });
    await expect(items.insertOne({ _id: 4 })).rejects.toMatchObject({ code: 1 });
    expect(await admin.command({ configureFailPoint: 'failCommand', mode: 'off' })).toMatchObject({ count: 1 });
    await items.insertOne({ _id: 4 });
    expect(await items.countDocuments()).toBe(4);
  });

  test('a write rolled back before its commit is executed once by its retry', async () => {
    const client = await serve({ testCommands: true });
    const items = client.db('t').collection<Item>('c');
    for (const data of [{ failBeforeCommitExceptionCode: 91, closeConnection: false }, {}]) {
      await client.db('admin').command({ configureFailPoint: 'onPrimaryTransactionalWrite', mode: { times: 1 }, data });
      await items.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { upsert: true });
    }
    expect(await items.findOne({ _id: 1 })).toEqual({ _id: 1, n: 2 });
  });
});

describe('transactions end', () => {
  test('when their lifetime expires, and waiting writes continue', async () => {
    const client = await serve({ transactionSeconds: 0.2 });
    const items = client.db('t').collection<Item>('c');
    await items.insertOne({ _id: 1, n: 0 });
    const session = client.startSession();
    session.startTransaction();
    await items.updateOne({ _id: 1 }, { $set: { n: 5 } }, { session });
    await items.updateOne({ _id: 1 }, { $inc: { n: 1 } });
    await expect(session.commitTransaction()).rejects.toMatchObject({
      code: 251,
      errorLabels: ['TransientTransactionError'],
    });
    await session.endSession();
    expect(await items.findOne({ _id: 1 })).toEqual({ _id: 1, n: 1 });
  });

  test('with the process: a committed one is kept and its commit is answered again, an open one leaves nothing', async () => {
    const dataDir = await folder();
    const first = await startEngineProcess(dataDir);
    let wire = await WireClient.connect(first.uri);
    const lsid = { id: new UUID() };
    const run = (txnNumber: number, $db: string, command: Document): Promise<Document> =>
      wire.command({ ...command, lsid, txnNumber: Long.fromNumber(txnNumber), autocommit: false, $db });
    const startTransaction = true;
    expect(await run(1, 't', { insert: 'c', documents: [{ _id: 1 }], startTransaction })).toMatchObject({ ok: 1 });
    expect(await run(1, 'admin', { commitTransaction: 1 })).toMatchObject({ ok: 1 });
    expect(await run(2, 't', { insert: 'c', documents: [{ _id: 2 }], startTransaction })).toMatchObject({ ok: 1 });
    expect(await run(2, 't', { insert: 'made', documents: [{ _id: 1 }] })).toMatchObject({ ok: 1 });
    await wire.command({ insert: 'other', documents: [{ _id: 1 }], $db: 't' });
    await first.kill();
    wire.close();
    const second = await startServer({ dataDir });
    cleanUp.push(() => second.close());
    const again = await connect(second.uri);
    wire = await WireClient.connect(second.uri);
    expect(await again.db('t').collection('c').find().toArray()).toEqual([{ _id: 1 }]);
    expect((await again.db('t').collections()).map((each) => each.collectionName).sort()).toEqual(['c', 'other']);
    expect(await run(1, 'admin', { commitTransaction: 1 })).toMatchObject({ ok: 1 });
    expect(await run(2, 'admin', { commitTransaction: 1 })).toMatchObject({ ok: 0, code: 251 });
    wire.close();
    expect((await again.db('t').command({ validate: 'c' })).valid).toBe(true);
  });
});
