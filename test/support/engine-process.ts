import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The engine's program. */
export const ENGINE_MAIN = fileURLToPath(new URL('../../src/engine/main.ts', import.meta.url));

/** The engine in a process of its own, so that a test can kill it. */
export interface EngineProcess {
  uri: string;
  child: ChildProcess;
  /** kill -9; resolves when the process is gone. */
  kill(): Promise<void>;
}

/** Starts `src/engine/main.ts`; rejects with what it printed when it ends before it serves. */
export async function startEngineProcess(dataDir: string, ...options: string[]): Promise<EngineProcess> {
  const child = spawn(process.execPath, [ENGINE_MAIN, '--data-dir', dataDir, ...options], {
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
