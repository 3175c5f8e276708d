import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect, type Store } from '../../src/storage/connect.ts';
import { createInstallationRepository } from '../../src/storage/installation.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

let mongo: TestMongo;
let store: Store;
beforeAll(async () => {
  mongo = await startTestMongo();
  store = await connect(mongo.uri, freshDbName('installation'));
});
afterAll(async () => {
  await store?.db.dropDatabase();
  await store?.close();
  await mongo?.close();
});

it('of many processes that start at once, one stores the secret of the invoice ids, and all get it', async () => {
  const installation = createInstallationRepository(store.db);
  const told = await Promise.all(Array.from({ length: 16 }, (_, n) => installation.keepInvoiceIdSecret(`secret ${n}`)));
  expect(new Set(told).size).toBe(1);
  expect(await createInstallationRepository(store.db).keepInvoiceIdSecret('later')).toBe(told[0]);
});
