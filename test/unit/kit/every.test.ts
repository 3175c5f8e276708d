import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { every } from '../../../src/domain/kit/every.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Work whose runs end when the test says so. */
function heldWork() {
  const ends: PromiseWithResolvers<void>[] = [];
  return {
    runs: () => ends.length,
    work: () => {
      const end = Promise.withResolvers<void>();
      ends.push(end);
      return end.promise;
    },
    async end(error?: Error) {
      if (error) ends.at(-1)?.reject(error);
      else ends.at(-1)?.resolve();
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

it('begins the next run when the last one has ended and the pause is over', async () => {
  const { runs, work, end } = heldWork();
  const stop = every(1000, work, () => undefined);
  await vi.advanceTimersByTimeAsync(999);
  expect(runs()).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(runs()).toBe(1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(runs()).toBe(1);
  await end();
  await vi.advanceTimersByTimeAsync(999);
  expect(runs()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(runs()).toBe(2);
  await Promise.all([stop(), end()]);
});

it('asks for each pause, if it is a function', async () => {
  let pauseMs = 1000;
  let runs = 0;
  const stop = every(
    () => pauseMs,
    async () => void runs++,
    () => undefined,
  );
  await vi.advanceTimersByTimeAsync(1000);
  expect(runs).toBe(1);
  pauseMs = 200;
  await vi.advanceTimersByTimeAsync(1000);
  expect(runs).toBe(2);
  await vi.advanceTimersByTimeAsync(1000);
  expect(runs).toBe(7);
  await stop();
});

it('begins with a pause of its own', async () => {
  const { runs, work, end } = heldWork();
  const stop = every(1000, work, () => undefined, { firstMs: 0 });
  expect(runs()).toBe(0);
  await vi.advanceTimersByTimeAsync(0);
  expect(runs()).toBe(1);
  await Promise.all([stop(), end()]);
});

it('reports a failed run, also one that throws at once, and goes on', async () => {
  const failures: unknown[] = [];
  const { runs, work, end } = heldWork();
  const stop = every(
    1000,
    () => {
      if (failures.length === 0) throw new Error('at once');
      return work();
    },
    (error) => failures.push((error as Error).message),
  );
  await vi.advanceTimersByTimeAsync(2000);
  expect([failures, runs()]).toEqual([['at once'], 1]);
  await end(new Error('later'));
  expect(failures).toEqual(['at once', 'later']);
  await vi.advanceTimersByTimeAsync(1000);
  expect(runs()).toBe(2);
  await Promise.all([stop(), end()]);
});

it('a stop waits for the run under way, also a failing one, and nothing runs after it', async () => {
  const failures: unknown[] = [];
  const { runs, work, end } = heldWork();
  const stop = every(1000, work, (error) => failures.push(error));
  await vi.advanceTimersByTimeAsync(1000);
  let isOver = false;
  const stopped = stop().then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(isOver).toBe(false);
  await end(new Error('away'));
  await stopped;
  await vi.advanceTimersByTimeAsync(60_000);
  expect([runs(), failures.length, vi.getTimerCount()]).toEqual([1, 1, 0]);
});

it('a stop within a run ends the repetition', async () => {
  let runs = 0;
  const stop = every(
    1000,
    async () => {
      runs++;
      void stop();
    },
    () => undefined,
  );
  await vi.advanceTimersByTimeAsync(10_000);
  expect(runs).toBe(1);
  await stop();
});

it('a stop before the first run resolves at once', async () => {
  const stop = every(
    1000,
    () => Promise.reject(new Error('never run')),
    () => undefined,
  );
  await stop();
  await vi.advanceTimersByTimeAsync(10_000);
});
