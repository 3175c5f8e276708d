import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createThreads, type Threads } from '../../../src/adapters/threads.ts';

/** Commands to the test thread. */
type Task = 'work' | 'die' | 'exhaust' | 'die later';

const PROGRAM = `
import { existsSync } from 'node:fs';
if (existsSync(new URL('./broken', import.meta.url))) throw new Error('it is broken');
if (existsSync(new URL('./restless', import.meta.url))) setTimeout(() => { throw new Error('it is restless'); }, 20);
export default async function run(task) {
  if (task === 'die') setImmediate(() => { throw new Error('it died'); });
  if (task === 'die') await new Promise(() => {});
  if (task === 'die later') setTimeout(() => { throw new Error('it died idle'); }, 0);
  if (task === 'exhaust') for (const kept = [];;) kept.push(new Array(1e5).fill(kept.length));
  return 'done';
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

const start = (lazy = false) => {
  threads = createThreads<Task, string>(
    {
      filename: pathToFileURL(join(folder, 'thread.mjs')).href,
      resourceLimits: { maxOldGenerationSizeMb: 32 },
      // Let the thread's event loop run between tasks, so that its timers can kill it.
      atomics: 'disabled',
      lazy,
    },
    onFatal,
  );
};
const breakIt = () => writeFile(join(folder, 'broken'), '');

describe.each([false, true])('a thread (lazy: %s)', (lazy) => {
  it('that dies by an error or by lack of memory fails its task; waiting tasks are completed', async () => {
    start(lazy);
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
    start(lazy);
    expect(await threads.run('work')).toBe('done');
    await breakIt();
    const outcomes = await Promise.allSettled([threads.run('die'), threads.run('work'), threads.run('work')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(onFatal.mock.calls).toMatchObject([[{ message: 'thread.mjs: the thread cannot be started: it is broken' }]]);
    await expect(threads.run('work')).rejects.toThrow('the thread cannot be started');
  });

  it('that never starts is fatal', async () => {
    await breakIt();
    start(lazy);
    await expect(threads.run('work')).rejects.toThrow('it is broken');
    await expect.poll(() => onFatal.mock.calls.length).toBe(1);
  });
});

it('a thread that dies while idle is replaced, but not endlessly', async () => {
  start();
  await threads.run('die later');
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await threads.run('work')).toBe('done');
  expect(onFatal).not.toHaveBeenCalled();
  await writeFile(join(folder, 'restless'), '');
  await threads.run('die later');
  await expect.poll(() => onFatal.mock.calls.length).toBe(1);
  expect(onFatal.mock.calls).toMatchObject([[{ message: 'thread.mjs: the thread died repeatedly: it is restless' }]]);
});

it.each([false, true])('a closed thread starts no more (lazy: %s)', async (lazy) => {
  start(lazy);
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
