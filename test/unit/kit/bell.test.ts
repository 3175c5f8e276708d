import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { createBell } from '../../../src/domain/kit/bell.ts';

/** Whether a promise has resolved by the end of this turn. */
async function isOver(promise: Promise<void>): Promise<boolean> {
  let over = false;
  void promise.then(() => {
    over = true;
  });
  await nextTurn();
  return over;
}

it('wakes who waits, once', async () => {
  const bell = createBell();
  const first = bell.heard();
  expect(await isOver(first)).toBe(false);
  bell.ring();
  expect(await isOver(first)).toBe(true);
  expect(await isOver(bell.heard())).toBe(false);
});

it('keeps a ring that nobody waited for; several are one', async () => {
  const bell = createBell();
  bell.ring();
  bell.ring();
  expect(await isOver(bell.heard())).toBe(true);
  expect(await isOver(bell.heard())).toBe(false);
});

it('wakes all who wait', async () => {
  const bell = createBell();
  const waiting = [bell.heard(), bell.heard()];
  bell.ring();
  expect(await Promise.all(waiting.map(isOver))).toEqual([true, true]);
  const next = bell.heard();
  expect(await isOver(next)).toBe(false);
  bell.ring();
  expect(await isOver(next)).toBe(true);
});

it('loses no item between a look and the wait for the next one', async () => {
  const bell = createBell();
  const items: number[] = [];
  const taken: number[] = [];
  const taking = (async () => {
    while (taken.length < 100) {
      taken.push(...items.splice(0));
      // What arrives here rings before anybody waits.
      await nextTurn();
      if (items.length === 0 && taken.length < 100) await bell.heard();
    }
  })();
  for (let n = 0; n < 100; n++) {
    items.push(n);
    bell.ring();
    if (n % 7 === 0) await nextTurn();
  }
  await taking;
  expect(taken).toEqual(Array.from({ length: 100 }, (_, n) => n));
});

it('rings itself after a time, if nobody has rung by then', async () => {
  vi.useFakeTimers();
  try {
    const bell = createBell();
    let heard = 0;
    void bell.heard(1000).then(() => heard++);
    await vi.advanceTimersByTimeAsync(999);
    expect(heard).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(heard).toBe(1);
    void bell.heard(1000).then(() => heard++);
    bell.ring();
    await vi.advanceTimersByTimeAsync(0);
    expect([heard, vi.getTimerCount()]).toEqual([2, 0]);
  } finally {
    vi.useRealTimers();
  }
});
