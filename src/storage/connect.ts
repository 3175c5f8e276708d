import { type Db, MongoClient, MongoServerSelectionError } from 'mongodb';
import { watchStoreClock } from './store-clock.ts';

/** How long the start waits for the server, milliseconds. */
export const CONNECT_MS = 10_000;
/**
 * How long an operation waits for a usable server, milliseconds. Short, so that clients soon get an error and retry.
 */
const SELECTION_MS = 2000;
/** Connections to one server. */
const MAX_CONNECTIONS = 64;

/** The connections of a process to the store. */
export interface ConnectionPool {
  readonly open: number;
  /** Connections in use, including the connections of change streams, which wait for the server. */
  readonly inUse: number;
  /** Commands that wait for a connection. */
  readonly waiting: number;
  /** Commands that got none, since the start. */
  readonly failures: number;
  /** How many may be open to a server. */
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
 * @param monitorCommands whether the client emits command events, which tests count. The driver then decodes each
 * answer twice
 * @param ownClock whether the server may have another clock than this machine (`storeClock`)
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

/** Counts by the driver's events, which it makes whether anybody listens or not. */
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
