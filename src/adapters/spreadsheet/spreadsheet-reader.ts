import { type OpenSpreadsheet, type SpreadsheetReader, UnreadableFile } from '../../domain/imports/reading.ts';
import { createFairQueue } from '../../domain/kit/fair-queue.ts';
import { createThreads, type OnFatal, type Threads } from '../threads.ts';
import type { ReadAnswer, ReadTask } from './read-thread.ts';

/**
 * Time limits, milliseconds: `open` to start a thread and examine a file, `batch` to read one batch, `file` to read
 * all.
 */
const TIME_LIMITS = { open: 120_000, batch: 20_000, file: 300_000 } as const;

/** Heap limits of a thread, MiB. The largest workbook within `IMPORT_LIMITS` has 80 MiB of texts. */
const HEAP_LIMITS = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16 };

/** Number of files that are read at the same time. */
const PLACES = 2;

/** How long a thread waits for the next request for a batch, milliseconds. Meanwhile it occupies the file's place. */
const PATIENCE_MS = 15 * 60_000;

type ReadThreads = Threads<ReadTask, ReadAnswer>;

/**
 * Creates a reader of spreadsheets. Each file has its own worker thread with limited memory and time, because an
 * attacker may make a file that needs much of both. A file that reaches a limit is refused, and other files are not
 * affected.
 * @param script for tests
 */
export function createSpreadsheetReader(
  onFatal?: OnFatal,
  script = new URL('./read-thread.ts', import.meta.url),
): SpreadsheetReader {
  const queue = createFairQueue({ places: PLACES });
  const running = new Set<ReadThreads>();

  /** Waits for a place and starts a thread. @returns the thread, and a function that ends it */
  async function begin() {
    const free = await queue.enter('');
    const threads: ReadThreads = createThreads(
      { filename: script.href, resourceLimits: HEAP_LIMITS, restAfter: PATIENCE_MS },
      onFatal,
    );
    running.add(threads);
    const end = async () => {
      running.delete(threads);
      await threads.close();
      free();
    };
    return { threads, end };
  }

  return {
    async read(file, { mapping, language, signal }) {
      signal?.throwIfAborted();
      const { threads, end } = await begin();
      try {
        const answer = await ask(threads, { open: { file, mapping, language } }, TIME_LIMITS.open, signal);
        if (!('reading' in answer)) throw new Error('the thread did not answer');
        const { reading, rows } = answer;
        return { reading, rows, batches: batchesOf(threads, end, signal) } satisfies OpenSpreadsheet;
      } catch (error) {
        await end();
        throw error;
      }
    },
    async close() {
      await Promise.all([...running].map((threads) => threads.close()));
    },
  };
}

/**
 * Makes the batches. Not a generator: a generator that is abandoned before its first batch would not end the thread.
 */
function batchesOf(
  threads: ReadThreads,
  end: () => Promise<void>,
  signal: AbortSignal | undefined,
): OpenSpreadsheet['batches'] {
  const over = { done: true, value: undefined } as const;
  let hasEnded = false;
  let leftMs: number = TIME_LIMITS.file;
  async function finish() {
    if (!hasEnded) await end();
    hasEnded = true;
    return over;
  }
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (hasEnded) return over;
      try {
        const begun = performance.now();
        const answer = await ask(threads, { next: true }, Math.min(TIME_LIMITS.batch, leftMs), signal);
        leftMs = Math.max(0, Math.floor(leftMs - performance.now() + begun));
        if ('batch' in answer && answer.batch !== null) return { done: false, value: answer.batch };
      } catch (error) {
        await finish();
        throw error;
      }
      return finish();
    },
    return: finish,
  };
}

/**
 * Runs a task.
 * @throws {UnreadableFile} for a fault of the file; `too_costly` when the thread reached its limit of memory or time
 */
async function ask(
  threads: ReadThreads,
  task: ReadTask,
  timeLimit: number,
  signal: AbortSignal | undefined,
): Promise<ReadAnswer> {
  const timeout = AbortSignal.timeout(timeLimit);
  let answer: ReadAnswer;
  try {
    answer = await threads.run(task, signal ? AbortSignal.any([signal, timeout]) : timeout);
  } catch (cause) {
    signal?.throwIfAborted();
    const isOver = timeout.aborted || (cause as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
    throw isOver ? new UnreadableFile('too_costly') : cause;
  }
  if ('fault' in answer) throw new UnreadableFile(answer.fault, answer.facts);
  return answer;
}
