import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { rescheduleAfterSetBack } from '../../../src/jobs/reschedule.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Reschedules two kinds of work with these results, one after the other and then 0. */
function started(...results: (readonly [number | Error, number | Error])[]) {
  let ahead = 0;
  const calls: [number, number] = [0, 0];
  const told: unknown[] = [];
  const kind = (which: 0 | 1) => async () => {
    const result = results[calls[which]++]?.[which] ?? 0;
    if (result instanceof Error) throw result;
    return result;
  };
  const stop = rescheduleAfterSetBack(
    {
      kinds: [kind(0), kind(1)],
      tell: (changed, byMs) => told.push({ changed, byMs }),
      fail: (error) => told.push(error),
    },
    { now: () => Date.now() + ahead, monotonic: () => Date.now() },
  );
  return {
    calls,
    told,
    stop,
    setBack(byMs: number) {
      ahead -= byMs;
    },
  };
}

it('tells at the start what changed, of all kinds, and nothing otherwise', async () => {
  for (const [results, told] of [
    [[3, 4], [{ changed: 7 }]],
    [[3, 0], [{ changed: 3 }]],
    [[0, 4], [{ changed: 4 }]],
    [[0, 0], []],
  ] as const) {
    const it = started(results);
    await vi.advanceTimersByTimeAsync(60_000);
    it.stop();
    expect([it.told, it.calls]).toEqual([told, [1, 1]]);
  }
});

it('a kind that fails at the start holds up no other, and is tried once more', async () => {
  const [away, still] = [new Error('away'), new Error('still away')];
  const it = started([away, 2], [5, 0]);
  await vi.advanceTimersByTimeAsync(9000);
  expect(it.told).toEqual([{ changed: 2 }, away]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([it.told, it.calls]).toEqual([
    [{ changed: 2 }, away, { changed: 5 }],
    [2, 2],
  ]);
  it.stop();
  const other = started([0, away], [0, still]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([other.told, other.calls]).toEqual([
    [away, still],
    [2, 2],
  ]);
  other.stop();
});

it('tells of a clock that is set back, whatever changed, and ten seconds later', async () => {
  const it = started([0, 0], [1, 2]);
  await vi.advanceTimersByTimeAsync(5000);
  it.setBack(60_000);
  await vi.advanceTimersByTimeAsync(60_000);
  it.stop();
  expect(it.told).toEqual([
    { changed: 3, byMs: 60_000 },
    { changed: 0, byMs: 60_000 },
  ]);
});

it('ends', async () => {
  const it = started([new Error('away'), 0]);
  it.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(it.calls).toEqual([1, 1]);
});
