import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { within } from '../../../src/domain/kit/within.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('waits for the work, and leaves no timer', async () => {
  const work = Promise.withResolvers<void>();
  let isOver = false;
  void within(1000, work.promise).then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(500);
  expect(isOver).toBe(false);
  work.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect([isOver, vi.getTimerCount()]).toEqual([true, 0]);
});

it('gives up after the time, and ignores a later failure of the work', async () => {
  const work = Promise.withResolvers<void>();
  const waiting = within(1000, work.promise);
  await vi.advanceTimersByTimeAsync(1000);
  await waiting;
  work.reject(new Error('late'));
  await vi.advanceTimersByTimeAsync(0);
});

it('throws the error of work that fails in time', async () => {
  await expect(within(1000, Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(vi.getTimerCount()).toBe(0);
});
