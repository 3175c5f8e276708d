import { expect, it } from 'vitest';
import { createSerials } from '../../../scripts/bench/stock-agenda.ts';

/** Takes the serial after the last one, or after 7 if it is not known. */
const take = async (last: number | null) => (last ?? 7) + 1;

it('serials of a series are taken one after the other, those of several series are not', async () => {
  const next = createSerials();
  const first = Promise.withResolvers<number>();
  const taken = [next('a', () => first.promise), next('a', take), next('a', take)];
  expect(await next('b', take)).toBe(8);
  first.resolve(1);
  expect(await Promise.all(taken)).toEqual([1, 2, 3]);
});

it('a serial that fails fails its own job only, and the next one does not rely on what was known before', async () => {
  const next = createSerials();
  await next('a', async () => 1);
  const outcomes = await Promise.allSettled([
    next('a', () => Promise.reject(new Error('it is taken'))),
    next('a', take),
    next('a', take),
  ]);
  expect(outcomes).toMatchObject([{ status: 'rejected' }, { value: 8 }, { value: 9 }]);
});
