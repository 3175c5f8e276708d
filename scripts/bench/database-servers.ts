import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';

const ENGINE = fileURLToPath(new URL('../../src/engine/main.ts', import.meta.url));
const REFERENCE = fileURLToPath(new URL('../../../shared/mongodb-references/start', import.meta.url));
const START_LIMIT_MS = 20_000;

/** A MongoDB-compatible server in its own process, with an empty folder. */
export interface DatabaseServer {
  readonly client: MongoClient;
  /** Ends the process and removes the folder. */
  close(): Promise<void>;
}

interface Running {
  readonly child: ChildProcess;
  readonly uri: string;
}

/** The embedded engine on its socket, as in the service. */
export function openEngine(): Promise<DatabaseServer> {
  return open(async (folder) => {
    const child = spawn(process.execPath, [ENGINE, '--data-dir', folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [uri] = (await once(createInterface(child.stdout), 'line')) as [string];
    return { child, uri };
  });
}

/** Whether the independent reference server is on this machine. */
export const hasReference = existsSync(REFERENCE);

/** The reference server on a loopback port, the only address it supports, with `--sync-on-commit` (set by its `start`). */
export function openReference(): Promise<DatabaseServer> {
  return open(async (folder) => {
    const port = await freePort();
    const child = spawn(REFERENCE, [String(port), folder], { stdio: ['ignore', 'ignore', 'inherit'] });
    return { child, uri: `mongodb://127.0.0.1:${port}/?replicaSet=secantus` };
  });
}

async function open(start: (folder: string) => Promise<Running>): Promise<DatabaseServer> {
  const folder = await mkdtemp(join(tmpdir(), 'engine-bench-'));
  const { child, uri } = await start(folder);
  const client = await reach(uri);
  return {
    client,
    async close() {
      await client.close();
      const exited = once(child, 'exit');
      child.kill();
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Connects with the service's options, as soon as the server answers. */
async function reach(uri: string): Promise<MongoClient> {
  const end = Date.now() + START_LIMIT_MS;
  for (;;) {
    const client = new MongoClient(uri, {
      writeConcern: { w: 'majority' },
      serverSelectionTimeoutMS: 1000,
      maxPoolSize: 64,
    });
    try {
      return await client.connect();
    } catch (error) {
      await client.close();
      if (Date.now() > end) throw error;
      await sleep(100);
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no free port');
  return address.port;
}
