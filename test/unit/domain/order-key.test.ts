import { expect, it } from 'vitest';
import { newCreationMoment, orderAfter, orderAt } from '../../../src/domain/order-key.ts';

it('moments are in the order of their making, also within a millisecond and when the clock is corrected a little', () => {
  const now = Date.now() + 5_000_000;
  const orders = [now, now, now + 1, now - 30_000, now + 2].map((at) => newCreationMoment(at).order);
  expect(orders).toEqual([...new Set(orders)].sort());
});

it('a moment has the time of the clock, also right after the clock was corrected over midnight', () => {
  const midnight = Date.parse('2030-01-01T00:00:00Z');
  const ahead = newCreationMoment(midnight + 30_000);
  const corrected = newCreationMoment(midnight - 20_000);
  expect(corrected.createdAt.getTime()).toBe(midnight - 20_000);
  expect(corrected.order > ahead.order).toBe(true);
});

it('a clock that is set back by an hour is believed, and no moment is given twice', () => {
  const now = Date.now() + 10_000_000;
  const first = newCreationMoment(now);
  newCreationMoment(now + 3_600_000);
  const again = newCreationMoment(now);
  expect(again.createdAt.getTime()).toBe(now);
  expect(again.order.slice(0, 16)).toBe(first.order.slice(0, 16));
  expect(again.order).not.toBe(first.order);
  expect(newCreationMoment(now).order > again.order).toBe(true);
});

it('a raised key is the next one above another, also where its millisecond is full', () => {
  const key = orderAt(1000).slice(0, 12);
  for (const [order, from] of [
    [`${key}0000ffffffff`, `${key}0001`],
    [`${key}00ff00000000`, `${key}0100`],
    [`${key}ffff00000000`, `${orderAt(1001).slice(0, 12)}0000`],
    [`${key}0004ffffffff-endpoint`, `${key}0005`],
  ] as const) {
    const raised = orderAfter(order);
    expect(raised.startsWith(from) && raised.length === 24 && raised > order, order).toBe(true);
  }
});
