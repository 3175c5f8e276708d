import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CreditShare } from '../../../src/domain/invoice/credit.ts';
import { type CreditRequest, creditOf, leftOf } from '../../../src/domain/invoice/credit-share.ts';
import type { InvoiceLine } from '../../../src/domain/invoice/invoice.ts';
import { PIECE } from '../../../src/domain/invoice/line-amounts.ts';
import { linesWithAmounts, totalsOf, totalsOfRates } from '../../../src/domain/invoice/totals.ts';
import { anyDocument, anyLine } from '../../support/any-line.ts';
import { amounts, credited, invoiceOf, ofLines, REST } from '../../support/credits.ts';
import { wholeOf } from '../../support/recompute-document.ts';

const anyLines = fc.array(anyLine, { minLength: 1, maxLength: 6, size: 'max' });

const anyInvoice = fc
  .oneof(
    anyLines.map((lines) => ({ lines, discount: null, charge: null })),
    anyDocument(anyLines, wholeOf),
  )
  .map((document) => {
    const lines = document.lines.map((line) => ({ ...PIECE, ...line, description: 'Conseil' }));
    return { ...document, lines: linesWithAmounts({ ...document, lines }) as InvoiceLine[] };
  })
  .filter((document) => (totalsOf(document)?.gross ?? 0) > 0)
  .map((document) => ({ number: '2026-000123', amount: totalsOf(document)?.gross ?? 0, ...document }));

const anyStep = fc.record({
  kind: fc.constantFrom('part', 'part', 'amount', 'rejection'),
  of: fc.nat({ max: 1_000_000 }),
  share: fc.integer({ min: 1, max: 1000 }),
});

test('parts of lines with decimals, discounts, charges and prices with tax never exceed the invoice, and end at exactly it', () => {
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

test('a part of a line priced with tax is one piece at its share without tax', () => {
  const priced = { ...PIECE, description: 'Conseil', quantity: 3, unitPrice: 12_000, taxIncluded: true };
  const lines = linesWithAmounts({ lines: [{ ...priced, taxRate: 20 as const }] });
  const invoice = invoiceOf(lines);
  const { lines: parts, share } = credited(invoice, [], ofLines([1, 2]));
  expect(parts).toEqual([{ ...PIECE, description: 'Conseil (2)', unitPrice: 20_000, taxRate: 20, amount: 20_000 }]);
  expect(share).toEqual({ rates: [{ rate: 20, base: 20_000, tax: 4000 }], amount: 24_000 });
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

test('of a line in a document with a discount and a charge its share after both is credited', () => {
  const priced = [
    { ...PIECE, description: 'Conseil', quantity: 3, unitPrice: 10_000, taxRate: 20 as const },
    { ...PIECE, description: 'Formation', quantity: 1, unitPrice: 20_000, taxRate: 20 as const },
  ];
  const document = { lines: priced, discount: { percent: 10 }, charge: { amount: 1_000 } };
  const lines = linesWithAmounts(document) as InvoiceLine[];
  const invoice = { ...document, lines, number: '2026-000123', amount: totalsOf(document)?.gross ?? 0 };
  const third = credited(invoice, [], ofLines([1, 1]));
  expect(third.lines.map(({ description, amount }) => [description, amount])).toEqual([['Conseil (1)', 9200]]);
  const whole = credited(invoice, [], REST);
  expect(whole.lines.map(({ description, quantity, amount }) => [description, quantity, amount])).toEqual([
    ['Conseil (3 × 100,00 MAD; remise globale − 24,00 MAD HT)', 1, 27_600],
    ['Formation (1 × 200,00 MAD; remise globale − 16,00 MAD HT)', 1, 18_400],
  ]);
  expect(whole.share.amount).toBe(invoice.amount);
  const rest = credited(invoice, [third.share], REST);
  expect(third.share.amount + rest.share.amount).toBe(invoice.amount);
});
