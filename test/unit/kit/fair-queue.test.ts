import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createFairQueue, type FairQueueOptions, QueueFull } from '../../../src/domain/kit/fair-queue.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A queue whose tasks end when the test says so. The first letter of a task is its key. */
function heldQueue(options: FairQueueOptions) {
  const queue = createFairQueue(options);
  const begun: string[] = [];
  const refused: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  return {
    queue,
    begun,
    refused,
    run(...tasks: string[]) {
      for (const task of tasks) {
        const end = Promise.withResolvers<string>();
        ends.set(task, end);
        const work = () => {
          begun.push(task);
          return end.promise;
        };
        queue.run(task.slice(0, 1), work).catch((error) => {
          if (error instanceof QueueFull) refused.push(task);
        });
      }
    },
    async end(task: string, error?: Error) {
      if (error) ends.get(task)?.reject(error);
      else ends.get(task)?.resolve(task);
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

it('runs as many tasks at once as there are places; keys take turns', async () => {
  const { run, begun, end } = heldQueue({ places: 2 });
  run('a1', 'a2', 'a3', 'a4', 'b1', 'c1');
  expect(begun).toEqual(['a1', 'a2']);
  for (const task of ['a1', 'a2', 'a3', 'b1']) await end(task);
  expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4']);
});

it('a failed task fails its caller, also one that throws at once, and frees its place', async () => {
  const { queue, run, begun, end } = heldQueue({});
  run('a1');
  const thrown = queue.run('b', () => {
    throw new Error('at once');
  });
  run('c1');
  await Promise.all([end('a1', new Error('late')), expect(thrown).rejects.toThrow('at once')]);
  expect(begun).toEqual(['a1', 'c1']);
});

it('a key has no more places than it may have, and holds up no other one', async () => {
  const { queue, run, begun, end } = heldQueue({ places: 3, placesPerKey: 1 });
  run('a1', 'a2', 'b1');
  expect(begun).toEqual(['a1', 'b1']);
  expect(['a', 'b', 'c'].map(queue.hasPlace)).toEqual([false, false, true]);
  await end('b1');
  expect(begun).toEqual(['a1', 'b1']);
  await end('a1');
  expect(begun).toEqual(['a1', 'b1', 'a2']);
});

it('refuses what is too much for a key at once, and beyond the total the latest task of the longest backlog', async () => {
  const { run, refused, begun } = heldQueue({ perKey: 3, total: 4 });
  run('a1', 'a2', 'a3', 'a4', 'a5');
  await vi.advanceTimersByTimeAsync(0);
  expect(refused).toEqual(['a5']);
  run('b1', 'b2');
  await vi.advanceTimersByTimeAsync(0);
  expect(refused).toEqual(['a5', 'a4']);
  expect(begun).toEqual(['a1']);
});

it('refuses a task that has waited too long, and no other', async () => {
  const { run, refused, begun, end } = heldQueue({ patienceMs: 1000 });
  run('a1', 'a2');
  await vi.advanceTimersByTimeAsync(500);
  run('a3');
  await vi.advanceTimersByTimeAsync(500);
  expect(refused).toEqual(['a2']);
  await end('a1');
  await vi.advanceTimersByTimeAsync(10_000);
  expect([refused, begun, vi.getTimerCount()]).toEqual([['a2'], ['a1', 'a3'], 0]);
});

it('holds a place until it is freed, once', async () => {
  const { queue, run, begun } = heldQueue({ places: 2 });
  const leave = await queue.enter('a');
  run('b1', 'b2', 'b3');
  expect(begun).toEqual(['b1']);
  leave();
  leave();
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toEqual(['b1', 'b2']);
});

it('one that leaves the line does not start, and lets the next one go', async () => {
  const { queue, run, begun, end } = heldQueue({ patienceMs: 1000 });
  const told: string[] = [];
  run('a1');
  const leave = queue.lineUp(
    'b',
    () => told.push('began'),
    () => told.push('refused'),
  );
  run('c1');
  leave();
  leave();
  await end('a1');
  await vi.advanceTimersByTimeAsync(10_000);
  expect([told, begun]).toEqual([[], ['a1', 'c1']]);
});

it('a close refuses what waits and what comes, and lets go on what runs', async () => {
  const { queue, run, begun, end } = heldQueue({ placesPerKey: 1 });
  run('a1', 'a2');
  const waiting = queue.run('b', async () => 'never');
  queue.close(new Error('closing'));
  await expect(waiting).rejects.toThrow('closing');
  await expect(queue.run('c', async () => 'never')).rejects.toThrow('closing');
  await end('a1');
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toEqual(['a1']);
});
