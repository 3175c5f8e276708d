import { setTimeout as sleep } from 'node:timers/promises';
import { type SignedForm, type Verification, VerificationGivenUp } from '../../domain/verification/verification.ts';
import { createThreads, ThreadNotStarted, type Threads } from '../threads.ts';
import type { VerificationTask } from './verify-worker.ts';

export interface DocumentVerifier {
  /**
   * Verifies a document of this form, by default a UBL document. Documents are verified one at a time, in the order of
   * the calls.
   * @throws {VerificationGivenUp} when the document exceeded the time limit or the memory limit
   * @throws {Error} when the thread died or could not be started; the next document gets a new thread
   */
  verify(document: Uint8Array, form?: SignedForm): Promise<Verification>;
  /** Stops the thread. Waiting documents and the one in progress fail. */
  close(): Promise<void>;
}

export interface DocumentVerifierOptions {
  /**
   * Time limit for one document in milliseconds, from the start of its verification, not from the call. The thread is
   * terminated when it is exceeded. The default is ten times the time that any document within `LIMITS` takes on an
   * idle machine.
   */
  readonly timeLimit?: number;
  /** Heap limit of the thread in MiB. The default is enough for every document within `LIMITS`. */
  readonly heapLimit?: number;
  /** Called when the thread failed to start {@link MAX_FAILED_STARTS} times in a row: no document can be verified. */
  readonly onFatal?: (error: Error) => void;
  /** File URL of the thread's module. */
  readonly script?: URL;
}

/** The verifier's thread. The task null only waits until the thread has loaded. */
type VerifierThreads = Threads<VerificationTask | null, Verification | null>;

const MAX_FAILED_STARTS = 3;
const RESTART_MS = 200;
/** Time limit for starting the thread. Loading takes 0.3 s; the limit allows for an overloaded machine. */
const START_LIMIT_MS = 60_000;
/**
 * Limit of the young generation, MiB. Without this limit V8 lets the garbage of a large document exceed the heap limit
 * and keeps that memory.
 */
const YOUNG_GENERATION = 16;

/**
 * Verifies documents on a worker thread, because xadesjs blocks the event loop while it works. While idle the
 * thread does not keep the process alive. When a document kills the thread, only that document fails: a new thread
 * verifies the waiting ones.
 */
export function createDocumentVerifier({
  timeLimit = 20_000,
  heapLimit = 256,
  onFatal = () => undefined,
  script = new URL('./verify-worker.ts', import.meta.url),
}: DocumentVerifierOptions = {}): DocumentVerifier {
  let threads: VerifierThreads | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let broken: Error | null = null;
  let closed = false;

  function start(): VerifierThreads {
    const resourceLimits = { maxOldGenerationSizeMb: heapLimit, maxYoungGenerationSizeMb: YOUNG_GENERATION };
    return createThreads({ filename: script.href, resourceLimits });
  }

  /**
   * Starts the thread if necessary, and resolves when it has loaded and is idle.
   * @throws when it could not be started
   */
  async function loaded(): Promise<VerifierThreads> {
    for (let attempt = 1; ; attempt++) {
      if (closed) throw new Error('the verifier is closed');
      threads ??= start();
      try {
        await threads.run(null, AbortSignal.timeout(START_LIMIT_MS));
        return threads;
      } catch (cause) {
        await threads.close();
        threads = null;
        if (!closed && attempt === MAX_FAILED_STARTS) {
          const message = `the verification thread failed to start ${attempt} times in a row`;
          broken = new Error(`${message}: ${(cause as Error).message}`, { cause });
          // `ThreadNotStarted` is not fatal: the system may have the resources for a thread again later.
          if (!(cause instanceof ThreadNotStarted)) onFatal(broken);
          throw broken;
        }
      }
      await sleep(RESTART_MS * attempt);
    }
  }

  async function verify(task: VerificationTask): Promise<Verification> {
    const thread = await loaded();
    const signal = AbortSignal.timeout(timeLimit);
    try {
      return (await thread.run(task, signal)) as Verification;
    } catch (cause) {
      if (closed) throw new Error('the verifier is closed', { cause });
      if (signal.aborted)
        throw new VerificationGivenUp(`The document could not be verified within ${timeLimit / 1000} s.`);
      if ((cause as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') {
        throw new VerificationGivenUp(`The document could not be verified with ${heapLimit} MiB of memory.`);
      }
      throw new Error('the verification thread failed', { cause });
    }
  }

  return {
    verify(document, form = 'ubl') {
      const before = broken;
      const verified = last.then(() => {
        // Documents that were waiting when the thread could not be started fail with that error. Later documents start
        // the thread again.
        if (broken !== before) throw broken;
        return verify({ document, form });
      });
      last = verified.catch(() => undefined);
      return verified;
    },
    async close() {
      closed = true;
      await threads?.close();
    },
  };
}
