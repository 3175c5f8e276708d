import { expect, it } from 'vitest';
import { dirhams, totals } from '../../clients/typescript/src/index.ts';

// What the conformance suite cannot say, because other languages have types for it: fractions and inexact numbers.

it('refuses to write what is no exact number of centimes', () => {
  for (const amount of [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '5' as unknown as number])
    expect(() => dirhams(amount)).toThrow(RangeError);
});

it('refuses to add what is no exact integer', () => {
  const line = { quantity: 1, unit_price: 3 } as const;
  for (const wrong of [{ quantity: 0.1 }, { unit_price: 2 ** 53 }, { unit_price: Number.NaN }, { tax_rate: 5.5 as 20 }])
    expect(() => totals([{ ...line, ...wrong }])).toThrow(/must be an integer/);
});
