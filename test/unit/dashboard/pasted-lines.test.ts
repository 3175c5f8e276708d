import { describe, expect, it } from 'vitest';
import { MOST_LINES, plainNumber, withPasted } from '../../../src/dashboard/creation/pasted-lines.ts';
import { SAMPLE_CUSTOMER } from '../../../src/dashboard/creation/sample-invoice.ts';
import { EMPTY_LINE, lineOf } from '../../../src/dashboard/creation/typed-line.ts';
import { MAGIC_ICES } from '../../../src/domain/invoice/test-scenarios.ts';

const pasted = (text: string, column = 'description', index = 0, lines = [EMPTY_LINE]) => {
  const outcome = withPasted(lines, { index, column, text });
  return outcome && 'lines' in outcome ? outcome.lines : outcome;
};
const paste = (...of: Parameters<typeof pasted>) => {
  const outcome = pasted(...of);
  if (outcome === null || 'refused' in outcome) return outcome;
  return outcome.map(({ description, quantity, unitPrice, taxRate }) => [description, quantity, unitPrice, taxRate]);
};

describe('what is pasted from a spreadsheet', () => {
  it.each([
    ['1 234,50', '1234,50'],
    ['1\u202f234,50', '1234,50'],
    ['1\u00a0234,50\u00a0MAD', '1234,50'],
    ['1234.5', '1234,5'],
    ['1,234.56', '1234,56'],
    ['1.234,56 DH', '1234,56'],
    ['1,234,567', '1234567'],
    ['12 345', '12345'],
    ['20 %', '20'],
    ['20,00%', '20,00'],
    ['0.125', '0,125'],
    // Either a thousand or one and a bit: the person decides.
    ['1,234', '1,234'],
    ['1.234', '1.234'],
    ['deux', 'deux'],
    ['-5', '-5'],
  ])('a number %j is %j', (cell, number) => {
    expect(plainNumber(cell)).toBe(number);
  });

  it('fills lines from columns, without the row of names', () => {
    const text =
      'Désignation\tQuantité\tPrix unitaire\tTVA\r\nConseil\t2\t1 234,50\t20 %\r\nLivre\t10\t1,234.56\t7%\r\n\r\n';
    expect(paste(text)).toEqual([
      ['Conseil', '2', '1234,50', '20'],
      ['Livre', '10', '1234,56', '7'],
    ]);
    const outcome = withPasted([EMPTY_LINE], { index: 0, column: 'description', text });
    const filled = outcome && 'lines' in outcome ? outcome.lines : [];
    expect(filled.map((line) => lineOf(line).unitPrice)).toEqual([123_450, 123_456]);
  });

  it('fills one column from the line on into which it is pasted, and adds the lines that are missing', () => {
    const lines = [
      { ...EMPTY_LINE, description: 'A' },
      { ...EMPTY_LINE, description: 'B', unitPrice: '5,00' },
    ];
    expect(paste('10\n20.5\n30', 'unitPrice', 1, lines)).toEqual([
      ['A', '1', '', '20'],
      ['B', '1', '10', '20'],
      ['', '1', '20,5', '20'],
      ['', '1', '30', '20'],
    ]);
    expect(paste('Conseil\nAudit', 'description', 0, lines)).toEqual([
      ['Conseil', '1', '', '20'],
      ['Audit', '1', '5,00', '20'],
    ]);
  });

  it('reads cells in quotation marks, with their line ends, and ignores further columns', () => {
    expect(paste('"Câble 5"" rouge\net noir"\t3\t12,5\t20\tx\ty\nTube 5" long\t1\t4\t\n')).toEqual([
      ['Câble 5" rouge et noir', '3', '12,5', '20'],
      ['Tube 5" long', '1', '4', '20'],
    ]);
  });

  it('leaves one value, and fields that are not of a line, to the browser', () => {
    expect(paste('Conseil')).toBeNull();
    expect(paste('Conseil\n')).toBeNull();
    expect(paste('a\nb', 'discount')).toBeNull();
  });

  it('takes all rows or none, and says how many there may be', () => {
    const rows = (count: number) => Array(count).fill('x\t1\t2').join('\n');
    expect(paste(rows(MOST_LINES))).toHaveLength(MOST_LINES);
    expect(paste(rows(MOST_LINES + 1))).toEqual({ refused: { rows: 101, most: 100 } });
    expect(paste(rows(5000), 'description', 3, Array(4).fill(EMPTY_LINE))).toEqual({
      refused: { rows: 5000, most: 97 },
    });
    // A draft may have more lines of the API.
    expect(paste(rows(2), 'description', 148, Array(150).fill(EMPTY_LINE))).toHaveLength(150);
    expect(paste(rows(100_000))).toEqual({ refused: { rows: null, most: 100 } });
  });

  it('has bounds', () => {
    const begun = performance.now();
    paste(`${'"a'.repeat(500_000)}\n`);
    paste(`${'"a'.repeat(99_000)}\nb`);
    paste(`${'"a\t'.repeat(66_000)}\nb`);
    expect(performance.now() - begun).toBeLessThan(2000);
  });
});

it('the ICE of the sample has a valid check key, so that nothing warns of it, and its invoices are accepted', () => {
  expect(BigInt(SAMPLE_CUSTOMER.ice) % 97n).toBe(0n);
  expect(SAMPLE_CUSTOMER.ice).toMatch(/^\d{15}$/);
  expect(Object.keys(MAGIC_ICES)).not.toContain(SAMPLE_CUSTOMER.ice);
});
