import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createThreads, type Threads } from '../../../src/adapters/threads.ts';

/** Commands to the test thread. */
type Task = 'work' | 'die' | 'exhaust' | 'die later' | 'which';

const PROGRAM = `
import { existsSync } from 'node:fs';
import { threadId } from 'node:worker_threads';
if (existsSync(new URL('./broken', import.meta.url))) throw new Error('it is broken');
if (existsSync(new URL('./restless', import.meta.url))) setTimeout(() => { throw new Error('it is restless'); }, 20);
export default async function run(task) {
  if (task === 'die') setImmediate(() => { throw new Error('it died'); });
  if (task === 'die') await new Promise(() => {});
  if (task === 'die later') setTimeout(() => { throw new Error('it died idle'); }, 0);
  if (task === 'exhaust') for (const kept = [];;) kept.push(new Array(1e5).fill(kept.length));
  return task === 'which' ? String(threadId) : 'done';
}`;

let folder: string;
let threads: Threads<Task, string>;
const onFatal = vi.fn<(error: Error) => void>();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'threads-'));
  await writeFile(join(folder, 'thread.mjs'), PROGRAM);
});
afterEach(async () => {
  await threads.close();
  onFatal.mockReset();
  await rm(folder, { recursive: true, force: true });
});

const start = (restAfter?: number) => {
  threads = createThreads<Task, string>(
    {
      filename: pathToFileURL(join(folder, 'thread.mjs')).href,
      resourceLimits: { maxOldGenerationSizeMb: 32 },
      // Let the thread's event loop run between tasks, so that its timers can kill it.
      atomics: 'disabled',
      ...(restAfter !== undefined && { restAfter }),
    },
    onFatal,
  );
};
const breakIt = () => writeFile(join(folder, 'broken'), '');

describe('a thread', () => {
  it('that dies by an error or by lack of memory fails its task; waiting tasks are completed', async () => {
    start();
    for (const [task, error] of [
      ['die', { message: 'it died' }],
      ['exhaust', { code: 'ERR_WORKER_OUT_OF_MEMORY' }],
    ] as const) {
      const tasks = [threads.run(task), threads.run('work'), threads.run('work')];
      await expect(tasks[0]).rejects.toMatchObject(error);
      expect(await Promise.all(tasks.slice(1))).toEqual(['done', 'done']);
    }
    expect(onFatal).not.toHaveBeenCalled();
  });

  it('that cannot be replaced after its death is fatal, and no task stays pending', async () => {
    start();
    expect(await threads.run('work')).toBe('done');
    await breakIt();
    const outcomes = await Promise.allSettled([threads.run('die'), threads.run('work'), threads.run('work')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(onFatal.mock.calls).toMatchObject([[{ message: 'thread.mjs: the thread cannot be started: it is broken' }]]);
    await expect(threads.run('work')).rejects.toThrow('the thread cannot be started');
  });

  it('that never starts is fatal', async () => {
    await breakIt();
    start();
    await expect(threads.run('work')).rejects.toThrow('it is broken');
    await expect.poll(() => onFatal.mock.calls.length).toBe(1);
  });
});

it('a thread that dies while idle is replaced, but not endlessly', async () => {
  start();
  await threads.run('work');
  // Node tells of each new thread.
  const replaced = once(process, 'worker');
  await threads.run('die later');
  await replaced;
  expect(await threads.run('work')).toBe('done');
  expect(onFatal).not.toHaveBeenCalled();
  await writeFile(join(folder, 'restless'), '');
  await threads.run('die later');
  await expect.poll(() => onFatal.mock.calls.length).toBe(1);
  expect(onFatal.mock.calls).toMatchObject([[{ message: 'thread.mjs: the thread died repeatedly: it is restless' }]]);
});

it('a closed thread starts no more', async () => {
  start();
  await threads.close();
  await expect(threads.run('work')).rejects.toThrow('closed');
  expect(onFatal).not.toHaveBeenCalled();
});

it('closing a thread is not an error', async () => {
  start();
  const late = expect(threads.run('die')).rejects.toThrow();
  await threads.close();
  await late;
  expect(onFatal).not.toHaveBeenCalled();
});

describe('a thread without work', () => {
  /** Every thread that was started, and those that still run. */
  const started: Worker[] = [];
  const running = new Set<Worker>();
  const onStart = (message: unknown) => {
    const { worker } = message as { worker: Worker };
    started.push(worker);
    running.add(worker);
    worker.once('exit', () => running.delete(worker));
  };
  beforeEach(() => subscribe('worker_threads', onStart));
  afterEach(() => {
    vi.useRealTimers();
    unsubscribe('worker_threads', onStart);
    started.length = 0;
  });
  const ended = () => expect.poll(() => running.size).toBe(0);

  it('starts with the first task', async () => {
    start();
    expect(started).toHaveLength(0);
    expect(await threads.run('work')).toBe('done');
    expect(started).toHaveLength(1);
  });

  it('ends, and another one does the next task', async () => {
    start(10);
    const first = await threads.run('which');
    await ended();
    const second = await threads.run('which');
    expect(second).not.toBe(first);
    await ended();
    expect(started).toHaveLength(2);
    expect(onFatal).not.toHaveBeenCalled();
  });

  it('stays while its tasks follow each other within the time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    start(1000);
    const first = await threads.run('which');
    for (let times = 0; times < 3; times++) {
      vi.advanceTimersByTime(999);
      expect(await threads.run('which')).toBe(first);
    }
    // A task that takes longer than the time is not interrupted.
    const long = threads.run('which');
    vi.advanceTimersByTime(5000);
    expect(await long).toBe(first);
    vi.advanceTimersByTime(1000);
    vi.useRealTimers();
    await ended();
  });

  it('takes no task with it that arrives while it ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    start(1000);
    const first = await threads.run('which');
    vi.advanceTimersByTime(1000);
    expect(running.size).toBe(1);
    const [second, third] = await Promise.all([threads.run('which'), threads.run('which')]);
    expect(second).not.toBe(first);
    expect(third).toBe(second);
    expect(started).toHaveLength(2);
    expect(onFatal).not.toHaveBeenCalled();
  });

  it('is waited for by close while it ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    start(1000);
    await threads.run('work');
    vi.advanceTimersByTime(1000);
    expect(running.size).toBe(1);
    await threads.close();
    expect(running.size).toBe(0);
  });

  it('that cannot be started again is fatal', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    start(1000);
    await threads.run('work');
    vi.advanceTimersByTime(1000);
    vi.useRealTimers();
    await ended();
    await breakIt();
    await expect(threads.run('work')).rejects.toThrow('it is broken');
    await expect.poll(() => onFatal.mock.calls.length).toBe(1);
  });
});
