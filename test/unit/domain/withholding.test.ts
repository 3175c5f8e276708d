import { describe, expect, it } from 'vitest';
import { wholeMonths } from '../../../src/domain/calendar-date.ts';
import { problemsOf } from '../../../src/domain/input-problems.ts';
import { createInvoiceInput } from '../../../src/domain/invoice/create-invoice-input.ts';
import { completeParticulars, particularsProblems } from '../../../src/domain/invoice/particulars.ts';
import { statedWithholding } from '../../../src/domain/invoice/withholding.ts';
import { netToPay } from '../../../src/domain/net-to-pay.ts';

const certificate = { number: 'ARF 117', date: '2026-05-21' };
const invoice = (tax: number, percent: number | null) => ({
  amount: 6 * tax,
  issueDate: '2026-11-21',
  totals: { tax },
  withholding: percent === null ? null : { percent, certificate },
});

describe('VAT that the buyer withholds', () => {
  it('is a percentage of the VAT, rounded half up, and leaves the net to pay', () => {
    expect(statedWithholding(invoice(2000, 75))).toEqual({
      percent: 75,
      amount: 1500,
      certificate: { ...certificate, ageInMonths: 6 },
    });
    const amounts = [
      [2000, 75, 1500],
      [2000, 100, 2000],
      [334, 25, 84],
      [333, 25, 83],
      [2, 75, 2],
      [1, 49, 0],
      [1, 50, 1],
      [0, 100, 0],
    ] as const;
    for (const [tax, percent, amount] of amounts) {
      expect(statedWithholding(invoice(tax, percent))?.amount).toBe(amount);
      expect(netToPay(invoice(tax, percent))).toBe(6 * tax - amount);
    }
    const most = { ...invoice(0, 99), amount: 9_007_199_254_740_000, totals: { tax: 1_501_199_875_790_000 } };
    expect(netToPay(most)).toBe(7_521_011_377_707_900);
  });

  it('is nothing if nothing is stated: the amount is paid', () => {
    expect(statedWithholding(invoice(2000, null))).toBeNull();
    expect(netToPay(invoice(2000, null))).toBe(12_000);
    expect(statedWithholding({ ...invoice(2000, 75), withholding: { percent: 75, certificate: null } })).toEqual({
      percent: 75,
      amount: 1500,
      certificate: null,
    });
  });
});

it.each([
  ['2026-02-15', '2026-02-15', 0],
  ['2026-02-15', '2026-08-14', 5],
  ['2026-02-15', '2026-08-15', 6],
  ['2025-12-31', '2026-01-01', 0],
  ['2025-12-31', '2026-02-27', 1],
  ['2025-12-31', '2026-02-28', 2],
  ['2023-08-31', '2024-02-28', 5],
  ['2023-08-31', '2024-02-29', 6],
  ['2025-02-28', '2026-02-27', 11],
  ['2025-02-28', '2026-02-28', 12],
  ['2026-03-30', '2026-04-30', 1],
])('from %s to %s there are %i whole months', (from, to, months) => {
  expect(wholeMonths(from, to)).toBe(months);
});

describe('the certificate', () => {
  it('is of the date of the invoice, or at most ten years before it', () => {
    const problems = (date: string) =>
      particularsProblems(
        { withholding: { percent: 75, certificate: { ...certificate, date } } },
        { amount: 12_000, lines: 1 },
        '2026-11-21',
      ).map(({ code, param }) => `${code} ${param}`);
    expect([problems('2026-11-21'), problems('2016-11-21')]).toEqual([[], []]);
    expect([problems('2026-11-22'), problems('2016-11-20')].flat()).toEqual([
      'invalid_date withholding.certificate.date',
      'invalid_date withholding.certificate.date',
    ]);
  });

  it('is complete or missing: of a draft with a part of it, nothing is withheld yet', () => {
    const of = (withholding: object) => completeParticulars({ withholding }).withholding;
    expect(of({ percent: 75 })).toEqual({ percent: 75, certificate: null });
    expect(of({ percent: 75, certificate })).toEqual({ percent: 75, certificate });
    expect(of({ percent: 75, certificate: { number: 'ARF 117' } })).toBeNull();
    expect(of({ percent: 75, certificate: { date: '2026-05-21' } })).toBeNull();
    expect(of({ certificate })).toBeNull();
  });
});

describe('the structure', () => {
  const refused = (withholding: unknown) => {
    const { error } = createInvoiceInput.safeParse({
      amount: 12_000,
      currency: 'MAD',
      customer: { ice: '001234567000062', name: 'A' },
      lines: [{ description: 'x', quantity: 1, unitPrice: 10_000 }],
      withholding,
    });
    return error ? problemsOf(error).map(({ message }) => message) : null;
  };

  it('has a whole percentage of 1 to 100, and a certificate with number and day', () => {
    for (const percent of [1, 75, 100]) expect(refused({ percent })).toBeNull();
    expect(refused({ percent: 75, certificate })).toBeNull();
    for (const percent of [0, 101, 75.5, -1]) {
      expect(refused({ percent })).toEqual([
        `withholding.percent must be a whole number from 1 to 100; ${percent} was sent.`,
      ]);
    }
    expect(refused({})).toEqual(['withholding.percent is required: a whole number from 1 to 100.']);
    expect(refused({ percent: 75, certificate: { ...certificate, date: '2026-02-30' } })).toEqual([
      expect.stringContaining('withholding.certificate.date must be a calendar date'),
    ]);
    expect(refused({ percent: 75, certificate: { ...certificate, number: 'x'.repeat(51) } })).toEqual([
      'withholding.certificate.number is too long: at most 50 characters.',
    ]);
    expect(refused({ percent: 75, certificate: { ...certificate, number: 'a\nb' } })).toHaveLength(1);
  });
});
