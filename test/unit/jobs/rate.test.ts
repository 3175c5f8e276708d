import { expect, it } from 'vitest';
import { createRate } from '../../../src/jobs/rate.ts';

it('allows the number of a second at once, then one by one, and saves up no more', () => {
  let now = 0;
  const rate = createRate(20, () => now);
  const taken = () => Array.from({ length: 100 }, () => rate.take()).filter(Boolean).length;
  expect(taken()).toBe(20);
  now += 50;
  expect(taken()).toBe(1);
  now += 60_000;
  expect(taken()).toBe(20);
});

it('of 0 allows nothing', () => {
  expect(createRate(0).take()).toBe(false);
});
