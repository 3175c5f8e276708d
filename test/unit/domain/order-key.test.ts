import { expect, it } from 'vitest';
import { newCreationMoment } from '../../../src/domain/order-key.ts';

it('moments are in the order of their making, also within a millisecond and when the clock is corrected a little', () => {
  const now = Date.now() + 5_000_000;
  const orders = [now, now, now + 1, now - 30_000, now + 2].map((at) => newCreationMoment(at).order);
  expect(orders).toEqual([...new Set(orders)].sort());
  expect(newCreationMoment(now - 59_000).createdAt.getTime()).toBe(now + 2);
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
