import { describe, expect, it } from 'vitest';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { amountOf } from '../../src/domain/invoice/search/amounts.ts';
import { LONGEST_SEARCH, MOST_SEARCHED } from '../../src/domain/invoice/search/bounds.ts';
import { matchesAll, searchOf } from '../../src/domain/invoice/search/query.ts';
import { termsOf } from '../../src/domain/invoice/search/terms.ts';
import { pendingInvoice } from '../support/invoices.ts';

describe('an amount', () => {
  it.each([
    ['1 234,50', 123_450],
    ['1\u202f234,50', 123_450],
    ['1234.5', 123_450],
    ['1,234.50', 123_450],
    ['1.234,50', 123_450],
    ["1'234.50", 123_450],
    ['-1234,50', 123_450],
    ['1234', 123_400],
    ['1,234', 123_400],
    ['0,05', 5],
    ['12.345.678,9', 1_234_567_890],
  ])('%s', (text, centimes) => {
    expect(amountOf(text)).toBe(centimes);
  });

  it.each(['', ',', '1 23,50', '1.2.3', '12a', '1234,567', '99999999999999', '1,,234', 'NaN', '1e5'])(
    '%s is none',
    (text) => {
      expect(amountOf(text)).toBeNull();
    },
  );
});

function finds(text: string, changes: Partial<Invoice>): boolean {
  const invoice = pendingInvoice(changes);
  const row = { id: invoice.id, amount: invoice.amount, ice: invoice.customer.ice, terms: termsOf(invoice) };
  return matchesAll(row, searchOf(text));
}

const named = (name: string) => ({ customer: { ...pendingInvoice({}).customer, name } });

describe('a name', () => {
  it.each([
    ['Société Générale de l’Étang', 'etang'],
    ['Société Générale de l’Étang', 'ÉTA soc'],
    ['Cœur & Fils', 'coeur'],
    ['COEUR ET FILS', 'cœur'],
    ['شَرِكَة الأطلس', 'اطلس'],
    ['شَرِكَة الأطلس', 'الأطل'],
    ['شركـــة أطلس', 'شركه'],
    ['مؤسسة ليلى', 'ليلي'],
    ['ﻻﻛﺘﻮﺱ', 'لاكتوس'],
    ['S.A.R.L. Atlas', 's.a.r.l'],
    ['Al-Amal', 'amal'],
    ['Al-Amal', 'al-amal'],
    ['Maison ١٢٣', 'maison 123'],
    ['Maison 123', '۱۲۳'],
    ['A', 'a'],
  ])('%s is found by %s', (name, text) => {
    expect(finds(text, named(name))).toBe(true);
  });

  it.each([
    ['Société Générale', 'nerale'],
    ['Société Générale', 'societe atlas'],
    ['Atlas', 'a'],
  ])('%s is not found by %s', (name, text) => {
    expect(finds(text, named(name))).toBe(false);
  });
});

describe('a document', () => {
  const ice = '001234567000089';
  const whole: Partial<Invoice> = {
    amount: 123_450,
    number: '2026-000123',
    dgiId: 'DGI-TEST-4417080911223344',
    references: { order: 'BC-4711/A', contract: null } as never,
    metadata: { order: 'web_88012', note: '__proto__ constructor' },
  };
  it.each([
    ['2026-000123', true],
    ['000123', true],
    ['123', true],
    ['23', true],
    ['2026-000124', false],
    [ice, true],
    ['001 234 567 000 089', true],
    ['234567', true],
    ['3456700', true],
    ['4567000', true],
    ['000089', true],
    ['0012', true],
    ['3456', false],
    ['1 234,50', true],
    ['1 234,50 MAD', true],
    ['1.234,51', false],
    ["'2026-000123", true],
    ['dgi-test-4417080911223344', true],
    ['223344', true],
    ['BC-4711/A', true],
    ['bc-47', true],
    ['WEB_88012', true],
    ['88012 atlas 1234.5', true],
    ['constructor', true],
  ])('with number, references and metadata is found by %s: %s', (text, expected) => {
    expect(finds(text, whole)).toBe(expected);
  });

  it('is found by its id', () => {
    const { id } = pendingInvoice({});
    expect(finds(id, { id })).toBe(true);
    expect(finds(id, {})).toBe(false);
  });

  it('whose serial number is one digit is found by it', () => {
    expect(finds('7', { number: '2026-000007' })).toBe(true);
    expect(finds('7', { number: '2026-000017' })).toBe(false);
  });
});

describe('bounds', () => {
  it.each([
    ['x'.repeat(LONGEST_SEARCH + 1), 'search must have at most 200 characters.'],
    [Array.from({ length: MOST_SEARCHED + 1 }, (_, n) => `w${n}`).join(' '), 'search must have at most 12 words.'],
    ['a.'.repeat(30), 'search must have at most 12 words.'],
    ['', 'search must have at least one letter or digit.'],
    [' … \u0301\u200f ', 'search must have at least one letter or digit.'],
  ])('%s', (text, message) => {
    expect(() => searchOf(text)).toThrow(message);
  });

  it('a text of any characters is read or refused', () => {
    for (const text of ['\ud800', '\ud800a', '.*+?^$()|[]{}\\', '\u0000', 'ﷺ'.repeat(200), '𐐀𐐀𐐀𐐀𐐀', '1 '.repeat(99)])
      try {
        for (const { meanings } of searchOf(text)) expect(meanings.length).toBeLessThan(9);
      } catch (error) {
        expect(error).toMatchObject({ code: 'invalid_request' });
      }
  });

  it('an invoice has a bounded number of terms, in bounded time', () => {
    const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, 'ﷺ '.repeat(250)]));
    const many = { metadata, ...named(Array.from({ length: 60 }, (_, n) => `n${n}`).join(' ')) };
    const before = process.threadCpuUsage();
    expect(termsOf(pendingInvoice(many)).length).toBeLessThan(150);
    expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(500);
  });
});
