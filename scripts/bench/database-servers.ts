import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { startReference } from '../../test/support/reference-server.ts';

const ENGINE = fileURLToPath(new URL('../../src/engine/main.ts', import.meta.url));

/** A MongoDB-compatible server in its own process, with an empty folder. */
export interface DatabaseServer {
  readonly client: MongoClient;
  /** Ends the process and removes the folder. */
  close(): Promise<void>;
}

/** A started server. */
interface Started {
  readonly uri: string;
  stop(): Promise<void>;
}

/** Opens the embedded engine on its socket, as in the service. */
export function openEngine(): Promise<DatabaseServer> {
  return open(async (folder) => {
    const child = spawn(process.execPath, [ENGINE, '--data-dir', folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    const [uri] = (await once(createInterface(child.stdout), 'line')) as [string];
    return {
      uri,
      async stop() {
        if (child.kill()) await exited;
      },
    };
  });
}

/**
 * Opens the reference server on a loopback port, the only address it supports, with `--sync-on-commit` (set by its
 * `start`).
 */
export function openReference(): Promise<DatabaseServer> {
  return open(startReference);
}

async function open(start: (folder: string) => Promise<Started>): Promise<DatabaseServer> {
  const folder = await mkdtemp(join(tmpdir(), 'engine-bench-'));
  const { uri, stop } = await start(folder);
  // With the service's options.
  const client = await new MongoClient(uri, { writeConcern: { w: 'majority' }, maxPoolSize: 64 }).connect();
  return {
    client,
    async close() {
      await client.close();
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
