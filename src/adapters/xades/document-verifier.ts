import { Worker } from 'node:worker_threads';
import type { Verification } from '../../domain/verification.ts';

export interface DocumentVerifier {
  /** @throws when the thread ends or takes longer than the time limit; the next call starts another */
  verify(document: Uint8Array): Promise<Verification>;
  /** Ends the thread; what is under way fails. */
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (verification: Verification) => void;
  readonly reject: (error: Error) => void;
}

type Answer = { id: number } & ({ verification: Verification } | { error: string });

/**
 * Verifies on a thread of its own, because xadesjs holds the event loop for as long as it works. The thread is started by the first call
 * and kept warm; it never keeps the process alive when nothing is under way.
 * @param timeLimit milliseconds until an answer is given up and the thread with it
 */
export function createDocumentVerifier({ timeLimit = 60_000 }: { timeLimit?: number } = {}): DocumentVerifier {
  let thread: { readonly worker: Worker; readonly waiting: Map<number, Waiting> } | null = null;
  let lastId = 0;

  const start = () => {
    const worker = new Worker(new URL('./verify-worker.ts', import.meta.url));
    const started = { worker, waiting: new Map<number, Waiting>() };
    const end = (reason: string, cause?: unknown) => {
      if (thread === started) thread = null;
      for (const { reject } of started.waiting.values()) reject(new Error(reason, { cause }));
      started.waiting.clear();
    };
    worker.on('message', (answer: Answer) => {
      const waiting = started.waiting.get(answer.id);
      started.waiting.delete(answer.id);
      if (started.waiting.size === 0) worker.unref();
      if ('error' in answer) waiting?.reject(new Error(`verification failed: ${answer.error}`));
      else waiting?.resolve(answer.verification);
    });
    worker.on('error', (error) => end('the verification thread failed', error));
    worker.on('exit', () => end('the verification thread has ended'));
    return started;
  };

  return {
    async verify(document) {
      thread ??= start();
      const { worker, waiting } = thread;
      const id = ++lastId;
      let timer: NodeJS.Timeout | undefined;
      try {
        return await new Promise<Verification>((resolve, reject) => {
          waiting.set(id, { resolve, reject });
          worker.ref();
          worker.postMessage({ id, bytes: document });
          timer = setTimeout(() => void worker.terminate(), timeLimit);
        });
      } finally {
        clearTimeout(timer);
      }
    },
    async close() {
      await thread?.worker.terminate();
    },
  };
}
