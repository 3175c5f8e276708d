import { connect, type Store } from '../../src/storage/connect.ts';
import { ensureIndexes } from '../../src/storage/indexes.ts';
import { freshDbName, startTestMongo, type TestMongo } from './mongodb.ts';

/**
 * A store with its indexes in a database of its own; `close` leaves nothing behind.
 * @param monitorCommands whether its client tells of its commands
 * @param mongo its server, which `close` closes; the one of `startTestMongo` if absent
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
 * The same database through a client of its own, as another process has it. To be closed before `store`.
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
