import { expect, test } from 'vitest';
import { dueTotals } from '../../../src/domain/invoice/due-totals.ts';
import type { TaxRate } from '../../../src/domain/invoice/tax-rate.ts';

const line = (unitPrice: number, taxRate: TaxRate) => ({ quantity: 1, unitPrice, taxRate });
const depositOf = (rate: TaxRate, base: number, tax: number) => ({ rates: [{ rate, base, tax }] });

test('a rate of lines without a price stays, beside deposits of another rate', () => {
  const { due } = dueTotals({ lines: [line(1000, 20), line(0, 7)] }, [depositOf(20, 400, 80)]);
  expect(due?.rates).toEqual([
    { rate: 20, base: 600, tax: 120 },
    { rate: 7, base: 0, tax: 0 },
  ]);
});

test('without deposits all of the sale is due', () => {
  const document = { lines: [line(1000, 20)] };
  for (const deposits of [null, undefined, []]) {
    const { sale, due, deduction, problems } = dueTotals(document, deposits);
    expect({ due, deduction, problems }).toEqual({ due: sale, deduction: null, problems: [] });
  }
});

test('nothing is due of a sale beyond the limit, nor of one that has less than its deposits at each rate', () => {
  const beyond = { quantity: 1_000_000, unitPrice: 1e12, taxRate: 20 } as const;
  expect(dueTotals({ lines: [beyond] }, [depositOf(20, 400, 80)])).toEqual({
    sale: null,
    due: null,
    deduction: null,
    problems: [],
  });
  const lacking = dueTotals({ lines: [line(1000, 20)] }, [depositOf(20, 1001, 200), depositOf(7, 10, 1)]);
  expect(lacking).toMatchObject({ sale: { gross: 1200 }, due: null, deduction: null });
  expect(lacking.problems).toMatchObject([
    { code: 'deposit_not_deductible', message: expect.stringContaining('At 20 %, the deposits have 10.01 MAD') },
    { code: 'deposit_not_deductible', message: expect.stringContaining('At 7 %, the deposits have 0.10 MAD') },
  ]);
});
