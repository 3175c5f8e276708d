import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect, type Store } from '../../src/storage/connect.ts';
import { createDocumentStore } from '../../src/storage/documents.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

let mongo: TestMongo;
let store: Store;

beforeAll(async () => {
  mongo = await startTestMongo();
  store = await connect(mongo.uri, freshDbName('documents'));
});
afterAll(async () => {
  await store.db.dropDatabase();
  await store.close();
  await mongo.close();
});

it('returns the stored bytes, also of several chunks', async () => {
  const documents = createDocumentStore(store.db);
  for (const size of [0, 1, 5 * 1024 * 1024]) {
    const bytes = Buffer.alloc(size, 'é€');
    const stored = await documents.put(bytes, 'a.xml', 'application/xml');
    expect(stored).toMatchObject({ size, sha256: createHash('sha256').update(bytes).digest('hex') });
    expect(Buffer.compare(await documents.get(stored), bytes)).toBe(0);
  }
});

it.each(['files', 'chunks'])(
  'says so when the store refuses a write to its %s: nothing counts as stored',
  async (part) => {
    // A second write violates the unique index on every server.
    const other = store.client.db(`${store.db.databaseName}_${part}`);
    const collection = other.collection(`documents.${part}`);
    await collection.insertOne({ refused: 1 });
    await collection.createIndex({ always_missing: 1 }, { unique: true });
    try {
      await expect(createDocumentStore(other).put(Buffer.from('<a/>'), 'a.xml', 'application/xml')).rejects.toThrow(
        /E11000/,
      );
    } finally {
      await other.dropDatabase();
    }
  },
);
