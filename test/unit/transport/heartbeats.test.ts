import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createHeartbeats } from '../../../src/transport/heartbeats.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('calls each member once in an interval, spread over it, with one timer while there are members', () => {
  const heartbeats = createHeartbeats(15_000);
  const beats: number[] = Array(90).fill(0);
  const members = beats.map((_, i) => ({
    beat() {
      beats[i] = (beats[i] ?? 0) + 1;
    },
  }));
  for (const member of members) heartbeats.add(member);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(500);
  expect(beats.filter((count) => count > 0).length).toBe(3);
  vi.advanceTimersByTime(14_500);
  expect(new Set(beats)).toEqual(new Set([1]));
  const [gone, ...rest] = members;
  if (gone) for (let i = 0; i < 2; i++) heartbeats.delete(gone);
  vi.advanceTimersByTime(15_000);
  expect(beats).toEqual([1, ...Array(89).fill(2)]);
  for (const member of rest) heartbeats.delete(member);
  expect(vi.getTimerCount()).toBe(0);
});
