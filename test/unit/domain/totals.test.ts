import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TAX_RATES } from '../../../src/domain/invoice/tax-rate.ts';
import { isTolerated, totalsOf } from '../../../src/domain/invoice/totals.ts';

type Line = Parameters<typeof totalsOf>[0]['lines'][number];

function tolerated(amount: number, lines: readonly Line[]): boolean {
  const totals = totalsOf({ lines });
  if (!totals) throw new Error('the lines overflow');
  return isTolerated(amount, totals, lines);
}

const times = (count: number, quantity: number, unitPrice: number, taxRate: Line['taxRate']): Line[] =>
  Array.from({ length: count }, () => ({ quantity, unitPrice, taxRate }));

describe('an amount other than the exact total', () => {
  test.each([
    ['VAT without a fraction, on two lines', times(2, 1, 10_000, 20), 24_000, []],
    ['no VAT, on a thousand lines', times(1000, 1, 1, 0), 1000, []],
    [
      '0.6 on each of 100 lines: 60 at once, 100 each for itself, which is no further than 50',
      times(100, 1, 3, 20),
      360,
      [400],
    ],
    ['0.4 on each of 10 lines: 4 at once, none each for itself', times(10, 1, 2, 20), 24, [20]],
    ['0.5 on each of 2 lines: 1 at once, none to two centimes each for itself', times(2, 1, 5, 10), 11, [10, 12]],
    ['0.5 on one line: a centime, nobody gets more', times(1, 1, 5, 10), 6, []],
  ])('%s', (_, lines, exact, others) => {
    const near = Array.from({ length: 3 * lines.length + 1001 }, (_each, i) => exact - 500 - lines.length + i);
    expect(near.filter((amount) => tolerated(amount, lines))).toEqual([exact, ...others].sort((a, b) => a - b));
  });

  const line = fc.record({
    quantity: fc.integer({ min: 1, max: 50 }),
    unitPrice: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 2 ** 40 })),
    taxRate: fc.constantFrom(...TAX_RATES),
  });

  test('is accepted if it results from rounding VAT half up on each line', () => {
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 40, size: 'max' }), (lines) => {
        const amounts = lines.map(({ quantity, unitPrice, taxRate }) => {
          const net = BigInt(quantity) * BigInt(unitPrice);
          return net + (net * BigInt(taxRate) * 2n + 100n) / 200n;
        });
        const amount = Number(amounts.reduce((sum, each) => sum + each, 0n));
        expect(tolerated(amount, lines)).toBe(true);
      }),
    );
  });

  test('is accepted if it results from rounding VAT once over all lines and rates, within half a centime a line', () => {
    fc.assert(
      fc.property(fc.array(line, { minLength: 2, maxLength: 8, size: 'max' }), (lines) => {
        const [net, tax] = lines.reduce(
          ([sum, vat], { quantity, unitPrice, taxRate }) => {
            const base = BigInt(quantity) * BigInt(unitPrice);
            return [sum + base, vat + base * BigInt(taxRate)] as const;
          },
          [0n, 0n] as readonly [bigint, bigint],
        );
        const amount = Number(net + (tax * 2n + 100n) / 200n);
        const near = Math.abs(amount - (totalsOf({ lines })?.gross ?? 0)) * 2 <= lines.length;
        expect(tolerated(amount, lines)).toBe(near);
      }),
    );
    // 10.4 at one rate and 10.36 at the other: 20 if each is rounded, 21 if their sum is.
    const mixed = [...times(1, 1, 52, 20), ...times(1, 1, 74, 14)];
    expect([145, 146, 147, 148].filter((amount) => tolerated(amount, mixed))).toEqual([146, 147]);
  });

  test('is accepted at most half a centime a line from the exact total', () => {
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 20, size: 'max' }),
        fc.integer({ min: -15, max: 15 }),
        (lines, difference) => {
          const gross = totalsOf({ lines })?.gross ?? 0;
          if (tolerated(gross + difference, lines)) expect(Math.abs(difference) * 2).toBeLessThanOrEqual(lines.length);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
