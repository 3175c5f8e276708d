import type { Collection } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { batchedFind } from '../../src/storage/batched-find.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

interface Row {
  _id: string;
  n: number;
}

let mongo: TestMongo;
let store: Store;
let rows: Collection<Row>;
let searches: number;

beforeAll(async () => {
  mongo = await startTestMongo();
  store = await connect(mongo.uri, freshDbName('batched'), true);
  rows = store.db.collection<Row>('rows');
  await rows.insertMany(Array.from({ length: 250 }, (_, n) => ({ _id: `row_${n}`, n })));
  store.client.on('commandStarted', ({ commandName }) => {
    if (commandName === 'find') searches++;
  });
});
beforeEach(() => {
  searches = 0;
});
afterAll(async () => {
  await store.db.dropDatabase();
  await store.close();
  await mongo.close();
});

it('finds the document of each id, with one query for all calls of one turn', async () => {
  const find = batchedFind(rows, (row) => row);
  const ids = ['row_3', 'row_1', 'row_none', 'row_3', 'row_2'];
  const found = await Promise.all(ids.map(find));
  expect(found.map((each) => each?.n ?? null)).toEqual([3, 1, null, 3, 2]);
  expect(searches).toBe(1);
});

it('queries for at most a hundred ids at once', async () => {
  const find = batchedFind(rows, (row) => row);
  const found = await Promise.all(Array.from({ length: 250 }, (_, n) => find(`row_${n}`)));
  expect(found.map((each) => each?.n)).toEqual(Array.from({ length: 250 }, (_, n) => n));
  expect(searches).toBe(3);
});

it('returns the state of the document after the call, at each call', async () => {
  const find = batchedFind(rows, (row) => row);
  for (let n = 0; n < 5; n++) {
    void find('row_7');
    await rows.updateOne({ _id: 'row_7' }, { $set: { n } });
    expect(await find('row_7')).toMatchObject({ n });
  }
});

it('fails for all callers of the batch, and queries again at the next call', async () => {
  let broken = true;
  const breakable = {
    find: (...args: Parameters<typeof rows.find>) =>
      broken ? { toArray: () => Promise.reject(new Error('away')) } : rows.find(...args),
  } as unknown as typeof rows;
  const find = batchedFind(breakable, (row) => row);
  const results = await Promise.allSettled([find('row_1'), find('row_2')]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  broken = false;
  expect(await find('row_1')).toMatchObject({ n: 1 });
});

it('does not find a document that was found before and then removed', async () => {
  const find = batchedFind(rows, (row) => row);
  await rows.insertOne({ _id: 'row_gone', n: 1 });
  expect(await find('row_gone')).toEqual({ _id: 'row_gone', n: 1 });
  await rows.deleteOne({ _id: 'row_gone' });
  expect(await find('row_gone')).toBeNull();
  await rows.insertOne({ _id: 'row_gone', n: 2 });
  expect(await find('row_gone')).toEqual({ _id: 'row_gone', n: 2 });
});
