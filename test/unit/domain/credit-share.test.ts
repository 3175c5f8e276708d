import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../../src/domain/error-codes.ts';
import type { CreditShare } from '../../../src/domain/invoice/credit.ts';
import { type CreditRequest, creditOf, leftOf } from '../../../src/domain/invoice/credit-share.ts';
import { TAX_RATES, type TaxRate } from '../../../src/domain/invoice/tax-rate.ts';
import { isTolerated, totalsOf, totalsOfRates } from '../../../src/domain/invoice/totals.ts';
import {
  amounts,
  type CreditedInvoice,
  credited,
  invoiceOf,
  line,
  ofLines,
  REST,
  totals,
} from '../../support/credits.ts';

/** The sums of shares in all and at each rate with a base. */
function sumsOf(shares: readonly Pick<CreditShare, 'rates' | 'amount'>[]) {
  const at = (rate: TaxRate) => shares.flatMap(({ rates }) => rates).filter((each) => each.rate === rate);
  const sum = (numbers: number[]) => numbers.reduce((all, each) => all + each, 0);
  const rates = TAX_RATES.map((rate) => {
    return { rate, base: sum(at(rate).map(({ base }) => base)), tax: sum(at(rate).map(({ tax }) => tax)) };
  });
  return { rates: rates.filter(({ base, tax }) => base > 0 || tax > 0), amount: sum(shares.map((s) => s.amount)) };
}

describe('credit notes in any order', () => {
  const anyLine = fc
    .tuple(
      fc.integer({ min: 1, max: 12 }),
      fc.oneof(
        fc.integer({ min: 0, max: 30 }),
        fc.integer({ min: 0, max: 100_000 }),
        fc.integer({ max: 2 ** 45, min: 0 }),
      ),
      fc.constantFrom(...TAX_RATES),
    )
    .map(([quantity, unitPrice, taxRate]) => line(quantity, unitPrice, taxRate));
  const anyInvoice = fc
    .tuple(fc.array(anyLine, { minLength: 1, maxLength: 8, size: 'max' }), fc.integer({ min: -4, max: 4 }))
    .map(([lines, rounding]) => {
      const sums = totals(lines);
      return invoiceOf(lines, isTolerated(sums.gross + rounding, sums, lines) ? rounding : 0);
    })
    .filter(({ lines }) => totals(lines).net > 0);

  const choice = fc.nat({ max: 1_000_000 });
  const credit = fc.record({ kind: fc.constantFrom('lines', 'amounts', 'amounts', 'tiny'), of: choice, share: choice });
  const rest = fc.constant({ kind: 'rest', of: 0, share: 0 } as const);
  const rejection = fc.record({ kind: fc.constant('rejection'), of: choice, share: fc.constant(0) });
  type Step = { readonly kind: string; readonly of: number; readonly share: number };

  function requestOf({ lines }: CreditedInvoice, left: CreditShare, { kind, of, share }: Step): CreditRequest {
    if (kind === 'rest') return REST;
    if (kind === 'lines') {
      const position = of % lines.length;
      return ofLines([position + 1, 1 + (share % (lines[position]?.quantity ?? 1))]);
    }
    const { rate = 20, base = 1 } = left.rates[of % left.rates.length] ?? {};
    const net = kind === 'tiny' ? 1 + (share % 4) : 1 + Math.floor((base * share) / 3_000_000);
    return of % 3 === 0 ? amounts([rate, net], [rate, 1]) : amounts([rate, net]);
  }

  /** The code of the refusal that a request must get; null for none. */
  function dueCode({ lines }: CreditedInvoice, left: CreditShare, request: CreditRequest): ErrorCode | null {
    if (left.rates.length === 0) return 'credit_exceeds_invoice';
    if (request.kind === 'rest') return null;
    const asked =
      request.kind === 'amounts'
        ? request.amounts.map(({ taxRate, net }) => line(1, net, taxRate))
        : request.lines.map((each) => ({ ...line(1, 0, 20), ...lines[each.line - 1], quantity: each.quantity }));
    const most = (rate: TaxRate) => left.rates.find((each) => each.rate === rate)?.base ?? 0;
    const { rates, net } = totals(asked);
    if (rates.some(({ rate, base }) => base > most(rate))) return 'credit_exceeds_invoice';
    return net === 0 ? 'invalid_request' : null;
  }

  /** Plays the steps, checks each share, and returns how far a tax was from the VAT on its base alone, at most. */
  function play(invoice: CreditedInvoice, steps: readonly Step[]): number {
    const whole = { rates: totals(invoice.lines).rates, amount: invoice.amount };
    const limit = sumsOf([whole]);
    let counted: CreditShare[] = [];
    let deviation = 0;
    const take = (request: CreditRequest) => {
      const result = creditOf(invoice, counted, request);
      if ('problems' in result) return result.problems[0].code;
      const { lines, share } = result;
      expect(share.rates.map(({ rate, base }) => [rate, base])).toEqual(
        totals(lines).rates.map(({ rate, base }) => [rate, base]),
      );
      for (const { rate, base, tax } of share.rates) {
        const most = limit.rates.find((each) => each.rate === rate)?.tax ?? 0;
        expect(tax >= 0 && tax <= most && Number.isInteger(tax)).toBe(true);
        deviation = Math.max(deviation, Math.abs(tax - (totalsOf({ lines: [line(1, base, rate)] })?.tax ?? 0)));
      }
      expect(share.amount).toBeGreaterThanOrEqual(0);
      if (invoice.amount === totals(invoice.lines).gross) expect(share.amount).toBe(totalsOfRates(share.rates).gross);
      counted.push(share);
      const sums = sumsOf(counted);
      expect(sums.amount).toBeLessThanOrEqual(limit.amount);
      for (const { rate, base, tax } of sums.rates) {
        const most = limit.rates.find((each) => each.rate === rate);
        expect(base <= (most?.base ?? 0) && tax <= (most?.tax ?? 0)).toBe(true);
      }
      return null;
    };
    for (const step of steps) {
      if (step.kind === 'rejection') counted = counted.filter((_, i) => i !== step.of % counted.length);
      else {
        const left = leftOf(invoice, counted);
        const request = requestOf(invoice, left, step);
        expect(take(request)).toBe(dueCode(invoice, left, request));
      }
      expect(sumsOf([...counted, leftOf(invoice, counted)])).toEqual(limit);
    }
    if (leftOf(invoice, counted).rates.length > 0) expect(take(REST)).toBeNull();
    expect(sumsOf(counted)).toEqual(limit);
    expect(leftOf(invoice, counted)).toEqual({ rates: [], amount: 0 });
    expect(take(REST)).toBe('credit_exceeds_invoice');
    return deviation;
  }

  test('add up to the invoice, and none is more than a centime from the VAT on its base alone', () => {
    const steps = fc.array(fc.oneof({ weight: 20, arbitrary: credit }, rest), { maxLength: 25, size: 'max' });
    fc.assert(
      fc.property(anyInvoice, steps, (invoice, each) => {
        expect(play(invoice, each)).toBeLessThanOrEqual(1);
      }),
      { numRuns: 500 },
    );
  });

  test('add up to the invoice whichever of them are rejected, and each stays near the VAT on its base', () => {
    const steps = fc
      .array(fc.oneof({ weight: 16, arbitrary: credit }, rest, { weight: 12, arbitrary: rejection }), {
        maxLength: 45,
        size: 'max',
      })
      .filter((each) => each.filter(({ kind }) => kind === 'rejection').length <= 20);
    fc.assert(
      fc.property(anyInvoice, steps, (invoice, each) => {
        expect(play(invoice, each)).toBeLessThan(100);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the VAT of a credit note', () => {
  test('is that of all that is credited, less what is counted', () => {
    const invoice = invoiceOf([line(1, 6, 20)]);
    const shares: CreditShare[] = [];
    for (let i = 0; i < 3; i++) shares.push(credited(invoice, shares, amounts([20, 2])).share);
    // 0.4, 0.8 and 1.2 so far.
    expect(shares.map(({ rates }) => rates[0]?.tax)).toEqual([0, 1, 0]);
    expect(sumsOf(shares)).toEqual({ rates: [{ rate: 20, base: 6, tax: 1 }], amount: 7 });
  });

  test('is nothing rather than negative if a rejection left more counted than is due', () => {
    const invoice = invoiceOf([line(1, 10, 20)]);
    const counted = [{ rates: [{ rate: 20, base: 1, tax: 1 }], amount: 2 } as const];
    expect(credited(invoice, counted, amounts([20, 1])).share).toEqual({
      rates: [{ rate: 20, base: 1, tax: 0 }],
      amount: 1,
    });
  });

  test('is nothing for lines without a price, even if a rejection left less counted than is due', () => {
    const invoice = invoiceOf([line(1, 10, 20), line(1, 0, 20), line(1, 10, 10)]);
    // 0.8 is due at 20 %.
    const counted = [2, 2].map((base) => ({ rates: [{ rate: 20, base, tax: 0 }], amount: base }) as const);
    expect(credited(invoice, counted, ofLines([2, 1], [3, 1])).share).toEqual({
      rates: [
        { rate: 20, base: 0, tax: 0 },
        { rate: 10, base: 10, tax: 1 },
      ],
      amount: 11,
    });
  });

  test('is exact for the largest invoice', () => {
    const invoice = invoiceOf([line(1, 7_505_999_378_950_825, 20)]);
    const first = credited(invoice, [], amounts([20, 7_505_999_378_950_824])).share;
    expect(first).toEqual({
      rates: [{ rate: 20, base: 7_505_999_378_950_824, tax: 1_501_199_875_790_165 }],
      amount: 9_007_199_254_740_989,
    });
    expect(leftOf(invoice, [first])).toEqual({ rates: [{ rate: 20, base: 1, tax: 0 }], amount: 1 });
  });
});

test.each([
  [4, [1, 1, 1, 1]],
  [-4, [-1, -1, -1, -1]],
  [2, [0, 1, 0, 1]],
  [-2, [0, -1, 0, -1]],
])('the rounding of %i centimes of the invoice is spread over its credit notes', (rounding, parts) => {
  const invoice = invoiceOf([line(4, 1000, 20)], rounding);
  const shares: CreditShare[] = [];
  for (let i = 0; i < 4; i++) shares.push(credited(invoice, shares, ofLines([1, 1])).share);
  expect(shares.map(({ amount }) => amount - 1200)).toEqual(parts.map((part) => part + 0));
});

describe('the amount of a credit note', () => {
  test('is nothing rather than negative if a rejection left more of the rounding counted than is due', () => {
    const invoice = invoiceOf([line(1, 40, 0)], 4);
    const shares: CreditShare[] = [];
    for (const net of [9, 1, 9, 1]) shares.push(credited(invoice, shares, amounts([0, net])).share);
    expect(shares.map(({ amount }) => amount)).toEqual([9, 2, 9, 2]);
    const counted = shares.filter(({ amount }) => amount === 2);
    const next = credited(invoice, counted, amounts([0, 1])).share;
    expect(next.amount).toBe(0);
    expect(credited(invoice, [...counted, next], REST).share).toEqual({
      rates: [{ rate: 0, base: 37, tax: 0 }],
      amount: 40,
    });
  });

  test('is exact for the largest invoice', () => {
    const most = Number.MAX_SAFE_INTEGER;
    const invoice = invoiceOf([line(1, most, 0)], -5);
    // 5 × (1 - 1 / most) is less than 5, but not in floating point.
    expect(credited(invoice, [], amounts([0, most - 1])).share.amount).toBe(most - 1 - 4);
  });
});
