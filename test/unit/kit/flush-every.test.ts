import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { flushEvery } from '../../../src/domain/kit/flush-every.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('flushes periodically, and once more at the end', async () => {
  const flushes: boolean[] = [];
  const stop = flushEvery(
    1000,
    async (isLast) => void flushes.push(isLast),
    () => undefined,
  );
  await vi.advanceTimersByTimeAsync(2500);
  expect(flushes).toEqual([false, false]);
  await stop(1000);
  await vi.advanceTimersByTimeAsync(5000);
  expect([flushes, vi.getTimerCount()]).toEqual([[false, false, true], 0]);
});

it('begins the last flush after the one under way, and waits no longer than the time', async () => {
  const underWay = Promise.withResolvers<void>();
  const flushes: boolean[] = [];
  const stop = flushEvery(
    1000,
    (isLast) => {
      flushes.push(isLast);
      return isLast ? Promise.resolve() : underWay.promise;
    },
    () => undefined,
  );
  await vi.advanceTimersByTimeAsync(1000);
  let isOver = false;
  void stop(3000).then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(2999);
  expect([flushes, isOver]).toEqual([[false], false]);
  await vi.advanceTimersByTimeAsync(1);
  expect(isOver).toBe(true);
  underWay.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(flushes).toEqual([false, true]);
});

it('reports a failed flush, also the last one, and does not reject', async () => {
  const failures: unknown[] = [];
  const stop = flushEvery(
    1000,
    (isLast) => Promise.reject(isLast),
    (error) => failures.push(error),
  );
  await vi.advanceTimersByTimeAsync(1000);
  await stop(1000);
  expect(failures).toEqual([false, true]);
});
