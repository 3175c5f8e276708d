import { describe, expect, test } from 'vitest';
import type { Invoice } from '../../../src/domain/invoice/invoice.ts';
import { legalWarnings } from '../../../src/domain/invoice/legal-warnings.ts';
import { sampleInvoice, sampleLine } from '../ubl/sample-invoice.ts';

const sample = sampleInvoice();
const codes = (changes: Partial<Invoice>) => {
  const { amount, customer, lines } = sample;
  const seller = { ...sample.seller, ice: '999000000000005' };
  const invoice = { amount, customer: { ...customer, ice: '000000000000097' }, lines, seller, ...changes } as Invoice;
  return legalWarnings(invoice).map(({ code, path }) => `${code} ${path}`);
};
const customer = { ...sample.customer, ice: '999000000000005' };
const seller = { ...sample.seller, ice: '999000000000005' };

describe('the warnings of an invoice', () => {
  test('name what is mandatory and missing, and what looks wrong', () => {
    const { cnss, email, ...incomplete } = sample.seller;
    expect(codes({ customer: { ...customer, ice: '000000000000000', address: ' ' } })).toEqual([
      'ice_zero customer.ice',
      'customer_address_missing customer.address',
    ]);
    expect(codes({ customer: { ...customer, ice: '999000000000006' } })).toEqual(['ice_check_key customer.ice']);
    expect(codes({ customer })).toEqual(['customer_is_seller customer.ice']);
    expect(codes({ customer, seller: { ...incomplete, ice: '999000000000004' } })).toEqual([
      'seller_field_missing seller.cnss',
      'seller_field_missing seller.email',
      'ice_check_key seller.ice',
    ]);
  });

  test('tell of a reason that is missing where there is no VAT', () => {
    const lines = [sampleLine({ description: 'x', quantity: 1, unitPrice: 100, taxRate: 0 })];
    const changes = { amount: 100, lines, customer: { ...customer, ice: '000000000000097' } };
    expect(codes({ ...changes, seller })).toEqual([]);
    expect(codes({ ...changes, seller: { ...seller, exemptionReason: null } })).toEqual([
      'exemption_reason_missing seller.exemptionReason',
    ]);
  });

  test('tell of rounding', () => {
    const changes = { amount: sample.amount + 1, customer: { ...customer, ice: '000000000000097' } };
    expect(codes(changes)).toEqual(['rounding amount']);
    expect(legalWarnings({ ...sample, ...changes } as unknown as Invoice)[0]?.message).toContain('1 centimes above');
  });
});
