import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const LISTENS = /^Fatoura listens on (\S+)$/;
const SECRET = /^ +secret +(\S+)$/;
/** pino's level of errors: defects, unlike the warnings that failing attempts are. */
const ERROR_LEVEL = 50;

/** A service that is killed and started again on the same folder. */
export interface DoomedServer {
  /** The address of the process that serves at present: waits while there is none. */
  url(): Promise<string>;
  /** The demo tenant's key, which the first start prints. */
  secretKey(): string;
  readonly seen: {
    /** When the service began to serve (UNIX milliseconds), a moment for each process that got so far. */
    readonly readyAt: number[];
    /** What the processes logged as errors, and why one ended that was not killed. */
    readonly complaints: string[];
  };
  /** Starts a process; resolves when it serves, or was killed before. */
  start(): Promise<void>;
  /** kill -9; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Ends the service as an operator would, and answers its exit code. */
  stop(): Promise<number | null>;
}

/** @param environment the service's settings; DATA_DIR is among them */
export function doomedServer(environment: Readonly<Record<string, string>>): DoomedServer {
  const seen: DoomedServer['seen'] = { readyAt: [], complaints: [] };
  let secretKey: string | null = null;
  let child: ChildProcess | null = null;
  let address = Promise.withResolvers<string>();

  function read(line: string): void {
    const url = LISTENS.exec(line)?.[1];
    if (url !== undefined) {
      seen.readyAt.push(Date.now());
      address.resolve(url);
    }
    secretKey = SECRET.exec(line)?.[1] ?? secretKey;
    if (line.startsWith('{') && (JSON.parse(line) as { level: number }).level >= ERROR_LEVEL)
      seen.complaints.push(line);
  }

  /** @returns the exit code of the present process once it has ended */
  async function end(signal: NodeJS.Signals): Promise<number | null> {
    const ending = child;
    if (!ending) return null;
    child = null;
    address = Promise.withResolvers();
    if (ending.exitCode === null && ending.signalCode === null) {
      const exited = once(ending, 'exit');
      ending.kill(signal);
      await exited;
    }
    return ending.exitCode;
  }

  return {
    url: () => address.promise,
    secretKey() {
      if (secretKey === null) throw new Error('the first start printed no key');
      return secretKey;
    },
    seen,
    async start() {
      const started = spawn(process.execPath, [MAIN], {
        env: { ...process.env, MONGODB_URL: '', MASTER_KEY: '', ROLE: '', PUBLIC_URL: '', PORT: '0', ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child = started;
      let stderr = '';
      started.stderr.on('data', (chunk) => {
        stderr += chunk;
      });
      const gone = new Promise<void>((resolve) => {
        started.once('exit', (code, signal) => {
          if (signal === null && code !== 0) seen.complaints.push(`ended by itself with code ${code}: ${stderr}`);
          resolve();
        });
      });
      // A line that the kill cut in two is no line.
      const served = new Promise<void>((resolve) => {
        createInterface(started.stdout).on('line', (line) => {
          if (child === started) read(line);
          if (LISTENS.test(line)) resolve();
        });
      });
      await Promise.race([served, gone]);
    },
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  };
}
