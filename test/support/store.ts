import { connect, type Store } from '../../src/storage/connect.ts';
import { ensureIndexes } from '../../src/storage/indexes.ts';
import { freshDbName, startTestMongo } from './mongodb.ts';

/**
 * A store with its indexes in a database of its own, on the server that `startTestMongo` chooses; `close` leaves nothing behind.
 * @param monitorCommands whether its client tells of its commands
 */
export async function openTestStore(name: string, monitorCommands = false): Promise<Store> {
  const mongo = await startTestMongo();
  const store = await connect(mongo.uri, freshDbName(name), monitorCommands);
  await ensureIndexes(store.db);
  return {
    ...store,
    async close() {
      await store.db.dropDatabase();
      await store.close();
      await mongo.close();
    },
  };
}
