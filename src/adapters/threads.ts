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

/** Tasks that run or wait, of all threads of this process, by the file that a thread runs. */
const tasksOf = new Map<string, number>();

/** The number of tasks that run or wait, by the name of the thread's file without its ending. */
export function threadTasks(): ReadonlyMap<string, number> {
  return tasksOf;
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
 * A thread without work ends after this time, milliseconds. Its heap and its modules are 20 to 60 MB, which the system
 * gets back. A start takes 0.1 to 0.4 s, so that a thread must not end between the invoices of ordinary traffic.
 */
const REST_AFTER_MS = 20_000;

/**
 * A Piscina pool with one thread. The thread starts with the first task, ends when it has had no task for `restAfter`
 * milliseconds, and starts again with the next one. It is replaced when it dies: the task that it was running fails
 * (with `ERR_WORKER_OUT_OF_MEMORY` when it reached its resource limits); waiting tasks run on the new thread. When the
 * new thread does not start, Piscina would leave the tasks pending for ever; here they fail and `onFatal` is called.
 * @param options.restAfter default 20 s
 */
export function createThreads<Task, Result>(
  {
    restAfter = REST_AFTER_MS,
    ...options
  }: Omit<Options, 'minThreads' | 'maxThreads'> & { readonly restAfter?: number },
  onFatal: OnFatal = () => undefined,
): Threads<Task, Result> {
  let failed: Error | null = null;
  let closing = false;
  let idleDeaths = 0;
  let lastDeath: Error | null = null;
  let tasks = 0;
  const name = fileOf(options.filename).replace(/\.\w+$/, '');
  const count = (change: number) => {
    tasks += change;
    tasksOf.set(name, (tasksOf.get(name) ?? 0) + change);
  };
  count(0);
  /** null: the thread rests, or has not started yet. */
  let pool: Piscina<Task, Result> | null = null;
  /** The ends of threads that were sent to rest. */
  const ending = new Set<Promise<void>>();
  let restTimer: NodeJS.Timeout | null = null;

  function start(): Piscina<Task, Result> {
    const started = new Piscina<Task, Result>({ resourceLimits: LIMITS, ...options, minThreads: 1, maxThreads: 1 });
    // Emitted when a thread dies while idle or fails to start.
    started.on('error', (error: Error) => {
      if (started !== pool) return;
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
    // A thread that was sent to rest is no longer `pool`.
    if (closing || failed || started !== pool) return;
    failed = new Error(`${fileOf(options.filename)}: ${reason}${lastDeath ? `: ${lastDeath.message}` : ''}`, {
      cause: lastDeath,
    });
    void started.destroy();
    onFatal(failed);
  }

  /** Ends the thread. It has no task, and `pool` is cleared first, so that a later task gets a new thread. */
  function rest(): void {
    if (tasks > 0 || pool === null || failed) return;
    const end = pool.destroy();
    pool = null;
    ending.add(end);
    void end.finally(() => ending.delete(end));
  }

  function restLater(): void {
    // The timer is set again rather than made anew for each task.
    if (restTimer) restTimer.refresh();
    else restTimer = setTimeout(rest, restAfter).unref();
  }

  return {
    async run(task, signal) {
      if (failed) throw failed;
      // Piscina would start another thread, which nothing would stop.
      if (closing) throw new Error('the thread is closed');
      pool ??= start();
      count(1);
      try {
        const result = await pool.run(task, signal && { signal });
        idleDeaths = 0;
        return result;
      } catch (error) {
        throw failed ?? error;
      } finally {
        count(-1);
        if (tasks === 0) restLater();
      }
    },
    async close() {
      closing = true;
      if (restTimer) clearTimeout(restTimer);
      await Promise.all([pool?.destroy(), ...ending]);
    },
  };
}

function fileOf(path: unknown): string {
  return String(path).replace(/^.*\//, '');
}
