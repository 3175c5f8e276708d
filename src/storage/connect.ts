import { type Db, MongoClient, MongoServerSelectionError } from 'mongodb';

/** How long a start waits for the server, milliseconds. */
const CONNECT_MS = 10_000;
/** How long an operation waits for one: whoever asks is told soon, and asks again. */
const SELECTION_MS = 2000;

export interface Store {
  readonly client: MongoClient;
  readonly db: Db;
  close(): Promise<void>;
}

/**
 * Connects to any MongoDB-compatible server with the settings that the service relies on: acknowledged by a majority, retried writes,
 * NUL-safe BSON and nothing silently dropped.
 * @param uri a `mongodb://` URI; its path names the database, `fatoura` when it names none
 * @param monitorCommands whether the client tells of its commands, for those who count them: the driver decodes each answer twice then
 */
export async function connect(uri: string, databaseName?: string, monitorCommands = false): Promise<Store> {
  const client = new MongoClient(uri, {
    appName: 'fatoura',
    writeConcern: { w: 'majority' },
    readConcern: { level: 'majority' },
    retryWrites: true,
    ignoreUndefined: false,
    serverSelectionTimeoutMS: SELECTION_MS,
    maxPoolSize: 64,
    monitorCommands,
  });
  await connected(client);
  const db = client.db(databaseName ?? (client.options.dbName === 'test' ? 'fatoura' : client.options.dbName));
  return { client, db, close: () => client.close() };
}

async function connected(client: MongoClient): Promise<void> {
  const end = Date.now() + CONNECT_MS;
  for (;;) {
    try {
      await client.connect();
      return;
    } catch (error) {
      if (!(error instanceof MongoServerSelectionError) || Date.now() >= end) throw error;
    }
  }
}
