import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const LISTENS = /^Fatoura listens on (\S+)$/;
/** Printed by a worker, which has no address. */
const WORKS = 'Fatoura is processing jobs.';
const SECRET = /^ +secret +(\S+)$/;
/** pino's level of errors, which are defects. Failing attempts are warnings. */
const ERROR_LEVEL = 50;

/** A service that is killed and restarted on the same folder. */
export interface DoomedServer {
  /**
   * Returns the address of the present process. Waits while there is none (a worker never has one); rejects if a
   * process ended without being killed.
   */
  url(): Promise<string>;
  /** The demo tenant's key, which the first start prints. */
  secretKey(): string;
  /** The id of the present process. */
  pid(): number;
  readonly seen: {
    /** When each process began to serve, UNIX milliseconds. A process that never served is not included. */
    readonly readyAt: number[];
    /** The errors that the processes logged. */
    readonly complaints: string[];
  };
  /** Starts a process. Resolves when it serves or was killed before that; rejects when it ends by itself. */
  start(): Promise<void>;
  /** kill -9; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Stops the service as an operator would, and returns its exit code. */
  stop(): Promise<number | null>;
}

/** @param environment the service's settings, including DATA_DIR */
export function doomedServer(environment: Readonly<Record<string, string>>): DoomedServer {
  const seen: DoomedServer['seen'] = { readyAt: [], complaints: [] };
  let secretKey: string | null = null;
  let child: ChildProcess | null = null;
  let address = Promise.withResolvers<string>();
  let reached = false;

  function read(line: string): void {
    secretKey = SECRET.exec(line)?.[1] ?? secretKey;
    if (line.startsWith('{') && (JSON.parse(line) as { level: number }).level >= ERROR_LEVEL)
      seen.complaints.push(line);
  }

  /** Callers that already wait for an address continue to wait; new callers wait for the next address. */
  function leaveAddress(): void {
    if (reached) address = Promise.withResolvers();
    reached = false;
  }

  /** @returns the exit code of the present process after its end */
  async function end(signal: NodeJS.Signals): Promise<number | null> {
    const ending = child;
    if (!ending) return null;
    child = null;
    leaveAddress();
    const exited = once(ending, 'exit');
    ending.kill(signal);
    await exited;
    return ending.exitCode;
  }

  return {
    url: () => address.promise,
    secretKey() {
      if (secretKey === null) throw new Error('the first start printed no key');
      return secretKey;
    },
    pid() {
      if (child?.pid === undefined) throw new Error('no process runs');
      return child.pid;
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
      const ended = new Promise<void>((resolve, reject) => {
        started.once('exit', (code) => {
          if (child !== started) return resolve();
          child = null;
          leaveAddress();
          const reason = new Error(`the service ended by itself with code ${code}: ${stderr}`);
          address.promise.catch(() => undefined);
          address.reject(reason);
          reject(reason);
        });
      });
      const served = new Promise<void>((resolve) => {
        createInterface(started.stdout).on('line', (line) => {
          // The last output of a killed process may be incomplete.
          if (child !== started) return;
          read(line);
          const url = LISTENS.exec(line)?.[1];
          if (url === undefined && line !== WORKS) return;
          seen.readyAt.push(Date.now());
          if (url !== undefined) {
            reached = true;
            address.resolve(url);
          }
          resolve();
        });
      });
      ended.catch(() => undefined);
      await Promise.race([served, ended]);
    },
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
  };
}
