import { deserialize } from 'bson';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
