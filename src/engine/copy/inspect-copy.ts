import { Worker } from 'node:worker_threads';
import type { FileContent } from '../store/inspect.ts';

type FromWorker = { content: FileContent } | { refused: string };

/** Runs `inspectFile` in a worker thread, so that this thread is not blocked. @throws the errors of `inspectFile` */
export function inspectCopy(path: string): Promise<FileContent> {
  const worker = new Worker(new URL('./inspect-thread.ts', import.meta.url), { workerData: path, execArgv: [] });
  return new Promise((resolve, reject) => {
    worker.once('message', (message: FromWorker) =>
      'content' in message ? resolve(message.content) : reject(new Error(message.refused)),
    );
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error(`the check of ${path} ended without a result`)));
  });
}
