import fc from 'fast-check';
import { expect, it } from 'vitest';
import { WAYS } from '../../../src/dashboard/creation/by-api.ts';
import { drawnUp } from '../../../src/dashboard/creation/drawn-up.ts';
import { csvLine } from '../../../src/dashboard/invoices/csv.ts';
import { searchedOf } from '../../../src/dashboard/invoices/searched.ts';
import { plainAmount } from '../../../src/dashboard/text/money.ts';
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
  for (const unitPrice of ['', 'x', '-1', '1,234'])
    expect(drawnUp({ ...typed, lines: [{ ...line, unitPrice }] }).amount).toBe(0);
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
