import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Engine, startEngine } from '../../src/engine/embedded.ts';
import { Cursors, IteratorSource } from '../../src/engine/store/cursors.ts';
import { firstOf, testLong } from '../support/samples.ts';

/** Runs the embedded engine with a fast TTL monitor and a small oplog. */
let folder: string;
let engine: Engine;
let client: MongoClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'engine-'));
  engine = await startEngine({ dataDir: folder, ttlSeconds: 0.1, oplogBytes: 200_000 });
  client = await new MongoClient(engine.uri).connect();
});

afterAll(async () => {
  await client.close();
  await engine.close();
  await rm(folder, { recursive: true, force: true });
});

async function eventually(check: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 30_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 20))) {
    if (await check()) return;
  }
  throw new Error('did not come about within 30 s');
}

test('a TTL index removes only expired documents; collMod changes the expiry time', async () => {
  const sessions = client.db('ttl').collection<{ _id: string; at?: unknown }>('sessions');
  await sessions.createIndex({ at: 1 }, { expireAfterSeconds: 60 });
  const ago = (seconds: number): Date => new Date(Date.now() - seconds * 1000);
  await sessions.insertMany([
    { _id: 'old', at: ago(61) },
    { _id: 'oldest of several', at: [ago(0), ago(100)] },
    { _id: 'young', at: ago(30) },
    { _id: 'no date', at: 'yesterday' },
    { _id: 'none' },
  ]);
  const left = async (): Promise<string[]> =>
    (await sessions.find().sort({ _id: 1 }).toArray()).map((each) => each._id);
  await eventually(async () => (await left()).length === 3);
  expect(await left()).toEqual(['no date', 'none', 'young']);
  expect(
    await client.db('ttl').command({ collMod: 'sessions', index: { keyPattern: { at: 1 }, expireAfterSeconds: 10 } }),
  ).toMatchObject({
    expireAfterSeconds_old: 60,
    expireAfterSeconds_new: 10,
  });
  await eventually(async () => (await left()).length === 2);
  expect((await sessions.indexes())[1]).toMatchObject({ expireAfterSeconds: 10 });
});

test('TTL indexes take turns: a long backlog of one does not keep the documents of another', async () => {
  const db = client.db('turns');
  const of = (name: string) => db.collection<{ _id: number; at: Date }>(name);
  for (const name of ['a_many', 'b_few']) await of(name).createIndex({ at: 1 }, { expireAfterSeconds: 60 });
  const stream = db.watch([{ $match: { operationType: 'delete' } }]);
  expect(await stream.tryNext()).toBeNull();
  const at = new Date(Date.now() - 3_600_000);
  // At once, so that one run finds all of them.
  await client.withSession((session) =>
    session.withTransaction(async () => {
      await of('a_many').insertMany(
        Array.from({ length: 400 }, (_, _id) => ({ _id, at })),
        { session },
      );
      await of('b_few').insertOne({ _id: 1, at }, { session });
    }),
  );
  const removed: unknown[] = [];
  while (removed.length < 401) {
    const event = await stream.next();
    if (event.operationType === 'delete') removed.push(event.ns.coll);
  }
  await stream.close();
  expect(removed.indexOf('b_few')).toBeLessThan(400);
});

testLong('a collMod that lengthens the expiry time holds for a run that has begun', async () => {
  const rows = client.db('ttl').collection<{ _id: number; at: Date }>('many');
  const expireAfter = (expireAfterSeconds: number) =>
    client.db('ttl').command({ collMod: 'many', index: { keyPattern: { at: 1 }, expireAfterSeconds } });
  await rows.createIndex({ at: 1 }, { expireAfterSeconds: 7200 });
  const at = new Date(Date.now() - 3_600_000);
  let left = 0;
  // More and more documents, until a run is not over before its time changes.
  for (let count = 20_000; left === 0; count *= 2) {
    await rows.insertMany(Array.from({ length: count }, (_, _id) => ({ _id, at })));
    await expireAfter(1800);
    await eventually(async () => (await rows.estimatedDocumentCount()) < count);
    await expireAfter(7200);
    left = await rows.estimatedDocumentCount();
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await rows.countDocuments()).toBe(left);
});

test('a hidden TTL index removes any number of documents; one held by a transaction does not block the others', async () => {
  const db = client.db('ttl-more');
  const [first, second] = [db.collection<{ _id: number; at: Date; n?: number }>('a'), db.collection<{ at: Date }>('b')];
  await first.createIndex({ at: 1 }, { expireAfterSeconds: 0, hidden: true });
  const session = client.startSession();
  // Repeats with a later expiry time until the transaction gets hold of the document before it expires.
  let over = 0;
  for (let ahead = 1000, taken = 0; taken === 0; ahead *= 2) {
    over = Date.now() + ahead;
    await first.updateOne({ _id: 1 }, { $set: { at: new Date(over) } }, { upsert: true });
    session.startTransaction();
    taken = (await first.updateOne({ _id: 1 }, { $set: { n: 1 } }, { session })).matchedCount;
    if (taken === 0) await session.abortTransaction();
  }
  await eventually(async () => Date.now() > over);
  await second.createIndex({ at: 1 }, { expireAfterSeconds: 0 });
  await second.insertMany(Array.from({ length: 2500 }, () => ({ at: new Date(0) })));
  await eventually(async () => (await second.countDocuments()) === 0);
  expect(await first.countDocuments()).toBe(1);
  await session.abortTransaction();
  await session.endSession();
  await eventually(async () => (await first.countDocuments()) === 0);
}, 120_000);

test('a TTL removal emits a delete event', async () => {
  const codes = client.db('ttl').collection<{ _id: number; at: Date }>('codes');
  await codes.createIndex({ at: 1 }, { expireAfterSeconds: 0 });
  const stream = codes.watch([{ $match: { operationType: 'delete' } }], { maxAwaitTimeMS: 50 });
  await stream.tryNext();
  await codes.insertOne({ _id: 1, at: new Date() });
  expect(await stream.next()).toMatchObject({ operationType: 'delete', documentKey: { _id: 1 } });
  await stream.close();
});

test('the oplog is bounded: resuming from a trimmed token is error 286, from a recent one works', async () => {
  const collection = client.db('history').collection<{ _id: number; text: string }>('c');
  const stream = collection.watch([], { maxAwaitTimeMS: 50 });
  await stream.tryNext();
  const old = stream.resumeToken;
  const text = 'x'.repeat(1000);
  for (let first = 0; first < 600; first += 30)
    await collection.insertMany(Array.from({ length: 30 }, (_, n) => ({ _id: first + n, text })));
  const stale = collection.watch([], { resumeAfter: old });
  await expect(stale.next()).rejects.toMatchObject({ code: 286 });
  const fresh = collection.watch([], { maxAwaitTimeMS: 50 });
  await fresh.tryNext();
  await collection.insertOne({ _id: 1000, text });
  const resumed = collection.watch([], { resumeAfter: fresh.resumeToken });
  expect(await resumed.next()).toMatchObject({ documentKey: { _id: 1000 } });
  await Promise.all([stream, stale, fresh, resumed].map((each) => each.close()));
});

test('idle cursors are closed after ten minutes, unless opened with noCursorTimeout', () => {
  const cursors = new Cursors();
  const options = { ns: 'db.c', session: undefined };
  const mortal = cursors.add(new IteratorSource([]), { ...options, noTimeout: false });
  const immortal = cursors.add(new IteratorSource([]), { ...options, noTimeout: true });
  cursors.killIdle(Date.now() + 9 * 60_000);
  expect(cursors.size).toBe(2);
  cursors.killIdle(Date.now() + 11 * 60_000);
  expect(mortal.killed).toBe(true);
  expect(cursors.get(immortal.id, 'db.c')).toBe(immortal);
});

test('beyond the maximum, the cursor that was not used for the longest time is closed, none that is in use', () => {
  const cursors = new Cursors(3);
  const open = () => cursors.add(new IteratorSource([]), { ns: 'db.c', session: undefined, noTimeout: true });
  const [first, second, third] = [open(), open(), open()];
  first.busy = true;
  cursors.get(second.id, 'db.c');
  open();
  expect([first, second, third].map(({ killed }) => killed)).toEqual([false, false, true]);
  expect(cursors.size).toBe(3);
  for (const cursor of [first, second]) expect(cursors.get(cursor.id, 'db.c')).toBe(cursor);
  second.busy = true;
  const last = open();
  last.busy = true;
  expect(open).toThrow(expect.objectContaining({ code: 146 }));
});

testLong('the oplog keeps to its size under bulk inserts', async () => {
  const own = await mkdtemp(join(tmpdir(), 'oplog-'));
  const limit = 2_000_000;
  const filling = await startEngine({ dataDir: own, oplogBytes: limit });
  const writer = await new MongoClient(filling.uri).connect();
  const documents = Array.from({ length: 5000 }, () => ({ text: 'x'.repeat(400) }));
  for (let i = 0; i < 6; i++)
    await writer
      .db('bulk')
      .collection('c')
      .insertMany(documents.map((each) => ({ ...each })));
  await writer.close();
  await filling.close();
  const file = new DatabaseSync(join(own, 'engine.sqlite'));
  const { size } = file.prepare('SELECT max(pos) - min(pos) AS size FROM oplog').get() as { size: number };
  file.close();
  await rm(own, { recursive: true, force: true });
  expect(size).toBeLessThan(1.05 * limit);
  expect(size).toBeGreaterThan(0.9 * limit);
});

test.each(firstOf(['maintenance', 'compact']))('%s gives the space of dropped documents back', async (by) => {
  const own = await mkdtemp(join(tmpdir(), 'space-'));
  const filling = await startEngine({ dataDir: own, oplogBytes: 200_000, ttlSeconds: by === 'compact' ? 3600 : 0.1 });
  const writer = await new MongoClient(filling.uri).connect();
  const db = writer.db('space');
  // 24 MB, and 1 MB that stays.
  const documents = (count: number) =>
    Array.from({ length: count }, () => ({ text: randomBytes(4000).toString('hex') }));
  await db.collection('kept').insertMany(documents(125));
  for (let i = 0; i < 3; i++) await db.collection('dropped').insertMany(documents(1000));
  const size = () => statSync(join(own, 'engine.sqlite')).size;
  await db.dropCollection('dropped');
  if (by === 'compact') {
    const { bytesFreed } = await db.command({ compact: 'kept' });
    expect(Number(bytesFreed)).toBeGreaterThan(20_000_000);
  }
  // The file shrinks when the log is copied into it.
  const isSmall = async () => {
    await db.collection('more').insertMany(documents(100));
    await db.dropCollection('more');
    return size() < 20_000_000;
  };
  await eventually(isSmall);
  expect(await db.command({ validate: 'kept' })).toMatchObject({ valid: true, nrecords: 125 });
  const both = db.command({ validate: 'kept', full: true, background: true });
  await expect(both).rejects.toMatchObject({ code: 72 });
  await writer.close();
  await filling.close();
  await rm(own, { recursive: true, force: true });
});

test('a drop answers before its documents are removed; nobody sees them, and the next start goes on with the removal', async () => {
  const own = await mkdtemp(join(tmpdir(), 'drop-'));
  const rows = () => {
    const file = new DatabaseSync(join(own, 'engine.sqlite'), { readOnly: true });
    const counts = ['doc', 'idx'].map((table) => file.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
    file.close();
    return counts;
  };
  const withDb = async (ttlSeconds: number, work: (db: Db) => Promise<void>) => {
    const holder = await startEngine({ dataDir: own, ttlSeconds });
    const from = await new MongoClient(holder.uri).connect();
    await work(from.db('drops'));
    await from.close();
    await holder.close();
  };
  const documents = Array.from({ length: 5000 }, (_, n) => ({ n }));
  await withDb(3600, async (db) => {
    const large = db.collection('large');
    await large.createIndex({ n: 1 }, { unique: true });
    await large.insertMany(documents);
    await db.dropCollection('large');
    expect(await db.listCollections().toArray()).toEqual([]);
    // Neither the same name nor another collection gets what is left.
    await large.insertOne({ n: 1 });
    await db.collection('other').insertOne({ n: 2 });
    for (const [name, n] of Object.entries({ large: 1, other: 2 })) {
      expect(
        await db
          .collection(name)
          .find({}, { projection: { _id: 0 } })
          .toArray(),
      ).toEqual([{ n }]);
      expect(await db.command({ validate: name })).toMatchObject({ valid: true, nrecords: 1 });
    }
  });
  // The drop removed a part only.
  expect(rows()[0]).toBeGreaterThan(2500);
  await withDb(0.05, async (db) => {
    expect(await db.collection('large').countDocuments()).toBe(1);
    await db.collection('third').insertOne({ n: 3 });
    await eventually(async () => (await db.command({ compact: 'large' })).ok === 1);
  });
  expect(rows()).toEqual([3, 3]);
  await rm(own, { recursive: true, force: true });
});
