import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEngine } from '../../src/engine/embedded.ts';

/** A server for tests: its `mongodb://` URI, its kind, and a function that ends its use by the test file. */
export interface TestMongo {
  uri: string;
  kind: 'embedded' | 'memory-server' | 'url';
  close(): Promise<void>;
}

/** The embedded engine that the test files of this process share. */
let shared: Promise<TestMongo> | null = null;

/**
 * Returns the MongoDB server that a test runs on, of the kind that `startOwnMongo` would start. The files of a worker
 * process share one embedded engine, because each new engine compiles and optimizes its code again. A shared server is
 * not emptied: use the database names from `freshDbName()`. A file that stops, configures or damages its engine starts
 * its own.
 */
export async function startTestMongo(): Promise<TestMongo> {
  if (process.env.TEST_MONGODB_URL || process.env.TEST_MONGODB) return startOwnMongo();
  shared ??= startEmbedded((folder) => {
    // Vitest ends its processes with this signal.
    process.once('SIGTERM', () => {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
      process.kill(process.pid, 'SIGTERM');
    });
  });
  return { ...(await shared), close: async () => {} };
}

/**
 * Starts a server for the caller alone, which `close` stops. By default it is the embedded engine on an empty folder;
 * with `TEST_MONGODB=memory-server` a real mongod through mongodb-memory-server; with `TEST_MONGODB_URL=` a running
 * server, which is neither emptied nor stopped.
 */
export async function startOwnMongo(): Promise<TestMongo> {
  const url = process.env.TEST_MONGODB_URL;
  if (url) return { uri: url, kind: 'url', close: async () => {} };
  if (process.env.TEST_MONGODB === 'memory-server') {
    const { MongoMemoryReplSet } = await import('mongodb-memory-server');
    const server = await MongoMemoryReplSet.create({ replSet: { count: 1 } });
    return { uri: server.getUri(), kind: 'memory-server', close: async () => void (await server.stop()) };
  }
  return startEmbedded();
}

async function startEmbedded(created: (folder: string) => void = () => undefined): Promise<TestMongo> {
  const folder = await mkdtemp(join(tmpdir(), 'engine-'));
  created(folder);
  const engine = await startEngine({
    dataDir: folder,
    // Formatted like a failure, so that CI repeats it at the end: the files that share the engine only report that it
    // is gone.
    onFailure: (error) => console.error(`-- failed: the engine in ${folder} ended: ${error.stack ?? error.message}`),
  });
  return {
    uri: engine.uri,
    kind: 'embedded',
    close: async () => {
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns a database name that no other test uses, so that suites can share a server. */
export function freshDbName(prefix = 'test'): string {
  return `${prefix}_${randomBytes(6).toString('hex')}`;
}
