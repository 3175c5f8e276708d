import fc from 'fast-check';
import { expect, test } from 'vitest';
import { spread } from '../../../src/domain/invoice/spread.ts';

const sum = (parts: readonly bigint[]) => parts.reduce((total, each) => total + each, 0n);

test.each([
  [100n, [1n, 1n, 1n], [34n, 33n, 33n]],
  [100n, [1n, 2n], [33n, 67n]],
  [1n, [7n, 7n], [1n, 0n]],
  [5n, [0n, 10n, 0n], [0n, 5n, 0n]],
  [0n, [0n, 0n], [0n, 0n]],
  [0n, [], []],
])('case %#: %s in parts', (amount, weights, expected) => {
  expect(spread(amount, weights)).toEqual(expected);
});

test('nothing is spread over nothing', () => {
  expect(() => spread(1n, [0n, 0n])).toThrow(RangeError);
});

test('the parts add up, are less than 1 from their exact shares, and never exceed weights that the amount does not', () => {
  const weights = fc.array(fc.bigInt({ min: 0n, max: 2n ** 53n }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(weights, fc.bigInt({ min: 0n, max: 2n ** 58n }), (each, amount) => {
      const whole = sum(each);
      fc.pre(whole > 0n);
      const parts = spread(amount, each);
      expect(sum(parts)).toBe(amount);
      for (const [index, weight] of each.entries()) {
        const off = (parts[index] ?? -1n) * whole - amount * weight;
        expect(off < whole && -off < whole).toBe(true);
      }
      const within = amount % (whole + 1n);
      expect(spread(within, each).every((part, index) => part >= 0n && part <= (each[index] ?? 0n))).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
