import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WAYS, waysOf } from '../../../src/dashboard/creation/by-api.ts';
import { drawnUp } from '../../../src/dashboard/creation/drawn-up.ts';
import type { TypedLine } from '../../../src/dashboard/creation/typed-line.ts';
import { plainAmount } from '../../../src/dashboard/text/money.ts';
import { moroccanDate } from '../../../src/dashboard/text/moroccan-time.ts';
import { problemsOf } from '../../../src/domain/input-problems.ts';
import { createInvoiceInput } from '../../../src/domain/invoice/create-invoice-input.ts';
import { TAX_RATES } from '../../../src/domain/invoice/tax-rate.ts';
import { totalsOf } from '../../../src/domain/invoice/totals.ts';
import { csvLine } from '../../../src/text/csv.ts';
import { tellOffsets } from '../../support/moroccan-offsets.ts';

it('a line of CSV has the signs of its language, and no formula', () => {
  const cells = ['=HYPERLINK("x")', '+1', 'a;b', 'a,b', 'say "no"', 'two\nlines', null, -123456, 5];
  const texts = `"'=HYPERLINK(""x"")";'+1;"a;b";"a,b";"say ""no""";"two\nlines";`;
  expect(csvLine(cells, 'fr')).toBe(`${texts};-1234,56;0,05\r\n`);
  expect(csvLine(['Atlas', 100], 'en')).toBe('Atlas,1.00\r\n');
});

it('a cell of a CSV file is no formula, whatever an import takes as its end', () => {
  expect(csvLine(['a\t=1+1'], 'en')).toBe('"a\t\'=1+1"\r\n');
  expect(csvLine(['\n=1+1'], 'en')).toBe('"\'\n\'=1+1"\r\n');
  for (const sign of ['＝', '＋', '－', '＠', ' =']) expect(csvLine([`${sign}1`], 'en')).toBe(`'${sign}1\r\n`);
});

it('digits that a spreadsheet would change as a number stay a text', () => {
  for (const text of ['002189456000077', '999000000000005', '123456789012', '07', '00'])
    expect(csvLine([text], 'fr')).toBe(`'${text}\r\n`);
  for (const text of ['12345678901', '7', '0', '2026-000123', 'AV-2026-000123', '0A'])
    expect(csvLine([text], 'fr')).toBe(`${text}\r\n`);
  expect(csvLine([123_456_789_012_345], 'fr')).toBe('1234567890123,45\r\n');
  // A formula that is a text, which only some spreadsheets run, is none.
  expect(csvLine(['="002189456000077"&A1'], 'en')).toBe('"\'=""002189456000077""&A1"\r\n');
});

it('a text that a spreadsheet would change into a date, a time, a number or a truth value stays a text', () => {
  const dates = ['12/2026', '2026-12', '1/2', '12-345', '12.05.2026', '12 mai', 'MAI-26', 'sept 2', '5 janv', '3 مارس'];
  const others = [
    '1E5',
    '12:30',
    '3 PM',
    '3 p',
    '12h30',
    '10 %',
    '1 234',
    '1.5',
    '2026-11-28',
    '100 MAD',
    'VRAI',
    '#N/A',
  ];
  for (const text of [...dates, ...others, '٠١٢']) expect(csvLine([text], 'en')).toBe(`'${text}\r\n`);
  for (const text of ['1,5', '12;30']) expect(csvLine([text], 'en')).toBe(`"'${text}"\r\n`);
  const kept = ['F-2026/12', 'AV-2026-000123', '2026-000012', 'A12', 'Client 2', 'Marchal 3', 'Vraiment', 'Mars', 'X5'];
  for (const text of kept) expect(csvLine([text], 'en')).toBe(`${text}\r\n`);
});

it('a formula behind the other separator, or behind a line’s end, is none', () => {
  expect(csvLine(["x;=cmd|' /C calc'!A0"], 'en')).toBe("\"x;'=cmd|' /C calc'!A0\"\r\n");
  expect(csvLine(['x,+1;"-1\t@a\n\n =b'], 'fr')).toBe('"x,\'+1;\'""-1\t\'@a\n\n\' =b"\r\n');
  expect(csvLine(['1;=2'], 'en')).toBe(`"'1;'=2"\r\n`);
  expect(csvLine(['Dupont; fils, et -co'], 'fr')).toBe('"Dupont; fils, et -co"\r\n');
});

it('an instant is its day in Morocco, which a spreadsheet takes as a date', () => {
  tellOffsets();
  const instants = [new Date('2026-06-30T23:30:00Z'), new Date('2026-12-31T23:32:00Z')];
  const days = instants.map((at) => ({ day: moroccanDate(at) }));
  expect(csvLine(days, 'fr')).toBe('2026-07-01;2026-12-31\r\n');
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
    ['quantity', '1,5', 1.5],
    ['quantity', '0,125', 0.125],
    ['quantity', '1,1250', 1.125],
    ['unitPrice', '0,0125', 1.25],
    ['unitPrice', '0,125', 12.5],
  ])('as the %s %j is read', (field, text, value) => {
    expect(drawn({ [field]: text }).lines[1]?.[field]).toBe(value);
  });

  it.each([
    ...['', 'vingt', '20,5', '20,000', '-20', '−20', '% 20'].map((text) => ['taxRate', text] as const),
    ...['', 'abc', '12,345', '1.234', '-5', '−5', '1.23,45', '1,2345.00'].map((text) => ['unitPrice', text] as const),
    ...['', 'un', '1,5001', '-1', '1.000', '0'].map((text) => ['quantity', text] as const),
  ])('as the %s %j is refused by the service, which names the field', (field, text) => {
    const input = drawn({ [field]: text });
    const { error } = createInvoiceInput.safeParse(input);
    expect(error && problemsOf(error).map(({ param }) => param)).toEqual([`lines.1.${field}`]);
    // The other line alone.
    expect(input.amount).toBe(12_000);
  });
});

it('a drawn up amount is the one that the service computes, whatever is typed', () => {
  const lineOf = (quantities: number, centimes: number) =>
    fc.record({
      description: fc.constant('d'),
      quantity: fc.integer({ min: 1, max: quantities }).map(String),
      unitPrice: fc.integer({ min: 1, max: centimes }).map((price) => plainAmount(price)),
      taxRate: fc.constantFrom(...TAX_RATES).map(String),
    });
  // Twenty of them are within the greatest amount.
  const typed = fc.oneof(lineOf(999_999, 2 ** 28), lineOf(200, 2 ** 40));
  fc.assert(
    fc.property(fc.array(typed, { minLength: 1, maxLength: 20 }), (lines) => {
      const input = drawnUp({ ice: '1', name: 'N', email: '', lines });
      expect(input.amount).toBe(totalsOf(input as Parameters<typeof totalsOf>[0])?.gross);
    }),
  );
});

it('a drawn up amount has the discount and the charge of the whole invoice, if they can be read', () => {
  const line = { description: 'd', quantity: '1', unitPrice: '1000', taxRate: '20' };
  const typed = { ice: '1', name: 'N', email: '', lines: [line, { ...line, taxRate: '10' }] };
  const adjusted = { reason: '', taxIncluded: false };
  const discount = { ...adjusted, figure: '10 %' };
  const charge = { ...adjusted, figure: '36,00', taxIncluded: true };
  // 900.00 at 20 % and at 10 %, and 36.00 in proportion to 1200.00 and 1100.00.
  const input = drawnUp({ ...typed, discount, charge });
  expect(input).toMatchObject({
    amount: 108_000 + 99_000 + 3600,
    discount: { percent: 10 },
    charge: { amount: 3600, taxIncluded: true },
  });
  expect(drawnUp({ ...typed, discount, charge: { ...charge, figure: 'trop' } })).toMatchObject({
    amount: 207_000,
    charge: { amount: -1 },
  });
  expect(waysOf(input)).toEqual(['GraphQL']);
});

it('the command for a shell has the body as one word, whatever is in it', () => {
  const input = drawnUp({ ice: '1', name: "L'Étang $(id) `id`", email: '', lines: [] });
  const body = /-d '(?<body>[\s\S]*)'$/.exec(WAYS.curl(input, 'https://x'))?.groups?.body ?? '';
  expect(JSON.parse(body.replaceAll("'\\''", "'"))).toMatchObject({ customer: { name: input.customer.name } });
  expect(body.replaceAll("'\\''", '')).not.toContain("'");
});

it('what REST cannot create is shown as GraphQL alone', () => {
  const line = { description: 'A', quantity: '1', unitPrice: '1', taxRate: '0' };
  const typed = { ice: '1', name: 'N', email: '', lines: [line] };
  expect(waysOf(drawnUp(typed))).toEqual(Object.keys(WAYS));
  expect(waysOf(drawnUp({ ...typed, kind: 'person' }))).toEqual(['GraphQL']);
  expect(waysOf(drawnUp({ ...typed, lines: [{ ...line, exemption: 'export' }] }))).toEqual(['GraphQL']);
});
