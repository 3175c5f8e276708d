import { describe, expect, it } from 'vitest';
import { hasBankAccountKey, spacedBankAccount } from '../../../src/domain/bank-account.ts';
import { addDays, addYears, isCalendarDate } from '../../../src/domain/calendar-date.ts';
import { inputSchema } from '../../../src/domain/invoice/field-makers.ts';
import { type InvoiceTerms, NO_TERMS, ownTerms, termsOf, termsProblems } from '../../../src/domain/invoice/terms.ts';
import { INVOICE_TERMS } from '../../../src/domain/invoice/terms-fields.ts';
import { PAYMENT_MEANS_NAMES, paymentMeansCode } from '../../../src/domain/payment-means.ts';
import { SPECIMEN_SELLER } from '../../../src/domain/tenant/tenant.ts';

const termsInput = inputSchema(INVOICE_TERMS, 'graphql');
const [RIB, OTHER_RIB] = ['999780000128473900001726', '999780000000000000000008'];
/** An instant on 1 March in Morocco and on 28 February in UTC. */
const createdAt = new Date('2027-02-28T23:30:00Z');
const PROFILE = {
  ...SPECIMEN_SELLER,
  paymentMode: 'Virement à 30 jours',
  paymentMeans: 'transfer',
  paymentTermDays: 30,
  bankAccount: RIB,
  operationDateIsIssueDate: true,
} as const;

describe('a calendar date', () => {
  it.each([
    ['2026-01-31', true],
    ['2028-02-29', true],
    ['2026-02-29', false],
    ['2026-04-31', false],
    ['2026-13-01', false],
    ['2026-00-10', false],
    ['2026-01-00', false],
    ['2026-1-31', false],
    ['+12026-01-31', false],
    ['2026-01-31T00:00:00Z', false],
    ['2026-01-31\n', false],
    ['٢٠٢٦-٠١-٣١', false],
    ['', false],
  ])('%j: %s', (text, is) => {
    expect(isCalendarDate(text)).toBe(is);
  });

  it('is added to across months, years and leap days', () => {
    expect([addDays('2026-12-31', 1), addDays('2028-02-28', 1), addDays('2026-03-29', -29)]).toEqual([
      '2027-01-01',
      '2028-02-29',
      '2026-02-28',
    ]);
    expect([addYears('2028-02-29', 1), addYears('2026-01-31', -10)]).toEqual(['2029-03-01', '2016-01-31']);
  });
});

describe('the words of the terms', () => {
  it.each(['paymentMode', 'paymentReference'])('%s must be one line', (name) => {
    expect(termsInput.safeParse({ [name]: 'Chèque n° 12' }).success).toBe(true);
    for (const text of ['Chèque\nn° 12', 'Chèque\r', '\tn° 12'])
      expect(termsInput.safeParse({ [name]: text }).error?.issues[0]?.message, text).toMatch('line break');
  });
});

describe('a RIB', () => {
  it.each([
    [RIB, true],
    [OTHER_RIB, true],
    // One wrong digit; two swapped digits.
    ['999780000128473900001725', false],
    ['999780000128473900007126', false],
    // Divisible by 97, but with a key outside 01 to 97.
    ['000000000000000000000000', false],
  ])('%s has a valid key: %s', (rib, has) => {
    expect(hasBankAccountKey(rib)).toBe(has);
  });

  it('has exactly one valid key for each account, 01 to 97', () => {
    for (let account = 0; account < 300; account++) {
      const start = `999780${String(account).padStart(16, '0')}`;
      const keys = Array.from({ length: 100 }, (_, key) => String(key).padStart(2, '0'));
      expect(keys.filter((key) => hasBankAccountKey(start + key))).toHaveLength(1);
    }
  });

  it('is grouped into its parts', () => {
    expect(spacedBankAccount(RIB)).toBe('999 780 0001284739000017 26');
  });
});

describe('the terms that documents state', () => {
  const stated = (own: Partial<InvoiceTerms>, seller: Parameters<typeof termsOf>[0]['seller'] = PROFILE) =>
    termsOf({ terms: { ...NO_TERMS, ...own }, seller, createdAt, number: '2027-000001', servicePeriod: null });

  it("default to the profile's, counted from the invoice's date in Morocco", () => {
    expect(stated({})).toEqual({
      operationDate: '2027-02-28',
      dueDate: '2027-03-30',
      paymentMode: 'Virement à 30 jours',
      paymentMeans: 'transfer',
      paymentReference: '2027-000001',
      bankAccount: RIB,
    });
  });

  it("are the invoice's own if it states any", () => {
    const own: InvoiceTerms = {
      operationDate: '2027-01-15',
      dueDate: '2027-06-01',
      paymentMode: 'Traite',
      paymentMeans: 'bill_of_exchange',
      paymentReference: 'CMD 12',
      bankAccount: OTHER_RIB,
    };
    expect(stated(own)).toEqual(own);
  });

  it('never combine words and payment means of two sources, and state no account for cash', () => {
    expect(stated({ paymentMeans: 'cash' })).toMatchObject({
      paymentMode: 'Espèces',
      paymentMeans: 'cash',
      bankAccount: null,
      paymentReference: '2027-000001',
    });
    expect(stated({ paymentMeans: 'cash' }, { ...PROFILE, documentLanguage: 'en' })).toMatchObject({
      paymentMode: 'Cash',
    });
    expect(stated({ paymentMode: 'Espèces' })).toMatchObject({ paymentMode: 'Espèces', paymentMeans: null });
    expect(stated({ paymentMeans: 'cheque', bankAccount: OTHER_RIB })).toMatchObject({ bankAccount: OTHER_RIB });
  });

  it("never combine a specimen's words with the payment means of an incomplete profile", () => {
    expect(stated({}, { paymentMeans: 'cheque' })).toMatchObject({ paymentMode: 'Chèque', paymentMeans: 'cheque' });
    expect(stated({}, { paymentMeans: 'cheque', paymentMode: 'Par chèque' })).toMatchObject({
      paymentMode: 'Par chèque',
    });
  });

  it('of a profile that predates payment means are its words only', () => {
    const { paymentMeans, paymentTermDays, bankAccount, operationDateIsIssueDate, ...before } = PROFILE;
    const known = { ...NO_TERMS, paymentMode: before.paymentMode };
    expect(stated({}, before)).toEqual(known);
    expect(stated({}, {})).toEqual({ ...known, paymentMode: SPECIMEN_SELLER.paymentMode });
  });

  it('have a different code for each payment means, and one for a transfer without an account', () => {
    const codes = PAYMENT_MEANS_NAMES.map((means) => paymentMeansCode(means, true));
    expect(new Set(codes).size).toBe(codes.length);
    expect([paymentMeansCode('transfer', true), paymentMeansCode('transfer', false)]).toEqual(['30', '42']);
    expect([paymentMeansCode('cash', false), paymentMeansCode('cheque', false)]).toEqual(['10', '20']);
    expect(paymentMeansCode(null, true)).toBe('1');
  });
});

describe('terms that are sent', () => {
  const paramsOf = (terms: unknown) => {
    const parsed = termsInput.safeParse(terms);
    return parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join('.'));
  };

  it('may be absent, null or partial', () => {
    for (const terms of [{}, { dueDate: null }, { paymentMeans: 'cash' }]) expect(paramsOf(terms)).toEqual([]);
    expect(ownTerms(null)).toEqual(NO_TERMS);
    expect(ownTerms({ paymentMeans: 'cash', dueDate: undefined })).toEqual({ ...NO_TERMS, paymentMeans: 'cash' });
  });

  it.each([
    [{ operationDate: '2026-02-30' }, 'operationDate'],
    [{ dueDate: 20260131 }, 'dueDate'],
    [{ dueDate: '' }, 'dueDate'],
    [{ paymentMode: ' ' }, 'paymentMode'],
    [{ paymentMode: 'x'.repeat(101) }, 'paymentMode'],
    [{ paymentMeans: 'gold' }, 'paymentMeans'],
    [{ paymentMeans: 'toString' }, 'paymentMeans'],
    [{ paymentReference: 'a\u0000b' }, 'paymentReference'],
    [{ paymentReference: 'x'.repeat(51) }, 'paymentReference'],
    [{ paymentReference: '\u200b' }, 'paymentReference'],
    [{ bankAccount: '999 780 0001284739000017 26' }, 'bankAccount'],
    [{ bankAccount: `${RIB}0` }, 'bankAccount'],
    [{ bankAccount: '٩'.repeat(24) }, 'bankAccount'],
    [{ bankAccount: Number(RIB) }, 'bankAccount'],
    [{ iban: RIB }, ''],
    ['30 jours', ''],
  ])('%j is refused as malformed', (terms, param) => {
    expect(paramsOf(terms)).toEqual([param]);
  });

  it('must have dates within the limits and an account with a valid key', () => {
    const broken = (terms: object) => termsProblems(terms, '2026-11-22').map(({ code, param }) => `${code} ${param}`);
    for (const day of ['2016-11-22', '2027-11-22']) expect(broken({ operationDate: day })).toEqual([]);
    for (const day of ['2016-11-21', '2027-11-23', '0001-01-01', '9999-12-31']) {
      expect(broken({ operationDate: day })).toEqual(['invalid_date terms.operationDate']);
    }
    for (const day of ['2026-11-22', '2031-11-22']) expect(broken({ dueDate: day })).toEqual([]);
    for (const day of ['2026-11-21', '2031-11-23'])
      expect(broken({ dueDate: day })).toEqual(['invalid_date terms.dueDate']);
    expect(broken({ bankAccount: RIB })).toEqual([]);
    expect(broken({ bankAccount: `${RIB.slice(0, -1)}7`, dueDate: '2020-01-01' })).toEqual([
      'invalid_date terms.dueDate',
      'invalid_bank_account terms.bankAccount',
    ]);
  });
});
