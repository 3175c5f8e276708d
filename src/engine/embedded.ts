import { Worker } from 'node:worker_threads';

export interface EngineOptions {
  /** Folder of the database; made (mode 0700) when it is not there. One engine at a time serves it. */
  dataDir: string;
  /** Listen on this unix socket (made with mode 0600). Default: a socket in the folder, or in a short private one. */
  socketPath?: string;
  /** Listen on this port of 127.0.0.1 instead of a socket; 0 takes a free one. */
  port?: number;
  /** Bound of the change-stream history in bytes (default 256 MiB); a resume token older than that is refused with error 286. */
  oplogBytes?: number;
  /** Called once when the engine's thread ends by itself after it had started; without it the process gets a warning. */
  onFailure?: (error: Error) => void;
  /** Seconds between two runs of the TTL monitor (default 60). */
  ttlSeconds?: number;
  /** Seconds after which an open transaction is aborted (default 60). */
  transactionSeconds?: number;
  /** Take `configureFailPoint`, as mongod does with `enableTestCommands`: for tests of drivers, never where real data lies. */
  testCommands?: boolean;
}

export interface Engine {
  /** Where the official driver reaches it. */
  uri: string;
  /** Finishes the commits under way, ends cursors and connections, and frees the folder. */
  close(): Promise<void>;
}

type FromWorker = { ready: string } | { failed: string };

/**
 * Runs the MongoDB-compatible server over `dataDir` in a worker thread.
 * Rejects with a readable message when the folder is served by another engine, is damaged, or the address can't be had.
 */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { onFailure, ...workerData } = options;
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData, execArgv: [] });
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const uri = await new Promise<string>((resolve, reject) => {
    worker.once('message', (message: FromWorker) =>
      'ready' in message ? resolve(message.ready) : reject(new Error(message.failed)),
    );
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the engine's thread ended at its start (code ${code})`)));
  });
  let over = false;
  const fail = (error: Error): void => {
    if (over) return;
    over = true;
    if (onFailure) onFailure(error);
    else process.emitWarning(`The embedded engine failed: ${error.stack ?? error.message}`);
  };
  worker.on('error', fail);
  worker.on('exit', (code) => fail(new Error(`the engine's thread has ended (code ${code})`)));
  return {
    uri,
    close: async () => {
      over = true;
      worker.postMessage('close');
      await exited;
    },
  };
}
