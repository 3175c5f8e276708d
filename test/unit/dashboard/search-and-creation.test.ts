import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WAYS } from '../../../src/dashboard/creation/by-api.ts';
import { drawnUp, type TypedLine } from '../../../src/dashboard/creation/drawn-up.ts';
import { csvLine } from '../../../src/dashboard/invoices/csv.ts';
import { searchedOf } from '../../../src/dashboard/invoices/searched.ts';
import { plainAmount } from '../../../src/dashboard/text/money.ts';
import { problemsOf } from '../../../src/domain/input-problems.ts';
import { createInvoiceInput } from '../../../src/domain/invoice/create-invoice-input.ts';
import { TAX_RATES } from '../../../src/domain/invoice/tax-rate.ts';
import { totalsOf } from '../../../src/domain/invoice/totals.ts';

it.each([
  ['', null],
  ['  ', null],
  ['inv_1', { kind: 'id', id: 'inv_1' }],
  ['001234567000089', { kind: 'match', match: { ice: '001234567000089' } }],
  ['1 234,50', { kind: 'match', match: { amount: '123450' } }],
  ['1\u202f234\u00a0567,50', { kind: 'match', match: { amount: '123456750' } }],
  ['1,234.50', { kind: 'match', match: { amount: '123450' } }],
  ['0,05', { kind: 'match', match: { amount: '5' } }],
  ['2026-000012', { kind: 'text', text: '2026-000012' }],
  ['12345', { kind: 'text', text: '12345' }],
  ['Atlas', { kind: 'text', text: 'Atlas' }],
])('the search %j', (typed, searched) => {
  expect(searchedOf(typed)).toEqual(searched);
});

it('a line of CSV has the signs of its language, and no formula', () => {
  const cells = ['=HYPERLINK("x")', '+1', 'a;b', 'a,b', 'say "no"', 'two\nlines', null, -123456, 5];
  const texts = `"'=HYPERLINK(""x"")";'+1;"a;b";"a,b";"say ""no""";"two\nlines";`;
  expect(csvLine(cells, 'fr')).toBe(`${texts};-1234,56;0,05\r\n`);
  expect(csvLine(['Atlas', 100], 'en')).toBe('Atlas,1.00\r\n');
});

it('a cell of a CSV file is no formula, whatever an import takes as its end', () => {
  expect(csvLine(['a\t=1+1'], 'en')).toBe('"a\t=1+1"\r\n');
  expect(csvLine(['\n=1+1'], 'en')).toBe('"\'\n=1+1"\r\n');
  for (const sign of ['＝', '＋', '－', '＠', ' =']) expect(csvLine([`${sign}1`], 'en')).toBe(`'${sign}1\r\n`);
});

it('digits that a spreadsheet would change as a number stay a text', () => {
  for (const text of ['002189456000077', '999000000000005', '123456789012', '07', '00'])
    expect(csvLine([text], 'fr')).toBe(`"=""${text}"""\r\n`);
  for (const text of ['12345678901', '7', '0', '2026-000123', '0A']) expect(csvLine([text], 'fr')).toBe(`${text}\r\n`);
  expect(csvLine([123_456_789_012_345], 'fr')).toBe('1234567890123,45\r\n');
  // Such a text of a client is no formula.
  expect(csvLine(['="002189456000077"&A1'], 'en')).toBe('"\'=""002189456000077""&A1"\r\n');
});

it('an invoice is drawn up with the VAT of each rate, rounded once, half up', () => {
  const line = { description: 'd', quantity: '3', unitPrice: '0,05', taxRate: '10' };
  const typed = {
    ice: ' 1 ',
    name: 'N',
    email: '',
    lines: [line, { ...line, quantity: '2' }, { ...line, taxRate: '20', unitPrice: '1 000' }],
  };
  const input = drawnUp(typed);
  // 25 at 10 %: 2.5 is 3. 300,000 at 20 %: 60,000.
  expect(input.amount).toBe(25 + 3 + 300_000 + 60_000);
  expect(input.customer).toEqual({ ice: '1', name: 'N' });
  expect(input.lines[2]).toEqual({ description: 'd', quantity: 3, unitPrice: 100_000, taxRate: 20 });
});

describe('a figure that is typed', () => {
  const line = { description: 'd', quantity: '1', unitPrice: '100', taxRate: '20' };
  const drawn = (changes: Partial<TypedLine>) =>
    drawnUp({ ice: '001234567000089', name: 'N', email: '', lines: [line, { ...line, ...changes }] });

  it.each<['quantity' | 'unitPrice' | 'taxRate', string, number]>([
    ...['20 %', '20%', '20\u00a0%', '20,0', '20.00', ' 20,0 % ', '20 ٪'].map(
      (text) => ['taxRate', text, 20] as ['taxRate', string, number],
    ),
    ...['1.234,50', '1,234.50', '1 234,5', '1\u202f234,50'].map(
      (text) => ['unitPrice', text, 123_450] as ['unitPrice', string, number],
    ),
    ['unitPrice', '1.234.567,89', 123_456_789],
    ['unitPrice', '1234.5', 123_450],
    ['quantity', '1 000', 1000],
  ])('as the %s %j is read', (field, text, value) => {
    expect(drawn({ [field]: text }).lines[1]?.[field]).toBe(value);
  });

  it.each([
    ...['', 'vingt', '20,5', '20,000', '-20', '−20', '% 20'].map((text) => ['taxRate', text] as const),
    ...['', 'abc', '12,345', '1.234', '-5', '−5', '1.23,45', '1,2345.00'].map((text) => ['unitPrice', text] as const),
    ...['', 'un', '1,5', '-1', '1.000'].map((text) => ['quantity', text] as const),
  ])('as the %s %j is refused by the service, which names the field', (field, text) => {
    const input = drawn({ [field]: text });
    const { error } = createInvoiceInput.safeParse(input);
    expect(error && problemsOf(error).map(({ param }) => param)).toEqual([`lines.1.${field}`]);
    // The other line alone.
    expect(input.amount).toBe(12_000);
  });
});

it('a drawn up amount is the one that the service computes, whatever is typed', () => {
  const typed = fc.record({
    description: fc.constant('d'),
    quantity: fc.integer({ min: 1, max: 999_999 }).map(String),
    unitPrice: fc.integer({ min: 1, max: 2 ** 40 }).map((centimes) => plainAmount(centimes)),
    taxRate: fc.constantFrom(...TAX_RATES).map(String),
  });
  fc.assert(
    fc.property(fc.array(typed, { minLength: 1, maxLength: 20 }), (lines) => {
      const input = drawnUp({ ice: '1', name: 'N', email: '', lines });
      const totals = totalsOf(input.lines as Parameters<typeof totalsOf>[0]);
      fc.pre(totals !== null);
      expect(input.amount).toBe(totals?.gross);
    }),
  );
});

it('the command for a shell has the body as one word, whatever is in it', () => {
  const input = drawnUp({ ice: '1', name: "L'Étang $(id) `id`", email: '', lines: [] });
  const body = /-d '(?<body>[\s\S]*)'$/.exec(WAYS.curl(input, 'https://x'))?.groups?.body ?? '';
  expect(JSON.parse(body.replaceAll("'\\''", "'"))).toMatchObject({ customer: { name: input.customer.name } });
  expect(body.replaceAll("'\\''", '')).not.toContain("'");
});
