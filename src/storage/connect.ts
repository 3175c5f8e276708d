import { type Db, MongoClient, MongoServerSelectionError } from 'mongodb';
import { watchStoreClock } from './store-clock.ts';

/** How long the start waits for the database server, milliseconds. */
export const CONNECT_MS = 10_000;
/**
 * How long an operation waits for a usable server, milliseconds. Short, so that clients get an error soon and retry.
 */
const SELECTION_MS = 2000;
/** Maximum number of connections to one server. */
const MAX_CONNECTIONS = 64;

/** The use of this process's connections to the store. */
export interface ConnectionPool {
  readonly open: number;
  /** Connections in use, including the connections of change streams, which wait for the server. */
  readonly inUse: number;
  /** Commands that wait for a connection. */
  readonly waiting: number;
  /** Number of commands that failed to get a connection since the process started. */
  readonly failures: number;
  /** Maximum number of open connections to one server. */
  readonly max: number;
}

export interface Store {
  readonly pool: () => ConnectionPool;
  readonly client: MongoClient;
  readonly db: Db;
  close(): Promise<void>;
}

/**
 * Connects to a MongoDB-compatible server with the settings that the service relies on: majority write concern and read
 * concern, retryable writes, and `undefined` values stored as null instead of being dropped.
 * @param uri a `mongodb://` URI; its path names the database, `fatoura` if it has none
 * @param monitorCommands whether the client emits command events, which tests count; the driver then decodes each reply
 * twice
 * @param ownClock whether the server's clock may differ from this machine's (`storeClock`)
 * @throws when no server can be reached within {@link CONNECT_MS}, or when it refuses the connection
 */
export async function connect(
  uri: string,
  databaseName?: string,
  monitorCommands = false,
  ownClock = false,
): Promise<Store> {
  const client = new MongoClient(uri, {
    appName: 'fatoura',
    writeConcern: { w: 'majority' },
    readConcern: { level: 'majority' },
    retryWrites: true,
    ignoreUndefined: false,
    serverSelectionTimeoutMS: SELECTION_MS,
    maxPoolSize: MAX_CONNECTIONS,
    monitorCommands,
  });
  const pool = watchPool(client);
  if (ownClock) watchStoreClock(client);
  await connected(client);
  const db = client.db(databaseName ?? (client.options.dbName === 'test' ? 'fatoura' : client.options.dbName));
  return { client, db, pool, close: () => client.close() };
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

/** Counts connections by the driver's events. The driver creates them even without listeners, so this costs little. */
function watchPool(client: MongoClient): () => ConnectionPool {
  const pool = { open: 0, inUse: 0, waiting: 0, failures: 0, max: MAX_CONNECTIONS };
  client.on('connectionCreated', () => pool.open++);
  client.on('connectionClosed', () => pool.open--);
  client.on('connectionCheckOutStarted', () => pool.waiting++);
  client.on('connectionCheckedOut', () => {
    pool.waiting--;
    pool.inUse++;
  });
  client.on('connectionCheckOutFailed', () => {
    pool.waiting--;
    pool.failures++;
  });
  client.on('connectionCheckedIn', () => pool.inUse--);
  return () => pool;
}
