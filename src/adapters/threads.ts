import type { ResourceLimits } from 'node:worker_threads';
import { Piscina } from 'piscina';

/** A worker thread for one kind of task. Tasks run one at a time, in order of submission. */
export interface Threads<Task, Result> {
  /**
   * @param signal aborting it ends the task; if the task is running, its thread is terminated and replaced
   * @throws what the task throws, the error that killed its thread, or an Error when no thread can be started any more
   * or `close` was called
   */
  run(task: Task, signal?: AbortSignal): Promise<Result>;
  /** Stops the thread. Tasks in progress fail. */
  close(): Promise<void>;
}

/** Called once when a thread died and cannot be replaced: this process can no longer run its tasks. */
export type OnFatal = (error: Error) => void;

type Options = NonNullable<ConstructorParameters<typeof Piscina>[0]>;

/**
 * Memory limits of a thread that handles one invoice at a time, in MiB. The largest invoice (1,000 lines of 500
 * characters, 1 MiB as JSON) needs at least this much old generation: 24 to write and check the document, 32 for the
 * HTML page, 24 to assemble the PDF. Without a limit V8 lets garbage grow to hundreds of MiB per thread and never
 * returns it to the system. A thread that reaches the limit dies: its task fails with `ERR_WORKER_OUT_OF_MEMORY` and is
 * retried like any failed task, and a new thread runs the waiting tasks.
 */
const LIMITS: ResourceLimits = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 };

/**
 * After this many consecutive deaths of idle threads, with no completed task in between, the thread is considered
 * broken.
 */
const IDLE_DEATHS = 3;

/**
 * A Piscina pool with one thread, which is replaced when it dies. The task that it was running fails (with
 * `ERR_WORKER_OUT_OF_MEMORY` when it reached its resource limits); waiting tasks run on the new thread. When the new
 * thread does not start, Piscina would leave the tasks pending for ever; here they fail and `onFatal` is called.
 * @param options.lazy true: the thread starts with the first task; false: at once
 */
export function createThreads<Task, Result>(
  { lazy = false, ...options }: Omit<Options, 'minThreads' | 'maxThreads'> & { lazy?: boolean },
  onFatal: OnFatal = () => undefined,
): Threads<Task, Result> {
  let failed: Error | null = null;
  let closing = false;
  let idleDeaths = 0;
  let lastDeath: Error | null = null;
  let pool = lazy ? null : start();

  function start(): Piscina<Task, Result> {
    const started = new Piscina<Task, Result>({ resourceLimits: LIMITS, ...options, minThreads: 1, maxThreads: 1 });
    // Emitted when a thread dies while idle or fails to start.
    started.on('error', (error: Error) => {
      lastDeath = error;
      if (++idleDeaths >= IDLE_DEATHS) fail('the thread died repeatedly', started);
    });
    // Piscina starts the replacement synchronously after this event, so the check runs in a microtask.
    started.on('workerDestroy', () =>
      queueMicrotask(() => {
        if (started.threads.length === 0) fail('the thread cannot be started', started);
      }),
    );
    return started;
  }

  function fail(reason: string, started: Piscina<Task, Result>): void {
    if (closing || failed) return;
    const file = String(options.filename).replace(/^.*\//, '');
    failed = new Error(`${file}: ${reason}${lastDeath ? `: ${lastDeath.message}` : ''}`, { cause: lastDeath });
    void started.destroy();
    onFatal(failed);
  }

  return {
    async run(task, signal) {
      if (failed) throw failed;
      // Piscina would start another thread, which nothing would stop.
      if (closing) throw new Error('the thread is closed');
      pool ??= start();
      try {
        const result = await pool.run(task, signal && { signal });
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
