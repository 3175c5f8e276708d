import { expect, test } from 'vitest';
import { writeInvoice } from '../../../src/adapters/ubl/write-invoice.ts';
import { creditOf, leftOf } from '../../../src/domain/invoice/credit-share.ts';
import { dueTotals } from '../../../src/domain/invoice/due-totals.ts';
import { InvalidDocument } from '../../../src/domain/invoice/ports.ts';
import { amounts, invoiceOf, line } from '../../support/credits.ts';
import { sampleInvoice } from './sample-invoice.ts';

const SALE = [{ description: 'Étude', quantity: 1, unitPrice: 50_000, taxRate: 20, amount: 50_000 }] as const;

/** A final invoice that deducts this base and VAT at 20 %. */
function final(base: number, tax: number) {
  const rates = [{ rate: 20, base, tax }] as const;
  const invoice = { id: 'inv_1', number: '2026-000007', issueDate: '2026-10-15', dgiId: null };
  const deposits = [{ invoice, rates, amount: base + tax }];
  const { deduction } = dueTotals({ lines: SALE }, deposits);
  if (!deduction) throw new Error('the deposit cannot be deducted');
  return sampleInvoice({ lines: SALE, deduction: { deposits, ...deduction } });
}

test('the VAT after a deposit with credit notes is written, however their rounding falls', () => {
  const deposit = invoiceOf([line(1, 10_000, 20)]);
  const made = [];
  for (let nth = 0; nth < 25; nth++) {
    // 0.02 MAD has 0.004 MAD of VAT, so every third credit note or so states a centime of it.
    const credit = creditOf(deposit, made, amounts([20, 2]));
    if ('problems' in credit) throw new Error(credit.problems[0].message);
    made.push(credit.share);
  }
  // Those without VAT are rejected.
  const counted = made.filter(({ rates }) => (rates[0]?.tax ?? 0) > 0);
  const [left] = leftOf(deposit, counted).rates;
  expect(counted).toHaveLength(10);
  expect(left).toEqual({ rate: 20, base: 9980, tax: 1990 });
  const xml = writeInvoice(final(9980, 1990)).xml.replaceAll(/ xmlns(:\w+)?="[^"]*"/g, '');
  // 20 % of 400.20 is 80.04: less than a dirham away (EN 16931, BR-S-09).
  expect(xml).toMatch(/TaxableAmount currencyID="MAD">400\.20<.*TaxAmount currencyID="MAD">80\.10</);
});

test('VAT that is a dirham away is refused', () => {
  expect(() => writeInvoice(final(10_000, 1901))).not.toThrow();
  expect(() => writeInvoice(final(10_000, 1900))).toThrow(InvalidDocument);
  expect(() => writeInvoice(final(10_000, 2099))).not.toThrow();
  expect(() => writeInvoice(final(10_000, 2100))).toThrow(InvalidDocument);
});
