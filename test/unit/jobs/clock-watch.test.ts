import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchClock } from '../../../src/jobs/clock-watch.ts';

let [now, monotonic] = [0, 0];
let setBack: number[];
let stop: () => void;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  [now, monotonic, setBack] = [1_000_000, 50, []];
  stop = watchClock((byMs) => setBack.push(byMs), { now: () => now, monotonic: () => monotonic });
});
afterEach(() => {
  stop();
  vi.useRealTimers();
});

/** Lets seconds pass on both clocks. */
function pass(seconds: number): void {
  for (let nth = 0; nth < seconds; nth++) {
    now += 1000;
    monotonic += 1000;
    vi.advanceTimersByTime(1000);
  }
}

it('tells how far the clock was set back, and once more ten seconds later', () => {
  pass(5);
  expect(setBack).toEqual([]);
  now -= 3_600_000;
  pass(1);
  expect(setBack).toEqual([3_600_000]);
  pass(9);
  expect(setBack).toEqual([3_600_000]);
  pass(2);
  expect(setBack).toEqual([3_600_000, 3_600_000]);
  pass(60);
  expect(setBack).toHaveLength(2);
});

it('takes neither a clock that is set forward for one, nor small corrections, nor a process that was held up', () => {
  now += 3_600_000;
  pass(3);
  for (let nth = 0; nth < 20; nth++) {
    now -= 500;
    pass(1);
  }
  // Both clocks go on while the process does not run.
  now += 90_000;
  monotonic += 90_000;
  pass(3);
  expect(setBack).toEqual([]);
  // The forward jump is taken back.
  now -= 3_600_000;
  pass(1);
  expect(setBack).toEqual([3_600_000]);
});

it('ends', () => {
  stop();
  now -= 3_600_000;
  pass(20);
  expect(setBack).toEqual([]);
});
