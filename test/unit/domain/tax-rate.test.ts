import { expect, test } from 'vitest';
import { parseTaxRate, TAX_RATE_TABLE, TAX_RATES } from '../../../src/domain/invoice/tax-rate.ts';

// Written apart from the table, which the UBL checker and the mock authority read their rates from.
const LAW = [
  { rate: 0, categories: ['E', 'Z'] },
  { rate: 7, categories: ['S', 'S'] },
  { rate: 10, categories: ['S', 'S'] },
  { rate: 14, categories: ['S', 'S'] },
  { rate: 20, categories: ['S', 'S'] },
];

test('the table holds the rates of Moroccan VAT with their UBL categories, and no other', () => {
  const table = TAX_RATES.map((rate) => ({ rate, categories: Object.values(TAX_RATE_TABLE[rate].ublCategory) }));
  expect(table).toEqual(LAW);
});

test('a document states a rate of the table in its plain digits', () => {
  expect(['0', '7', '10', '14', '20'].map(parseTaxRate)).toEqual([0, 7, 10, 14, 20]);
  expect(['', ' 7', '07', '7.0', '-0', '8', '200', '7|20'].map(parseTaxRate)).toEqual(Array(8).fill(null));
});
