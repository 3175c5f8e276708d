import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-ports.ts';

/** The engine's program. */
export const ENGINE_MAIN = fileURLToPath(new URL('../../src/engine/main.ts', import.meta.url));

/** The engine in its own process, so that a test can kill it. */
export interface EngineProcess {
  uri: string;
  child: ChildProcess;
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>;
}

/** Starts `src/engine/main.ts`. Rejects with its output when it ends before it is ready. */
export function startEngineProcess(dataDir: string, ...options: string[]): Promise<EngineProcess> {
  return startEngineAs({}, dataDir, ...options);
}

/** Starts an engine on a port outside of the ephemeral range: the port is still free when the engine starts again. */
export async function startEngineAtOwnPort(dataDir: string): Promise<EngineProcess> {
  for (let left = 20; ; left--) {
    try {
      return await startEngineProcess(dataDir, '--port', String(await freePort()));
    } catch (error) {
      if (left === 0 || !String(error).includes('is taken')) throw error;
    }
  }
}

/** For tests that run as root, for whom file modes have no effect: the user `nobody`. Otherwise the present user. */
export const UNPRIVILEGED = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/** Like {@link startEngineProcess}, as another user. */
export async function startEngineAs(
  user: { uid?: number; gid?: number },
  dataDir: string,
  ...options: string[]
): Promise<EngineProcess> {
  const child = spawn(process.execPath, [ENGINE_MAIN, '--data-dir', dataDir, ...options], {
    ...user,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  let printed = '';
  child.stderr.on('data', (chunk) => {
    printed += chunk;
  });
  const uri = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve);
    child.once('close', (code) => reject(new Error(`ended with code ${code}: ${printed}`)));
  });
  return {
    uri,
    child,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
