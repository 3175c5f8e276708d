import { Worker } from 'node:worker_threads';
import { UnusableData } from './unusable-data.ts';

export { UnusableData };

export interface EngineOptions {
  /**
   * Folder of the database, created with mode 0700 if it does not exist. Only one engine at a time can use a folder.
   */
  dataDir: string;
  /**
   * Listen on this unix socket (created with mode 0600). Default: a socket in the data folder or, if that path is too
   * long, in a private temporary folder.
   */
  socketPath?: string;
  /** Listen on this port of 127.0.0.1 instead of a socket; 0 picks a free one. */
  port?: number;
  /**
   * Size limit of the oplog in bytes (default 256 MiB). Resuming a change stream from a trimmed position is error 286.
   */
  oplogBytes?: number;
  /** Limit on the bytes buffered for all clients together: incoming requests and outgoing answers (default 512 MiB). */
  heldBytes?: number;
  /** Called once if the engine's thread ends unexpectedly after the start. Without it, the process emits a warning. */
  onFailure?: (error: Error) => void;
  /** Seconds between two runs of the TTL monitor (default 60). */
  ttlSeconds?: number;
  /** Seconds after which an open transaction is aborted (default 60). */
  transactionSeconds?: number;
  /** Check all of the file at the start, whatever its size and even after a clean stop. */
  checkAll?: boolean;
  /** Enable the command `configureFailPoint`, as mongod does with `enableTestCommands`. For driver tests only. */
  testCommands?: boolean;
}

export interface Engine {
  /** The connection string for the official driver. */
  uri: string;
  /** Finishes the commits in progress, closes cursors and connections, and releases the lock on the folder. */
  close(): Promise<void>;
}

type FromWorker = { ready: string } | { failed: string; isUnusable: boolean };

/**
 * Runs the MongoDB-compatible server over `dataDir` in a worker thread. Rejects with a readable message when another
 * engine uses the folder or the address is not available; with {@link UnusableData} when the data is damaged.
 */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { onFailure, ...workerData } = options;
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData, execArgv: [] });
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const uri = await new Promise<string>((resolve, reject) => {
    worker.once('message', (message: FromWorker) =>
      'ready' in message
        ? resolve(message.ready)
        : reject(message.isUnusable ? new UnusableData(message.failed) : new Error(message.failed)),
    );
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the engine's thread ended during the start (code ${code})`)));
  });
  let over = false;
  const fail = (error: Error): void => {
    if (over) return;
    over = true;
    if (onFailure) onFailure(error);
    else process.emitWarning(`The embedded engine failed: ${error.stack ?? error.message}`);
  };
  worker.on('error', fail);
  worker.on('exit', (code) => fail(new Error(`the engine's thread ended (code ${code})`)));
  return {
    uri,
    close: async () => {
      over = true;
      worker.postMessage('close');
      await exited;
    },
  };
}
