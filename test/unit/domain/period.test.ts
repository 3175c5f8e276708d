import { expect, it } from 'vitest';
import { daysOf, periodBefore, periodNamed } from '../../../src/domain/invoice/periods/period.ts';

it.each([
  ['2026-11', '2026-11-01', '2026-11-30', '2026-10'],
  ['2026-01', '2026-01-01', '2026-01-31', '2025-12'],
  ['2028-02', '2028-02-01', '2028-02-29', '2028-01'],
  ['2026-12', '2026-12-01', '2026-12-31', '2026-11'],
  ['2026-Q4', '2026-10-01', '2026-12-31', '2026-Q3'],
  ['2026-Q1', '2026-01-01', '2026-03-31', '2025-Q4'],
  ['2026', '2026-01-01', '2026-12-31', '2025'],
  ['2000', '2000-01-01', '2000-12-31', '1999'],
])('%s is from %s to %s, after %s', (name, from, through, before) => {
  const period = periodNamed(name);
  expect(period).toEqual({ name, from, through });
  expect(periodBefore(period).name).toBe(before);
  // The two have no gap.
  expect([...daysOf(periodBefore(period)), ...daysOf(period)]).toEqual(
    daysOf({ from: periodBefore(period).from, through }),
  );
});

it.each(['', '1999', '20266', '2026-13', '2026-00', '2026-Q5', '2026-Q0', '2026-1', ' 2026', '2026-11\n', '٢٠٢٦'])(
  'no period: %j',
  (name) => {
    expect(() => periodNamed(name)).toThrow(expect.objectContaining({ code: 'invalid_request', param: 'period' }));
  },
);
