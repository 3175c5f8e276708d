import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { SimulatorSettings } from '../../scripts/authority-simulator/simulator.ts';

const MAIN = fileURLToPath(new URL('../../scripts/authority-simulator/main.ts', import.meta.url));

/** The authority simulator in its own process, so that a test can kill it. */
export interface SimulatorProcess {
  readonly url: string;
  readonly settings: SimulatorSettings;
  /** Calls a command of the control port; rejects unless it is done. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever is answered
  control(method: string, path: string, body?: object): Promise<any>;
  readonly child: ChildProcess;
  /** Sends a signal (by default SIGKILL). @returns the exit code when it has ended, null after SIGKILL */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Runs the program to its end. @returns the exit code and its output */
export async function runSimulatorProgram(...options: string[]): Promise<{ code: number | null; printed: string }> {
  const child = spawn(process.execPath, [MAIN, ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk) => {
      printed += chunk;
    });
  const [code] = await once(child, 'close');
  return { code, printed };
}

/**
 * Starts the simulator on free ports. Rejects with its output when it ends before it is ready.
 * @param dataDir its folder, or the working directory that contains its default folder
 */
export async function startSimulatorProcess(
  dataDir: string | { readonly cwd: string },
  ...options: string[]
): Promise<SimulatorProcess> {
  const folder = typeof dataDir === 'string' ? ['--data-dir', dataDir] : [];
  const child = spawn(process.execPath, [MAIN, '--port', '0', ...folder, '--json', ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(typeof dataDir !== 'string' && dataDir),
  });
  const exited = once(child, 'exit');
  let failure = '';
  (child.stderr as Readable).on('data', (chunk) => {
    failure += chunk;
  });
  const line = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout as Readable).once('line', resolve);
    child.once('close', (code) => reject(new Error(`ended with code ${code}: ${failure}`)));
  });
  const { url, control_url: controlUrl, settings } = JSON.parse(line);
  return {
    url,
    settings,
    child,
    async control(method, path, body) {
      const answer = await fetch(`${controlUrl}${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${answer.status} ${text}`);
      return JSON.parse(text);
    },
    async end(signal = 'SIGKILL') {
      child.kill(signal);
      const [code] = await exited;
      return code;
    },
  };
}
