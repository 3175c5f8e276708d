import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainAmount, plainQuantity, plainUnitPrice } from '../../../src/domain/invoice/plain-line.ts';
import { linesWithAmounts, totalsOf } from '../../../src/domain/invoice/totals.ts';
import { anyDocument, anyLine } from '../../support/any-line.ts';
import { apportioned, figuresOf, wholeOf } from '../../support/recompute-document.ts';

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, each) => total + each, 0n);

/** As `expect`, which is too slow for half a million comparisons. */
function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`not as due: ${what}`);
}

const documents = anyDocument(fc.array(anyLine, { minLength: 1, maxLength: 8, size: 'max' }), wholeOf);

test('20,000 documents: every figure is the one of an independent computation in rational numbers', () => {
  fc.assert(
    fc.property(documents, (document) => {
      const totals = totalsOf(document);
      if (!totals) throw new Error('the document overflows');
      const due = figuresOf(document);
      for (const [index, { rate, base, tax, ...parts }] of due.entries()) {
        const stated = totals.rates[index];
        must(stated?.rate === rate && stated.base === Number(base) && stated.tax === Number(tax), `${base} + ${tax}`);
        must(base >= 0n && tax >= 0n, `nothing is below zero at ${rate} %`);
        must(parts.lines - parts.discount + parts.charge === base, `the base at ${rate} %`);
        // EN 16931, BR-S-09 allows less than a dirham.
        must(Math.abs(Number(tax * 100n - base * BigInt(rate))) <= 150, `VAT near ${rate} % of ${base}`);
        for (const name of ['discount', 'charge'] as const) {
          const share = totals[name]?.rates.find((each) => each.rate === rate)?.net ?? 0;
          must(share === Number(parts[name]) && share >= 0, `the ${name} at ${rate} %`);
        }
        const at = document.lines.flatMap((line, place) => (line.taxRate === rate ? [place] : []));
        const amounts = at.map((place) => BigInt(totals.amounts[place] ?? -1));
        must(sum(amounts) === parts.lines, `the lines at ${rate} %`);
        if (totals.finalAmounts === null) continue;
        const finals = at.map((place) => BigInt(totals.finalAmounts?.[place] ?? -1));
        must(String(finals) === String(apportioned(base, amounts)), `what the lines come to at ${rate} %`);
      }
      const total = (name: 'lines' | 'discount' | 'charge' | 'base') => Number(sum(due.map((each) => each[name])));
      must(totals.linesNet === total('lines') && totals.net === total('base'), 'the sums without tax');
      must((totals.discount?.net ?? 0) === total('discount'), 'the discount');
      must((totals.charge?.net ?? 0) === total('charge'), 'the charge');
    }),
    { numRuns: 20_000 },
  );
});

test('what includes tax changes the total with tax by exactly what it says', () => {
  let exact = 0;
  fc.assert(
    fc.property(documents, ({ lines, discount, charge }) => {
      const before = totalsOf({ lines })?.gross ?? 0;
      const totals = totalsOf({ lines, discount, charge });
      if (discount?.taxIncluded === false || charge?.taxIncluded === false) return;
      if (discount?.taxIncluded === null || charge?.taxIncluded === null) return;
      if (discount || charge) exact++;
      const [off, on] = [totals?.discount?.stated ?? 0, totals?.charge?.stated ?? 0];
      must(totals?.gross === before - off + on, `${before} - ${off} + ${on} is ${totals?.gross}`);
      must(discount?.amount === undefined || off === discount.amount, 'a stated discount is the one that counts');
    }),
    { numRuns: 3000 },
  );
  expect(exact).toBeGreaterThan(500);
});

test('what clients of integers read adds up to the document', () => {
  fc.assert(
    fc.property(documents, (document) => {
      const totals = totalsOf(document);
      const lines = linesWithAmounts(document);
      for (const line of lines) {
        const [quantity, price] = [BigInt(plainQuantity(line)), BigInt(plainUnitPrice(line))];
        must(quantity * price === BigInt(plainAmount(line)), 'quantity times unit price is the amount');
      }
      must(
        sum(lines.map((line) => BigInt(plainAmount(line)))) === BigInt(totals?.net ?? -1),
        'the sum is the net total',
      );
    }),
    { numRuns: 3000 },
  );
});

test('a discount with tax leaves exactly the rest, even a centime that rounding takes for VAT', () => {
  const lines = [{ quantity: 1, unitPrice: 103, taxRate: 20 }] as const;
  for (const amount of [1, 122, 123, 124]) {
    const totals = totalsOf({ lines, discount: { amount, taxIncluded: true } });
    expect(totals?.gross).toBe(124 - amount);
    expect(totals?.rates.every(({ base, tax }) => base > 0 || tax === 0)).toBe(true);
  }
});

const TWENTY = { quantity: 1, unitPrice: 60_000, taxRate: 20 } as const;
const TEN = { quantity: 1, unitPrice: 40_000, taxRate: 10 } as const;

test.each([
  [
    'an amount',
    { discount: { amount: 100 } },
    [
      [20, 59_940, 11_988],
      [10, 39_960, 3996],
    ],
  ],
  [
    'a percentage',
    { discount: { percent: 12.5 } },
    [
      [20, 52_500, 10_500],
      [10, 35_000, 3500],
    ],
  ],
  [
    'an amount that leaves a centime',
    { discount: { amount: 1 } },
    [
      [20, 59_999, 12_000],
      [10, 40_000, 4000],
    ],
  ],
  [
    'all of it',
    { discount: { percent: 100 } },
    [
      [20, 0, 0],
      [10, 0, 0],
    ],
  ],
  [
    'a charge',
    { charge: { amount: 5000 } },
    [
      [20, 63_000, 12_600],
      [10, 42_000, 4200],
    ],
  ],
  [
    'both, of the same sum',
    { discount: { percent: 10 }, charge: { percent: 10 } },
    [
      [20, 60_000, 12_000],
      [10, 40_000, 4000],
    ],
  ],
] as const)('%s is spread over the rates', (_, adjustments, expected) => {
  const totals = totalsOf({ lines: [TWENTY, TEN], ...adjustments });
  expect(totals?.rates.map(({ rate, base, tax }) => [rate, base, tax])).toEqual(expected);
});

test('500.00 with tax less 50.00 with tax is 450.00, at every rate', () => {
  for (const taxRate of [20, 14, 10, 7, 0] as const) {
    const lines = [{ quantity: 1, unitPrice: 50_000, taxIncluded: true, taxRate }];
    expect(totalsOf({ lines, discount: { amount: 5000, taxIncluded: true } })?.gross).toBe(45_000);
  }
});

test('a rate that bears nothing of a discount is not stated with it', () => {
  const totals = totalsOf({ lines: [TWENTY, TEN], discount: { amount: 1 } });
  expect(totals?.discount?.rates).toEqual([{ rate: 20, net: 1 }]);
});

test('what the rules refuse has totals, too, which a preview shows', () => {
  const rates = (document: Parameters<typeof totalsOf>[0]) => totalsOf(document)?.rates.map(({ base }) => base);
  // More than the lines counts as all of them.
  const excess = totalsOf({ lines: [TWENTY, TEN], discount: { amount: 100_001 } });
  expect(excess).toMatchObject({ gross: 0, discount: { stated: 100_000, net: 100_000 } });
  // A charge may be more than the lines, and is nothing without a price.
  expect(rates({ lines: [TWENTY, TEN], charge: { amount: 200_000 } })).toEqual([180_000, 120_000]);
  expect(totalsOf({ lines: [{ ...TWENTY, unitPrice: 0 }], charge: { amount: 500 } })).toMatchObject({
    gross: 0,
    charge: { stated: 0, net: 0, rates: [] },
  });
  // A line whose discount is more than its price bears nothing of the others'.
  const negative = { ...TEN, discount: { amount: 50_000 } };
  expect(rates({ lines: [TWENTY, negative], discount: { amount: 6_000 } })).toEqual([54_000, -10_000]);
});
