import { Worker } from 'node:worker_threads';
import { type Verification, VerificationGivenUp } from '../../domain/verification/verification.ts';

export interface DocumentVerifier {
  /**
   * Verifies a document. Documents are verified one at a time, in the order of the calls.
   * @throws {VerificationGivenUp} when the document exceeded the time limit or the memory limit
   * @throws {Error} when the thread died or could not be started; the next document gets a new thread
   */
  verify(document: Uint8Array): Promise<Verification>;
  /** Stops the thread. Waiting documents and the one in progress fail. */
  close(): Promise<void>;
}

export interface DocumentVerifierOptions {
  /**
   * Time limit for one document in milliseconds, from the start of its verification, not from the call. Then the thread
   * is terminated. The default is ten times the time that any document within `LIMITS` takes on an idle machine.
   */
  readonly timeLimit?: number;
  /** Heap limit of the thread in MiB. The default is enough for every document within `LIMITS`. */
  readonly heapLimit?: number;
  /** Called when the thread failed to start {@link MAX_FAILED_STARTS} times in a row: no document can be verified. */
  readonly onFatal?: (error: Error) => void;
  /** The thread's module. */
  readonly script?: URL;
}

interface Thread {
  readonly worker: Worker;
  state: 'starting' | 'ready' | 'given up';
  timer?: NodeJS.Timeout;
}

interface Waiting {
  readonly document: Uint8Array;
  readonly resolve: (verification: Verification) => void;
  readonly reject: (error: Error) => void;
}

/** A message of the thread: `ready` once it has loaded, then one answer per document. */
export type Answer = 'ready' | { readonly verification: Verification } | { readonly error: string };

const MAX_FAILED_STARTS = 3;
const RESTART_MS = 200;
/** Time limit for starting the thread. Loading takes 0.3 s; the limit allows for an overloaded machine. */
const START_LIMIT_MS = 60_000;
/**
 * Limit of the young generation, MiB. Without it V8 lets the garbage of a large document exceed the heap limit and
 * keeps that memory.
 */
const YOUNG_GENERATION = 16;

/**
 * Verifies documents on a worker thread, because xadesjs blocks the event loop while it works. The thread starts with
 * the first document and stays up. While idle it does not keep the process alive. When a document kills the thread,
 * only that document fails: a new thread verifies the waiting ones.
 */
export function createDocumentVerifier({
  timeLimit = 20_000,
  heapLimit = 256,
  onFatal = () => undefined,
  script = new URL('./verify-worker.ts', import.meta.url),
}: DocumentVerifierOptions = {}): DocumentVerifier {
  const waiting: Waiting[] = [];
  let current: Waiting | null = null;
  let thread: Thread | null = null;
  let failedStarts = 0;
  let closed = false;

  const next = () => {
    current ??= waiting.shift() ?? null;
    if (current === null) return thread?.worker.unref();
    try {
      thread ??= start();
    } catch (error) {
      return startFailed(error);
    }
    thread.worker.ref();
    if (thread.state === 'ready') work(thread, current);
  };

  const work = (on: Thread, { document }: Waiting) => {
    on.timer = setTimeout(() => {
      // Answers that this thread still sends must be ignored.
      on.state = 'given up';
      void on.worker.terminate();
    }, timeLimit);
    on.worker.postMessage(document);
  };

  const start = () => {
    const started: Thread = {
      worker: new Worker(script, {
        resourceLimits: { maxOldGenerationSizeMb: heapLimit, maxYoungGenerationSizeMb: YOUNG_GENERATION },
      }),
      state: 'starting',
      timer: setTimeout(() => void started.worker.terminate(), START_LIMIT_MS),
    };
    let cause: unknown;
    started.worker.on('message', (answer: Answer) => {
      if (started.state === 'given up') return;
      clearTimeout(started.timer);
      if (answer === 'ready') {
        started.state = 'ready';
        failedStarts = 0;
      } else {
        settle(answer);
      }
      next();
    });
    started.worker.on('error', (error) => {
      cause = error;
    });
    started.worker.on('exit', () => {
      clearTimeout(started.timer);
      thread = null;
      if (closed) return;
      if (started.state === 'starting') return startFailed(cause);
      settle(
        null,
        started.state === 'given up'
          ? new VerificationGivenUp(`The document could not be verified within ${timeLimit / 1000} s.`)
          : endOf(cause, heapLimit),
      );
      next();
    });
    return started;
  };

  const settle = (answer: Exclude<Answer, 'ready'> | null, error?: Error) => {
    const settled = current;
    current = null;
    if (answer !== null && 'verification' in answer) settled?.resolve(answer.verification);
    else settled?.reject(error ?? new Error(`verification failed: ${answer?.error}`));
  };

  const startFailed = (cause: unknown) => {
    if (++failedStarts < MAX_FAILED_STARTS) {
      setTimeout(() => closed || next(), RESTART_MS * failedStarts);
      return;
    }
    failedStarts = 0;
    const of = cause instanceof Error ? `: ${cause.message}` : '';
    const error = new Error(`the verification thread failed to start ${MAX_FAILED_STARTS} times in a row${of}`, {
      cause,
    });
    rejectAll(error);
    onFatal(error);
  };

  const rejectAll = (error: Error) => {
    settle(null, error);
    for (const { reject } of waiting.splice(0)) reject(error);
  };

  return {
    verify(document) {
      if (closed) return Promise.reject(new Error('the verifier is closed'));
      return new Promise((resolve, reject) => {
        waiting.push({ document, resolve, reject });
        if (current === null) next();
      });
    },
    async close() {
      closed = true;
      rejectAll(new Error('the verifier is closed'));
      await thread?.worker.terminate();
    },
  };
}

/** The error for a document whose thread died. */
function endOf(cause: unknown, heapLimit: number): Error {
  return (cause as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new VerificationGivenUp(`The document could not be verified with ${heapLimit} MiB of memory.`)
    : new Error('the verification thread failed', { cause });
}
