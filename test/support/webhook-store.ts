import { afterAll, afterEach, beforeAll } from 'vitest';
import type { Store } from '../../src/storage/connect.ts';
import { openTestStore } from './store.ts';

/**
 * Opens a store before the tests of a file and closes it after them. Removes the deliveries of each test after it,
 * because sweeps cover all tenants.
 * @param take receives the store before the first test
 */
export function openedForDeliveries(take: (store: Store) => void): void {
  let store: Store;
  beforeAll(async () => {
    store = await openTestStore('webhooks');
    take(store);
  });
  afterEach(async () => void (await store.db.collection('webhook_deliveries').deleteMany({})));
  afterAll(() => store.close());
}
