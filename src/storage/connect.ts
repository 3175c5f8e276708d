import { type Db, MongoClient } from 'mongodb';

export interface Store {
  readonly client: MongoClient;
  readonly db: Db;
  close(): Promise<void>;
}

/**
 * Connects to any MongoDB-compatible server with the settings that the service relies on: acknowledged by a majority, retried writes,
 * NUL-safe BSON and nothing silently dropped.
 * @param uri a `mongodb://` URI; its path names the database, `fatoura` when it names none
 */
export async function connect(uri: string, databaseName?: string): Promise<Store> {
  const client = new MongoClient(uri, {
    appName: 'fatoura',
    writeConcern: { w: 'majority' },
    readConcern: { level: 'majority' },
    retryWrites: true,
    ignoreUndefined: false,
    serverSelectionTimeoutMS: 10_000,
    maxPoolSize: 64,
    monitorCommands: true,
  });
  await client.connect();
  const db = client.db(databaseName ?? (client.options.dbName === 'test' ? 'fatoura' : client.options.dbName));
  return { client, db, close: () => client.close() };
}
