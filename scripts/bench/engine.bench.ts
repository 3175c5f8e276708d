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
import { type Db, MongoClient } from 'mongodb';
import { prepareRawWork } from './engine-raw.ts';
import { prepareWork, type StoreWork } from './engine-work.ts';
import type { Benchmark, Side } from './harness.ts';

const ENGINE = fileURLToPath(new URL('../../src/engine/main.ts', import.meta.url));
const REFERENCE = fileURLToPath(new URL('../../../shared/mongodb-references/start', import.meta.url));
const START_LIMIT_MS = 20_000;
/** Operations of each kind in one repeat. */
const QUICK = 100;
const FULL = 500;

/**
 * Each server runs in its own process and is used through the official driver: the engine on its socket, as in the
 * service; the reference server on a loopback port, the only address it supports, with `--sync-on-commit` (set by its
 * `start`). SQLite in this process, without server, driver or protocol, is the lower bound. All of them wait for the
 * disk before each acknowledgement.
 */
export const benchmark: Benchmark = {
  name: 'engine',
  about: 'the embedded engine; the peers are an independent MongoDB-compatible server, and SQLite in this process',
  sides: [
    side('embedded engine', async (folder) => {
      const child = spawn(process.execPath, [ENGINE, '--data-dir', folder], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [uri] = (await once(createInterface(child.stdout), 'line')) as [string];
      return { child, uri };
    }),
    ...(existsSync(REFERENCE) ? [side('reference server', startReference)] : []),
    rawSide(),
  ],
  answers: 'equal',
};

interface Running {
  readonly child: ChildProcess;
  readonly uri: string;
}

function side(name: string, start: (folder: string) => Promise<Running>): Side {
  let folder = '';
  let running: Running | null = null;
  let client: MongoClient | null = null;
  let work: StoreWork | null = null;
  return {
    name,
    async open() {
      folder = await mkdtemp(join(tmpdir(), 'engine-bench-'));
      running = await start(folder);
      client = await reach(running.uri);
      const db: Db = client.db('bench');
      work = await prepareWork(db);
    },
    run({ quick }) {
      if (!work) throw new Error(`${name} is not open`);
      return work.round(quick ? QUICK : FULL);
    },
    async close() {
      await work?.close();
      await client?.close();
      if (running) {
        const exited = once(running.child, 'exit');
        running.child.kill();
        await exited;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function rawSide(): Side {
  let folder = '';
  let work: StoreWork | null = null;
  return {
    name: 'SQLite in this process',
    async open() {
      folder = await mkdtemp(join(tmpdir(), 'engine-bench-'));
      work = prepareRawWork(join(folder, 'raw.sqlite'));
    },
    run({ quick }) {
      if (!work) throw new Error('SQLite is not open');
      return work.round(quick ? QUICK : FULL);
    },
    async close() {
      await work?.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startReference(folder: string): Promise<Running> {
  const port = await freePort();
  const child = spawn(REFERENCE, [String(port), folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  return { child, uri: `mongodb://127.0.0.1:${port}/?replicaSet=secantus` };
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
