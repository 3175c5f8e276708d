import type { CreateInvoiceInput } from '../../src/domain/invoice/create-invoice-input.ts';
import type { LegalInvoice } from '../../src/domain/invoice/ports.ts';
import { TAX_RATES, type TaxRate } from '../../src/domain/invoice/tax-rate.ts';
import type { PricedDocument } from '../../src/domain/invoice/totals.ts';
import { sampleInvoice } from '../unit/ubl/sample-invoice.ts';

export type Line = CreateInvoiceInput['lines'][number];

/** The differences of a specimen from the sample. */
export type Changes = Partial<LegalInvoice> & Pick<PricedDocument, 'discount' | 'charge'>;

export const line = (quantity: number, unitPrice: number, taxRate: TaxRate): Line => ({
  description: 'Prestation de service',
  quantity,
  unitPrice,
  taxRate,
});

/**
 * Makes documents with a discount or a charge of the whole, with lines with and without tax. The name states the case.
 */
export function adjustedDocuments(): [name: string, lines: readonly Line[], changes: Changes][] {
  const found: [string, readonly Line[], Changes][] = [];
  const without = [line(3, 12_345, 20), line(1, 9_999, 10), line(2, 5_001, 0)];
  const within = without.map((each) => ({ ...each, taxIncluded: true }));
  for (const [name, adjustments] of [
    ['a discount', { discount: { amount: 10_000, reason: 'Remise de fin d’année' } }],
    ['a discount in percent', { discount: { percent: 12.5 } }],
    ['a discount with tax', { discount: { amount: 10_001, taxIncluded: true } }],
    ['a discount with tax in percent', { discount: { percent: 3.33, taxIncluded: true, reason: 'Fidélité' } }],
    ['a charge', { charge: { amount: 4_999, reason: 'Livraison' } }],
    ['a charge with tax', { charge: { amount: 5_000, taxIncluded: true, reason: 'Emballage' } }],
    ['a charge in percent', { charge: { percent: 1.5 } }],
    ['both', { discount: { percent: 10 }, charge: { amount: 2_500, taxIncluded: true } }],
    ['all of it, and a charge', { discount: { percent: 100 }, charge: { amount: 2_500 } }],
    ['a discount of one centime', { discount: { amount: 1 } }],
  ] as const) {
    found.push([`${name} on the whole`, without, adjustments]);
    found.push([`${name} on prices with tax`, within, adjustments]);
    found.push([`${name} on prices with and without tax`, [...without, ...within], adjustments]);
    found.push([`${name} at one rate`, without.slice(0, 1), adjustments]);
  }
  const seller = { ...sampleInvoice().seller, exemptionReason: null };
  found.push(['a discount without an exemption reason', without, { discount: { percent: 5 }, seller }]);
  const many = Array.from({ length: 1000 }, (_, index) =>
    line(1 + (index % 50), 100 + index * 97, TAX_RATES[index % TAX_RATES.length] ?? 20),
  );
  found.push(['both on 1,000 lines', many, { discount: { percent: 7.77 }, charge: { amount: 12_345 } }]);
  return found;
}
