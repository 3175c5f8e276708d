import { connect, type Store } from '../../src/storage/connect.ts';
import { ensureIndexes } from '../../src/storage/indexes.ts';
import { freshDbName, startTestMongo, type TestMongo } from './mongodb.ts';

/**
 * Opens a store with its indexes in a new database, which `close` removes.
 * @param monitorCommands whether its client reports its commands
 * @param mongo its server, which `close` closes; default: the one of `startTestMongo`
 */
export async function openTestStore(name: string, monitorCommands = false, mongo?: TestMongo): Promise<Store> {
  const server = mongo ?? (await startTestMongo());
  const store = await connect(server.uri, freshDbName(name), monitorCommands);
  await ensureIndexes(store.db);
  return {
    ...store,
    async close() {
      await store.db.dropDatabase();
      await store.close();
      await server.close();
    },
  };
}

/**
 * Opens the same database through another client, as another process would. Close it before `store`.
 * @param ownClock see `connect`
 */
export async function openBeside({ db }: Pick<Store, 'db'>, ownClock = false): Promise<Store> {
  const server = await startTestMongo();
  const store = await connect(server.uri, db.databaseName, false, ownClock);
  return {
    ...store,
    async close() {
      await store.close();
      await server.close();
    },
  };
}
