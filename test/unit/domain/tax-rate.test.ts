import { expect, test } from 'vitest';
import { parseTaxRate, TAX_RATE_TABLE, TAX_RATES } from '../../../src/domain/invoice/tax-rate.ts';

// Written independently of the table, from which the UBL checker and the mock authority take their rates.
const LAW = [
  { rate: 0, categories: ['E', 'Z'] },
  { rate: 7, categories: ['S', 'S'] },
  { rate: 10, categories: ['S', 'S'] },
  { rate: 14, categories: ['S', 'S'] },
  { rate: 20, categories: ['S', 'S'] },
];

test('the table has exactly the rates of Moroccan VAT, with their UBL categories', () => {
  const table = TAX_RATES.map((rate) => ({ rate, categories: Object.values(TAX_RATE_TABLE[rate].ublCategory) }));
  expect(table).toEqual(LAW);
});

test('a rate is parsed only from its plain digits', () => {
  expect(['0', '7', '10', '14', '20'].map(parseTaxRate)).toEqual([0, 7, 10, 14, 20]);
  expect(['', ' 7', '07', '7.0', '-0', '8', '200', '7|20'].map(parseTaxRate)).toEqual(Array(8).fill(null));
});
