import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPlain, netDiscountOf } from '../../../src/domain/invoice/line-amounts.ts';
import { plainDescription, plainQuantity, plainUnitPrice } from '../../../src/domain/invoice/plain-line.ts';
import { TAX_RATES, type TaxRate } from '../../../src/domain/invoice/tax-rate.ts';
import { linesWithAmounts, totalsOf } from '../../../src/domain/invoice/totals.ts';
import { anyLine } from '../../support/any-line.ts';
import { fraction, nearest, per, times } from '../../support/fractions.ts';
import { statedOf } from '../../support/recompute-document.ts';

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, each) => total + each, 0n);

/** As `expect`, which is too slow for half a million comparisons. */
function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`not as due: ${what}`);
}

test('20,000 documents: every figure is the one of an independent computation in rational numbers', () => {
  fc.assert(
    fc.property(fc.array(anyLine, { minLength: 1, maxLength: 8, size: 'max' }), (lines) => {
      const totals = totalsOf({ lines });
      if (!totals) throw new Error('the lines overflow');
      let gross = 0n;
      for (const rate of new Set(lines.map(({ taxRate }) => taxRate))) {
        const at = lines.flatMap((line, index) => (line.taxRate === rate ? [{ line, index }] : []));
        const without = sum(at.flatMap(({ line }) => (line.taxIncluded ? [] : statedOf(line))));
        const within = sum(at.flatMap(({ line }) => (line.taxIncluded ? statedOf(line) : [])));
        const contained = nearest(per(within * BigInt(rate), 100 + rate));
        const base = without + within - contained;
        const tax = nearest(per(without * BigInt(rate), 100)) + contained;
        const stated = totals.rates.find((each) => each.rate === rate);
        must(stated?.base === Number(base) && stated.tax === Number(tax), `${base} and ${tax} at ${rate} %`);
        must(sum(at.map(({ index }) => BigInt(totals.amounts[index] ?? -1))) === base, `lines of ${base} at ${rate} %`);
        for (const { line, index } of at) {
          const amount = BigInt(totals.amounts[index] ?? -1);
          const share = statedOf(line);
          // A line whose price has tax is less than a centime from its own share without tax.
          const off = Math.abs(Number(amount * BigInt(100 + rate) - share * 100n));
          must(line.taxIncluded ? off < 100 + rate : amount === share, `line ${index + 1}`);
        }
        // EN 16931, BR-S-09 allows less than a dirham.
        must(Math.abs(Number(tax * 100n - base * BigInt(rate))) <= 150, `VAT near ${rate} % of ${base}`);
        gross += base + tax;
      }
      must(totals.gross === Number(gross), `a total of ${gross}`);
      must(
        totals.rates.every(({ rate }, index) => index === 0 || rate < (totals.rates[index - 1]?.rate ?? 0)),
        'rates from high to low',
      );
    }),
    { numRuns: 20_000 },
  );
});

test.each(TAX_RATES)('at %i %%, prices with tax add up to exactly what they say, whatever the quantity', (taxRate) => {
  for (const [quantity, unitPrice] of [
    [1, 50_000],
    [3, 50_000],
    [7, 1],
    [1.5, 33_333],
    [0.333, 99.99],
    [250, 0.25],
  ] as const) {
    const lines = [{ quantity, unitPrice, taxRate, taxIncluded: true }];
    expect(totalsOf({ lines })?.gross).toBe(Number(nearest(times(fraction(quantity), fraction(unitPrice)))));
  }
});

test('what clients of integers read adds up to the document', () => {
  fc.assert(
    fc.property(fc.array(anyLine, { minLength: 1, maxLength: 8 }), (lines) => {
      for (const line of linesWithAmounts({ lines })) {
        const [quantity, unitPrice] = [plainQuantity(line), plainUnitPrice(line)];
        expect(Number.isSafeInteger(quantity) && quantity > 0).toBe(true);
        expect(Number.isSafeInteger(unitPrice)).toBe(true);
        expect(BigInt(quantity) * BigInt(unitPrice)).toBe(BigInt(line.amount));
        if (!isPlain(line)) expect(quantity).toBe(1);
        expect(netDiscountOf(line)).toBeGreaterThanOrEqual(0);
      }
    }),
    { numRuns: 2000 },
  );
});

test('a discount of a price with tax is stated without it, rounded half up', () => {
  const netOf = (amount: number, taxRate: TaxRate) => {
    const stated = { quantity: 1, unitPrice: 10_000, taxIncluded: true, taxRate, discount: { amount } };
    const [line] = linesWithAmounts({ lines: [stated] });
    return line && netDiscountOf(line);
  };
  // 5.83, 2.5, 2.73 and 3.64 without tax.
  expect([netOf(7, 20), netOf(3, 20), netOf(3, 10), netOf(4, 10), netOf(7, 0)]).toEqual([6, 3, 3, 4, 7]);
});

describe('the description of a line in whole numbers says the rest', () => {
  test.each([
    [{ quantity: 2, unitPrice: 10_000 }, 'Conseil'],
    [{ quantity: 2, unitPrice: 10_000, unit: 'HUR' }, 'Conseil (2 h)'],
    [{ quantity: 1.5, unitPrice: 40_000, unit: 'HUR' }, 'Conseil (1,5 h × 400,00 MAD)'],
    [{ quantity: 0.75, unitPrice: 12.5, unit: 'TNE' }, 'Conseil (0,75 t × 0,125 MAD)'],
    [{ quantity: 1, unitPrice: 10_000, discount: { percent: 2.5 } }, 'Conseil (1 × 100,00 MAD − 2,5 %)'],
    [{ quantity: 1, unitPrice: 10_000, discount: { amount: 550 } }, 'Conseil (1 × 100,00 MAD − 5,50 MAD)'],
    [{ quantity: 1, unitPrice: 50_000, taxIncluded: true }, 'Conseil (1 × 500,00 MAD TTC)'],
  ] as const)('%j', (line, expected) => {
    const [stated] = linesWithAmounts({ lines: [{ ...line, taxRate: 20 as const, description: 'Conseil' }] });
    expect(stated && plainDescription(stated)).toBe(expected);
  });
});
