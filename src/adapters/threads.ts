import { setTimeout as sleep } from 'node:timers/promises';
import type { ResourceLimits } from 'node:worker_threads';
import { Piscina } from 'piscina';

/** A worker thread for one kind of task. Tasks run one at a time, in order of submission. */
export interface Threads<Task, Result> {
  /**
   * @param signal aborting it ends the task; if the task is running, its thread is terminated and replaced
   * @throws {ThreadNotStarted} when the system lacks the resources for a thread for several seconds
   * @throws what the task throws, the error that killed its thread, or an Error when no thread can be started any more
   * or `close` was called
   */
  run(task: Task, signal?: AbortSignal): Promise<Result>;
  /** Stops the thread. Tasks in progress fail. */
  close(): Promise<void>;
}

/** Number of tasks that run or wait, by the file that a thread runs. Counts all threads of this process. */
const tasksOf = new Map<string, number>();

/** Returns the number of tasks that run or wait, by the name of the thread's file without its extension. */
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
 * A thread without work ends after this time, milliseconds, which frees the 20 to 60 MB of its heap and modules. A
 * start takes 0.1 to 0.4 s, so a thread must not end between the invoices of ordinary traffic.
 */
const REST_AFTER_MS = 20_000;

/**
 * The pauses before the retries when the system could not start a thread, milliseconds. After the last pause, a waiting
 * task fails; the next task tries again.
 */
const START_PAUSES_MS = [100, 200, 400, 800, 1600];
/** Error codes when the system has no files, memory or threads left for what a starting thread needs. */
const NO_MEANS = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']);

/** Thrown when the system cannot start a thread at the moment. The task has not begun. */
export class ThreadNotStarted extends Error {
  override readonly name = 'ThreadNotStarted';

  constructor(file: string, cause: Error) {
    super(`${file}: the system starts no thread at the moment: ${cause.message}`, { cause });
  }
}

/** Whether Node could not start a thread, which then has loaded nothing. */
function isInitFailure(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_INIT_FAILED';
}

/**
 * Whether an idle thread died because the system lacked resources. Such a thread may also have failed to load its
 * program.
 */
function isNotStarted(error: Error): boolean {
  return isInitFailure(error) || ('code' in error && NO_MEANS.has(String(error.code)));
}

/**
 * Creates a Piscina pool with one thread. The thread starts with the first task, ends when it has had no task for
 * `restAfter` milliseconds, and starts again with the next one. It is replaced when it dies: the task that it was
 * running fails (with `ERR_WORKER_OUT_OF_MEMORY` when it reached its resource limits); waiting tasks run on the new
 * thread. When the new thread does not start, Piscina would leave the tasks pending for ever; here they fail and
 * `onFatal` is called. If the system only lacks the resources for a thread at the moment, tasks wait and are retried,
 * and `onFatal` is not called.
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
  let tasks = 0;
  const name = fileOf(options.filename).replace(/\.\w+$/, '');
  const count = (change: number) => {
    tasks += change;
    tasksOf.set(name, (tasksOf.get(name) ?? 0) + change);
  };
  count(0);
  /** Null when the thread has ended because it was idle, or has not started yet. */
  let pool: Piscina<Task, Result> | null = null;
  /** Resolve when threads have ended that were idle or did not start. */
  const ending = new Set<Promise<void>>();
  /** For each pool whose thread the system could not start, the reason. */
  const notStarted = new WeakMap<Piscina<Task, Result>, Error>();
  let restTimer: NodeJS.Timeout | null = null;

  function start(): Piscina<Task, Result> {
    const started = new Piscina<Task, Result>({ resourceLimits: LIMITS, ...options, minThreads: 1, maxThreads: 1 });
    let lastDeath: Error | null = null;
    // Emitted when a thread dies while idle or fails to start.
    started.on('error', (error: Error) => {
      if (started !== pool) return;
      lastDeath = error;
      if (isNotStarted(error)) giveUp(started, error);
      else if (++idleDeaths >= IDLE_DEATHS) fail('the thread died repeatedly', started, error);
    });
    // Piscina starts the replacement synchronously after this event, so the check runs in a microtask.
    started.on('workerDestroy', () =>
      queueMicrotask(() => {
        if (started.threads.length === 0) fail('the thread cannot be started', started, lastDeath);
      }),
    );
    return started;
  }

  function fail(reason: string, started: Piscina<Task, Result>, cause: Error | null): void {
    // If the thread was ended because it was idle, `pool` is another one by now.
    if (closing || failed || started !== pool) return;
    failed = new Error(`${fileOf(options.filename)}: ${reason}${cause ? `: ${cause.message}` : ''}`, { cause });
    void started.destroy();
    onFatal(failed);
  }

  /** Ends a pool whose thread could not be started. When its tasks are retried, another pool starts. */
  function giveUp(started: Piscina<Task, Result>, cause: Error): void {
    notStarted.set(started, cause);
    end(started);
  }

  /** Ends the thread. `pool` is cleared first, so that a later task gets a new thread. */
  function end(started: Piscina<Task, Result>): void {
    if (pool === started) pool = null;
    const ended = started.destroy();
    ending.add(ended);
    void ended.finally(() => ending.delete(ended));
  }

  function rest(): void {
    if (tasks === 0 && pool !== null && !failed) end(pool);
  }

  function restLater(): void {
    // Refreshes the timer, which is cheaper than creating one for each task.
    if (restTimer) restTimer.refresh();
    else restTimer = setTimeout(rest, restAfter).unref();
  }

  /** Runs a task. Retries it while the system cannot start the thread. */
  async function attempt(task: Task, signal: AbortSignal | undefined): Promise<Result> {
    for (let failures = 0; ; failures++) {
      // Otherwise Piscina would start another thread, which nothing would stop.
      if (closing) throw new Error('the thread is closed');
      pool ??= start();
      const started = pool;
      try {
        const result = await started.run(task, signal && { signal });
        idleDeaths = 0;
        return result;
      } catch (error) {
        const cause = isInitFailure(error as Error) ? (error as Error) : notStarted.get(started);
        // Not retried: the task has run, or no thread can run it any more.
        if (cause === undefined || failed || closing) throw error;
        const pause = START_PAUSES_MS[failures];
        if (pause === undefined || signal?.aborted) throw new ThreadNotStarted(fileOf(options.filename), cause);
        await sleep(pause);
      }
    }
  }

  return {
    async run(task, signal) {
      if (failed) throw failed;
      count(1);
      try {
        return await attempt(task, signal);
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
