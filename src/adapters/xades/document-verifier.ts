import { Worker } from 'node:worker_threads';
import { type Verification, VerificationGivenUp } from '../../domain/verification/verification.ts';

export interface DocumentVerifier {
  /**
   * One document after the other, in the order of the calls.
   * @throws {VerificationGivenUp} when the work on it took longer than the time limit or more memory than the thread may have
   * @throws when the thread ended or could not be started; the next document gets another thread
   */
  verify(document: Uint8Array): Promise<Verification>;
  /** Ends the thread; what waits or is under way fails. */
  close(): Promise<void>;
}

export interface DocumentVerifierOptions {
  /**
   * Milliseconds from the start of the work on a document, not from the call, until it is given up and the thread ended. The default is ten
   * times what any document within `LIMITS` takes on an idle machine.
   */
  readonly timeLimit?: number;
  /** Of the thread, MiB of JavaScript objects; the default is enough for every document within `LIMITS`. */
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

/** What the thread sends: that it has loaded, then one answer for each document. */
export type Answer = 'ready' | { readonly verification: Verification } | { readonly error: string };

const MAX_FAILED_STARTS = 3;
const RESTART_MS = 200;
/** Loading takes 0.3 s; a machine that is overloaded must not look like one that can not. */
const START_LIMIT_MS = 60_000;
/** MiB of new objects. Without it V8 lets the garbage of a large document grow by more than the heap limit says, and keeps it. */
const YOUNG_GENERATION = 16;

/**
 * Verifies on a thread of its own, because xadesjs holds the event loop for as long as it works. The thread is started by the first call
 * and kept warm; it never keeps the process alive when nothing is under way. A document that ends the thread fails alone: those behind it
 * are verified by the next thread.
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
      // What it still sends is of no document any more.
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
          ? new VerificationGivenUp(`It was not checked within ${timeLimit / 1000} s.`)
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

/** Why a thread ended by itself in the middle of a document. */
function endOf(cause: unknown, heapLimit: number): Error {
  return (cause as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new VerificationGivenUp(`It was not checked with ${heapLimit} MiB of memory.`)
    : new Error('the verification thread failed', { cause });
}
