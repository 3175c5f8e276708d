import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { freePort } from './free-ports.ts';

const REFERENCE = fileURLToPath(new URL('../../../shared/mongodb-references/start', import.meta.url));
const START_LIMIT_MS = 60_000;

/** Whether the independent MongoDB-compatible server is installed on this machine, next to the project. */
export const HAS_REFERENCE = existsSync(REFERENCE);

export interface ReferenceServer {
  readonly uri: string;
  /** Ends the process. */
  stop(): Promise<void>;
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>;
}

/** Starts the independent server on a folder, and waits until it answers. @param atPort default: a free port */
export async function startReference(folder: string, atPort?: number): Promise<ReferenceServer> {
  const port = atPort ?? (await freePort());
  const child = spawn(REFERENCE, [String(port), folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = once(child, 'exit');
  const uri = `mongodb://127.0.0.1:${port}/?replicaSet=secantus`;
  await answering(uri);
  return {
    uri,
    async stop() {
      if (child.kill()) await exited;
    },
    async kill() {
      if (child.kill('SIGKILL')) await exited;
    },
  };
}

async function answering(uri: string): Promise<void> {
  for (const end = Date.now() + START_LIMIT_MS; ; ) {
    const client = new MongoClient(uri, { serverSelectionTimeoutMS: 1000 });
    try {
      await client.connect();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
    } finally {
      await client.close();
    }
  }
}
