import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CreditShare } from '../../../src/domain/invoice/credit.ts';
import { type CreditRequest, creditOf, leftOf } from '../../../src/domain/invoice/credit-share.ts';
import type { InvoiceLine } from '../../../src/domain/invoice/invoice.ts';
import { PIECE } from '../../../src/domain/invoice/line-amounts.ts';
import { linesWithAmounts, totalsOfRates } from '../../../src/domain/invoice/totals.ts';
import { anyLine } from '../../support/any-line.ts';
import { amounts, credited, invoiceOf, ofLines, REST } from '../../support/credits.ts';

const anyInvoice = fc
  .array(anyLine, { minLength: 1, maxLength: 6, size: 'max' })
  .map(
    (lines) =>
      linesWithAmounts({
        lines: lines.map((line) => ({ ...PIECE, ...line, description: 'Conseil' })),
      }) as InvoiceLine[],
  )
  .filter((lines) => lines.some(({ amount }) => amount > 0))
  .map((lines) => invoiceOf(lines));

const anyStep = fc.record({
  kind: fc.constantFrom('part', 'part', 'amount', 'rejection'),
  of: fc.nat({ max: 1_000_000 }),
  share: fc.integer({ min: 1, max: 1000 }),
});

test('parts of lines with decimals, discounts and prices with tax never exceed the invoice, and end at exactly it', () => {
  let parts = 0;
  fc.assert(
    fc.property(anyInvoice, fc.array(anyStep, { maxLength: 10 }), (invoice, steps) => {
      const { rates: wholes } = leftOf(invoice, []);
      let counted: CreditShare[] = [];
      const take = (request: CreditRequest) => {
        const made = creditOf(invoice, counted, request);
        if ('problems' in made) return made.problems;
        for (const { amount, unitPrice, quantity } of made.lines)
          expect(amount >= 0 && unitPrice >= 0 && quantity > 0).toBe(true);
        counted.push(made.share);
        for (const { rate, base, tax } of wholes) {
          const at = totalsOfRates(counted.flatMap(({ rates }) => rates.filter((each) => each.rate === rate)));
          expect(at.net <= base && at.tax <= tax).toBe(true);
        }
        return [];
      };
      for (const { kind, of, share } of steps) {
        const left = leftOf(invoice, counted);
        const at = left.rates[of % Math.max(1, left.rates.length)];
        if (kind === 'rejection') counted = counted.filter((_, index) => index !== of % Math.max(1, counted.length));
        else if (kind === 'amount' && at)
          expect(take(amounts([at.rate, Math.ceil((at.base * share) / 1000)]))).toEqual([]);
        else if (kind === 'part') {
          const position = of % invoice.lines.length;
          const whole = invoice.lines[position]?.quantity ?? 1;
          const unit = invoice.lines[position]?.unit;
          const part = Number(((whole * share) / 1000).toFixed(3));
          const refusals = take(ofLines([position + 1, unit || !Number.isInteger(whole) ? part : Math.ceil(part)]));
          if (refusals.length === 0) parts++;
        }
      }
      const problems = take(REST);
      const left = leftOf(invoice, counted);
      if (problems.length > 0) expect(problems[0]?.code).toBe('credit_exceeds_invoice');
      expect(left.rates).toEqual([]);
      expect(left.amount).toBe(0);
      const credits = totalsOfRates(counted.flatMap(({ rates }) => rates));
      expect(credits.gross).toBe(invoice.amount);
    }),
    { numRuns: 600 },
  );
  expect(parts).toBeGreaterThan(150);
});

test('a part of a line whose price has no exact part is one piece at its share, rounded down', () => {
  const [line] = linesWithAmounts({
    lines: [
      {
        ...PIECE,
        description: 'Conseil',
        quantity: 3,
        unit: 'HUR' as const,
        unitPrice: 10_000,
        taxRate: 20 as const,
        discount: { amount: 1, percent: null, reason: null },
      },
    ],
  });
  if (!line) throw new Error('no line');
  const { lines, share } = credited(invoiceOf([line]), [], ofLines([1, 1.5]));
  expect(line.amount).toBe(29_999);
  expect(lines).toEqual([{ ...PIECE, description: 'Conseil (1,5 h)', unitPrice: 14_999, taxRate: 20, amount: 14_999 }]);
  expect(share.rates).toEqual([{ rate: 20, base: 14_999, tax: 3000 }]);
});

test('pieces are credited whole, hours in any part', () => {
  const line = {
    ...PIECE,
    description: 'Conseil',
    quantity: 2,
    unitPrice: 10_000,
    taxRate: 20 as const,
    amount: 20_000,
  };
  const refused = creditOf(invoiceOf([line]), [], ofLines([1, 0.5]));
  expect(refused).toEqual({
    problems: [expect.objectContaining({ code: 'invalid_request', param: 'lines.0.quantity' })],
  });
  const { lines } = credited(invoiceOf([{ ...line, unit: 'HUR' }]), [], ofLines([1, 0.5]));
  expect(lines).toEqual([{ ...line, unit: 'HUR', quantity: 0.5, amount: 5000 }]);
});
