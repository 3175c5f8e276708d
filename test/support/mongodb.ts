import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEngine } from '../../src/engine/embedded.ts';

/** A server for one test file: its `mongodb://` URI, its kind, and a function that stops it. */
export interface TestMongo {
  uri: string;
  kind: 'embedded' | 'memory-server' | 'url';
  close(): Promise<void>;
}

/**
 * Starts the MongoDB server that a test runs on: by default the embedded engine on an empty folder, with
 * `TEST_MONGODB=memory-server` a real mongod through mongodb-memory-server, with `TEST_MONGODB_URL=` a running server.
 * A shared server is not emptied: use the database names from `freshDbName()`.
 */
export async function startTestMongo(): Promise<TestMongo> {
  const url = process.env.TEST_MONGODB_URL;
  if (url) return { uri: url, kind: 'url', close: async () => {} };
  if (process.env.TEST_MONGODB === 'memory-server') {
    const { MongoMemoryReplSet } = await import('mongodb-memory-server');
    const server = await MongoMemoryReplSet.create({ replSet: { count: 1 } });
    return { uri: server.getUri(), kind: 'memory-server', close: async () => void (await server.stop()) };
  }
  const folder = await mkdtemp(join(tmpdir(), 'engine-'));
  const engine = await startEngine({ dataDir: folder });
  return {
    uri: engine.uri,
    kind: 'embedded',
    close: async () => {
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A database name that no other test uses, so that suites can share a server. */
export function freshDbName(prefix = 'test'): string {
  return `${prefix}_${randomBytes(6).toString('hex')}`;
}
