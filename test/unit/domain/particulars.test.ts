import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalsOf, foreignAmountText, isForeignCurrency } from '../../../src/domain/currencies.ts';
import { problemsOf } from '../../../src/domain/input-problems.ts';
import { createInvoiceInput } from '../../../src/domain/invoice/create-invoice-input.ts';
import { ruleProblems } from '../../../src/domain/invoice/invoice-rules.ts';
import {
  completeParticulars,
  NO_PARTICULARS,
  type ParticularParts,
  particularsProblems,
} from '../../../src/domain/invoice/particulars.ts';
import { NO_TERMS, termsOf } from '../../../src/domain/invoice/terms.ts';

const ISSUED = '2026-11-21';
/** The problems of particulars of an invoice over 10,834.50 MAD. */
const problems = (parts: ParticularParts, amount = 1_083_450, lines = 1) =>
  particularsProblems(parts, { amount, lines }, ISSUED).map(({ code, param }) => `${code} ${param}`);

const EUROS = { currency: 'EUR', amount: 100_000, rate: 10.8345, rateDate: '2026-11-20' };

describe('a period of service', () => {
  it('goes from a day to the same or a later one, ten years before the invoice to five years after it', () => {
    const periods = [
      ['2026-11-01', '2026-11-30', []],
      ['2026-11-21', '2026-11-21', []],
      ['2016-11-21', '2031-11-21', []],
      ['2026-11-30', '2026-11-29', ['invalid_date servicePeriod.to']],
      ['2016-11-20', '2026-11-21', ['invalid_date servicePeriod.from']],
      ['2026-11-21', '2031-11-22', ['invalid_date servicePeriod.to']],
    ] as const;
    for (const [from, to, found] of periods) expect(problems({ servicePeriod: { from, to } })).toEqual(found);
  });

  it('says when the operation was, so that the profile does not; a date of its own is stated beside it', () => {
    const seller = { operationDateIsIssueDate: true };
    const servicePeriod = { from: '2026-09-01', to: '2026-09-30' };
    const createdAt = new Date('2026-11-21T10:00:00Z');
    const stated = (period: typeof servicePeriod | null, operationDate: string | null = null) =>
      termsOf({ terms: { ...NO_TERMS, operationDate }, seller, createdAt, number: null, servicePeriod: period })
        .operationDate;
    expect(stated(null)).toBe(ISSUED);
    expect(stated(servicePeriod)).toBeNull();
    expect(stated(servicePeriod, '2026-09-15')).toBe('2026-09-15');
  });
});

describe('a value in another currency', () => {
  it('is the amount of the invoice at its rate', () => {
    expect(problems({ foreignValue: EUROS })).toEqual([]);
    expect(problems({ foreignValue: { ...EUROS, amount: 100_100 } })).toEqual(['amount_mismatch foreignValue.amount']);
    const [problem] = particularsProblems({ foreignValue: EUROS }, { amount: 1_200_000, lines: 1 }, ISSUED);
    expect(problem?.message).toBe(
      'foreignValue.amount is 100000 (1000.00 EUR): at 10.8345 it is 10834.50 MAD, and amount is 12000.00 MAD. Rounding does not explain the difference.',
    );
    // 12,000.00 MAD / 10.8345 = 1107.573 EUR, which is accepted then.
    expect(problem?.expected).toBe('110757');
    expect(problems({ foreignValue: { ...EUROS, amount: 110_757 } }, 1_200_000)).toEqual([]);
    // A currency without decimals; and an amount that is nothing in a currency has no value to expect.
    const yen = { ...EUROS, currency: 'JPY', rate: 0.0689 };
    const [inYen] = particularsProblems({ foreignValue: yen }, { amount: 1_200_000, lines: 1 }, ISSUED);
    expect(inYen?.expected).toBe('174165');
    const [none] = particularsProblems({ foreignValue: { ...yen, rate: 900_000 } }, { amount: 100, lines: 1 }, ISSUED);
    expect(none).toMatchObject({ code: 'amount_mismatch' });
    expect(none).not.toHaveProperty('expected');
  });

  it('may differ by the rounding of the rate, of the value and of the lines, and by no centime more', () => {
    // 1000.00 EUR ± 0.005 at 10.8345 ± 0.00005, and half a centime for a line: 10 centimes and a half.
    const off = (centimes: number, lines = 1) => problems({ foreignValue: EUROS }, 1_083_450 + centimes, lines);
    expect([off(10), off(-10)]).toEqual([[], []]);
    expect([off(11), off(-11)].flat()).toHaveLength(2);
    expect([off(12, 5), off(-12, 5)]).toEqual([[], []]);
    expect([off(13, 5), off(-13, 5)].flat()).toHaveLength(2);
    // A rate that is written with fewer decimals than banks state has no more room.
    expect(problems({ foreignValue: { ...EUROS, rate: 10.8 } }, 1_080_000)).toEqual([]);
    expect(problems({ foreignValue: { ...EUROS, rate: 10.8 } })).toHaveLength(1);
    expect(problems({ foreignValue: { ...EUROS, rate: 10.83452 } }, 1_083_460)).toHaveLength(1);
  });

  it('has the decimals of its currency', () => {
    expect(problems({ foreignValue: { ...EUROS, currency: 'JPY', amount: 165_413, rate: 0.0655 } })).toEqual([]);
    expect(problems({ foreignValue: { ...EUROS, currency: 'KWD', amount: 1_000_000, rate: 10.8345 } })).toEqual([]);
    expect(foreignAmountText(1_000_050, 'KWD')).toBe('1000.050');
    expect(foreignAmountText(7, 'EUR')).toBe('0.07');
    expect(foreignAmountText(7, 'JPY')).toBe('7');
    expect([decimalsOf('XOF'), decimalsOf('TND'), isForeignCurrency('MAD')]).toEqual([0, 3, false]);
    expect(() => decimalsOf('MAD')).toThrow(RangeError);
  });

  it('has a rate of the year before the invoice', () => {
    const dated = (rateDate: string) => problems({ foreignValue: { ...EUROS, rateDate } });
    expect([dated('2025-11-21'), dated(ISSUED)]).toEqual([[], []]);
    expect([dated('2025-11-20'), dated('2026-11-22')].flat()).toEqual([
      'invalid_date foreignValue.rateDate',
      'invalid_date foreignValue.rateDate',
    ]);
  });

  it('is not compared with an amount that is refused', () => {
    const lines = [{ description: 'x', quantity: 1, unitPrice: 10_000, taxRate: 20 as const }];
    const found = ruleProblems({ amount: 12_001, lines, foreignValue: EUROS }, new Date(`${ISSUED}T10:00:00Z`));
    expect(found.map(({ param }) => param)).toEqual(['amount']);
  });

  it('agrees whenever an amount is rounded from it, for every currency and rate', () => {
    const rates = fc.integer({ min: 1, max: 500_000_000 }).map((scaled) => scaled / 10_000);
    fc.assert(
      fc.property(
        fc.constantFrom('JPY', 'EUR', 'KWD'),
        fc.integer({ min: 1, max: 1_000_000_000 }),
        rates,
        (currency, amount, rate) => {
          const exact = (BigInt(amount) * BigInt(Math.round(rate * 10_000))) / 10n ** BigInt(decimalsOf(currency) + 2);
          fc.pre(exact > 0n && exact < 2n ** 53n);
          const foreignValue = { currency, amount, rate, rateDate: ISSUED };
          expect(problems({ foreignValue }, Number(exact), 2)).toEqual([]);
          const far = Number(exact) * 2 + 1_000_000;
          fc.pre(far < Number.MAX_SAFE_INTEGER && exact > 1000n && amount > 100 && rate > 1);
          expect(problems({ foreignValue }, far, 2)).toHaveLength(1);
        },
      ),
    );
  });
});

describe('the structure of particulars', () => {
  const input = (parts: object) => {
    const { success, error } = createInvoiceInput.safeParse({
      amount: 12_000,
      currency: 'MAD',
      customer: { ice: '001234567000062', name: 'A' },
      lines: [{ description: 'x', quantity: 1, unitPrice: 10_000 }],
      ...parts,
    });
    return success ? null : problemsOf(error).map(({ message }) => message);
  };

  it.each([
    [{ references: { order: 'x'.repeat(51) } }, 'references.order is too long: at most 50 characters.'],
    [{ references: { order: 'a\nb' } }, 'references.order contains a line break or a tab: expected one line.'],
    [{ references: { contract: ' ' } }, 'references.contract must not be empty: expected the number of the contract.'],
    [{ servicePeriod: { from: '2026-01-01' } }, "servicePeriod.to is required: a calendar date, such as '2026-01-31'."],
    [
      { foreignValue: { ...EUROS, currency: 'MAD' } },
      'foreignValue.currency must be the code of a currency other than MAD, such as EUR (ISO 4217); "MAD" was sent.',
    ],
    [
      { foreignValue: { ...EUROS, amount: 10.5 } },
      'foreignValue.amount must be an integer above zero, in the smallest unit of the currency, such as 100050 for 1000.50 EUR; 10.5 was sent.',
    ],
    [
      { foreignValue: { ...EUROS, rate: 10.123456789 } },
      'foreignValue.rate must be a number above 0 and below a million of at most 8 decimals; 10.123456789 was sent.',
    ],
    [
      { foreignValue: { ...EUROS, rate: 1_000_000 } },
      'foreignValue.rate must be a number above 0 and below a million of at most 8 decimals; 1000000 was sent.',
    ],
    [
      { foreignValue: { ...EUROS, rate: 0 } },
      'foreignValue.rate must be a number above 0 and below a million of at most 8 decimals; 0 was sent.',
    ],
  ])('%j is refused', (parts, message) => {
    expect(input(parts)).toEqual([message]);
  });

  it('takes what is stated, and of a draft what is complete', () => {
    expect(input({ references: { order: 'BC-4711' }, servicePeriod: null, foreignValue: EUROS })).toBeNull();
    expect(completeParticulars({ servicePeriod: { from: '2026-01-01' }, foreignValue: { currency: 'EUR' } })).toEqual(
      NO_PARTICULARS,
    );
    expect(completeParticulars({ references: { order: 'BC-4711' }, foreignValue: EUROS })).toEqual({
      ...NO_PARTICULARS,
      references: { order: 'BC-4711', contract: null },
      foreignValue: EUROS,
    });
  });
});
