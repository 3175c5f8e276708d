import { expect, it } from 'vitest';
import { figuresOn } from '../../../../src/domain/morocco/rule.ts';
import { ALL_RULES } from '../../../../src/domain/morocco/rules.ts';
import { stampDutyOn } from '../../../../src/domain/morocco/stamp-duty.ts';
import { PAYMENT_MEANS_NAMES } from '../../../../src/domain/payment-means.ts';

const SOURCE = { source: 'a test', readOn: '2026-11-29' };
const cash = { paymentMeans: 'cash' } as const;
const invoice = { kind: 'invoice', terms: cash, amount: 120_000, totals: { tax: 20_000 }, withholding: null } as const;

it('is the percentage of the rule of what is left to pay, rounded half up', () => {
  expect(stampDutyOn('2026-05-04', invoice)).toEqual({ percent: 0.25, amount: 300 });
  const amounts = [
    [123_400, 309],
    [199, 0],
    [200, 1],
    [599, 1],
    [600, 2],
  ] as const;
  for (const [amount, duty] of amounts) expect(stampDutyOn('2026-05-04', { ...invoice, amount })?.amount).toBe(duty);
  const { says } = ALL_RULES.find(({ code }) => code === 'cash_stamp_duty')!;
  expect(says.en).toContain('0.25 %');
});

it('is of what the buyer pays, after the VAT that it withholds', () => {
  expect(stampDutyOn('2026-05-04', { ...invoice, withholding: { percent: 75 } })?.amount).toBe(263);
});

it('concerns invoices in cash only', () => {
  const others = PAYMENT_MEANS_NAMES.filter((name) => name !== 'cash');
  for (const paymentMeans of [...others, null])
    expect(stampDutyOn('2026-05-04', { ...invoice, terms: { paymentMeans } })).toBeNull();
  expect(stampDutyOn('2026-05-04', { ...invoice, kind: 'credit_note' })).toBeNull();
});

it('follows the rule: the day before, of and after a change, and its end', () => {
  const periods = [
    { from: '2024-01-01', figures: { percent: 0.25 }, ...SOURCE },
    { from: '2026-07-01', until: '2026-12-31', figures: { percent: 0.5 }, ...SOURCE },
  ];
  const percents = ['2023-12-31', '2024-01-01', '2026-06-30', '2026-07-01', '2026-07-02', '2026-12-31', '2027-01-01'];
  expect(percents.map((date) => figuresOn(periods, date)?.percent ?? null)).toEqual([
    null,
    0.25,
    0.25,
    0.5,
    0.5,
    0.5,
    null,
  ]);
  expect(stampDutyOn('2023-12-31', invoice, periods)).toBeNull();
  expect(stampDutyOn('2026-07-01', invoice, periods)).toEqual({ percent: 0.5, amount: 600 });
  expect(figuresOn([{ from: null, figures: 1, ...SOURCE }], '1990-01-01')).toBe(1);
});
