import MongoStore from 'connect-mongo';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

// The session store of Express applications.

let mongo: TestMongo;
let client: MongoClient;
let store: MongoStore;
const dbName = freshDbName('sessions');

beforeAll(async () => {
  mongo = await startTestMongo();
  client = await new MongoClient(mongo.uri).connect();
  store = MongoStore.create({
    client,
    dbName,
    collectionName: 'kept',
    ttl: 60,
    touchAfter: 0,
  });
});

afterAll(async () => {
  await store.close();
  await client.close();
  await mongo.close();
});

/** The result of a method that takes a callback. */
function answer<T>(call: (done: (error: unknown, result?: T | null) => void) => void): Promise<T | null> {
  return new Promise((resolve, reject) => {
    call((error, result) => (error ? reject(error as Error) : resolve(result ?? null)));
  });
}

const session = (user: string, maxAge = 60_000) => {
  const cookie = { originalMaxAge: maxAge, expires: new Date(Date.now() + maxAge) };
  return { cookie, user } as unknown as Parameters<MongoStore['set']>[1];
};

test('sessions are stored, read, replaced, listed, counted and removed', async () => {
  await answer((done) => store.set('one', session('Fatima'), done));
  await answer((done) => store.set('two', session('Omar'), done));
  await answer((done) => store.set('one', session('Leila'), done));
  expect(await answer((done) => store.get('one', done))).toMatchObject({ user: 'Leila' });
  expect(await answer((done) => store.length(done))).toBe(2);
  const all = (await answer<unknown>((done) => store.all(done as never))) as { user: string }[];
  expect(all.map(({ user }) => user).sort()).toEqual(['Leila', 'Omar']);
  await answer((done) => store.destroy('one', done));
  expect(await answer((done) => store.get('one', done))).toBeNull();
  await answer((done) => store.clear(done));
  expect(await answer((done) => store.length(done))).toBe(0);
});

test('a session that has ended is not read, and a use puts the end off', async () => {
  await answer((done) => store.set('short', session('Nour', -1), done));
  expect(await answer((done) => store.get('short', done))).toBeNull();
  await answer((done) => store.set('used', session('Sara', 1000), done));
  const collection = client.db(dbName).collection<{ session: string; expires: Date }>('kept');
  await answer((done) => store.touch('used', session('Sara', 3_600_000), done));
  const stored = await collection.findOne({ session: /Sara/ });
  expect(stored?.expires.getTime()).toBeGreaterThan(Date.now() + 3_000_000);
  // The server removes what has ended.
  expect(await collection.indexes()).toContainEqual(expect.objectContaining({ expireAfterSeconds: 0 }));
});
