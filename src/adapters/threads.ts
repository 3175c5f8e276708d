import type { ResourceLimits } from 'node:worker_threads';
import { Piscina } from 'piscina';

/** A thread that does one kind of task, the oldest first. */
export interface Threads<Task, Result> {
  /** @throws what the task throws; what its thread died of, if it did; an Error when no thread can be had any more */
  run(task: Task): Promise<Result>;
  /** Ends the thread; what is under way fails. */
  close(): Promise<void>;
}

/** Is told once when a thread died and none can take its place: its tasks can't be done by this process any more. */
export type OnFatal = (error: Error) => void;

type Options = NonNullable<ConstructorParameters<typeof Piscina>[0]>;

/**
 * Memory of a thread that works on one invoice at a time, MiB. The largest invoice (1,000 lines of 500 characters, 1 MiB as JSON) needs 24 of
 * old generation to be written and examined, 32 to be laid out and 24 to be put together as a PDF; with less its thread dies. Without a limit
 * V8 lets garbage grow to hundreds of MiB a thread and gives nothing back to the system. A thread that reaches the limit ends: its task
 * fails with `ERR_WORKER_OUT_OF_MEMORY` and is tried again as after any failure, and a new thread does the tasks behind it.
 */
const LIMITS: ResourceLimits = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 };

/** Threads that died one after the other with nothing to do and no task done in between: more would. */
const IDLE_DEATHS = 3;

/**
 * Piscina with one thread, which is replaced when it dies: the task that it died over fails (with `ERR_WORKER_OUT_OF_MEMORY` where it
 * reached its resource limits), those that wait are done. When the next thread does not start, Piscina goes on without one, and its tasks
 * never end; here they fail, and `onFatal` is told.
 * @param options.lazy whether the thread is started by the first task, not at once
 */
export function createThreads<Task, Result>(
  { lazy = false, ...options }: Omit<Options, 'minThreads' | 'maxThreads'> & { lazy?: boolean },
  onFatal: OnFatal = () => undefined,
): Threads<Task, Result> {
  let failed: Error | null = null;
  let closing = false;
  let idleDeaths = 0;
  let diedOf: Error | null = null;
  let pool = lazy ? null : start();

  function start(): Piscina<Task, Result> {
    const started = new Piscina<Task, Result>({ resourceLimits: LIMITS, ...options, minThreads: 1, maxThreads: 1 });
    // Of a thread that had nothing to do, or did not start.
    started.on('error', (error: Error) => {
      diedOf = error;
      if (++idleDeaths >= IDLE_DEATHS) fail('the thread dies again and again', started);
    });
    // When it has put another one in its place, which it does at once.
    started.on('workerDestroy', () =>
      queueMicrotask(() => {
        if (started.threads.length === 0) fail('no thread starts', started);
      }),
    );
    return started;
  }

  function fail(reason: string, started: Piscina<Task, Result>): void {
    if (closing || failed) return;
    const file = String(options.filename).replace(/^.*\//, '');
    failed = new Error(`${file}: ${reason}${diedOf ? `: ${diedOf.message}` : ''}`, { cause: diedOf });
    void started.destroy();
    onFatal(failed);
  }

  return {
    async run(task) {
      if (failed) throw failed;
      pool ??= start();
      try {
        const result = await pool.run(task);
        idleDeaths = 0;
        return result;
      } catch (error) {
        throw failed ?? error;
      }
    },
    async close() {
      closing = true;
      await pool?.destroy();
    },
  };
}
