import type { Invoice } from '../../domain/invoice/invoice.ts';
import type { RateTotal } from '../../domain/invoice/tax-rate.ts';
import { TAX_RATE_DESCRIPTION } from '../../domain/invoice/tax-rate.ts';
import { type InvoiceTotals, totalsOfInvoice } from '../../domain/invoice/totals.ts';
import { builder } from '../builder.ts';
import { InvoiceType } from './fiscal-documents.ts';

export const TaxTotalType = builder.objectRef<RateTotal>('TaxTotal').implement({
  description: 'The VAT of the lines at one rate.',
  fields: (t) => ({
    rate: t.exposeInt('rate', { description: TAX_RATE_DESCRIPTION }),
    base: t.expose('base', {
      type: 'Centimes',
      description:
        'Sum of the lines at this rate, less its share of the discount, with its share of the charge, less the deposits, excluding tax.',
    }),
    tax: t.expose('tax', {
      type: 'Centimes',
      description:
        'Computed once on `base`, rounded half up; after deposits, that of the sale less that of the deposits.',
    }),
  }),
});

/** The totals computed from the lines, independent of the amount that the client stated. */
export const InvoiceTotalsType = builder.objectRef<InvoiceTotals>('InvoiceTotals').implement({
  description: 'The totals of the lines, as the signed document states them.',
  fields: (t) => ({
    linesTotal: t.expose('linesNet', { type: 'Centimes', description: 'Sum of the lines, excluding tax.' }),
    discountTotal: t.field({
      type: 'Centimes',
      description: 'The discount of the whole document, excluding tax; 0 if there is none.',
      resolve: ({ discount }) => discount?.net ?? 0,
    }),
    chargeTotal: t.field({
      type: 'Centimes',
      description: 'The charge of the whole document, excluding tax; 0 if there is none.',
      resolve: ({ charge }) => charge?.net ?? 0,
    }),
    depositsTotal: t.expose('deposits', {
      type: 'Centimes',
      description: 'The deducted deposits, excluding tax; 0 if there are none.',
    }),
    subtotal: t.expose('net', {
      type: 'Centimes',
      description: 'Total excluding tax: `linesTotal` - `discountTotal` + `chargeTotal` - `depositsTotal`.',
    }),
    taxTotal: t.expose('tax', { type: 'Centimes', description: 'Sum of the VAT of all rates.' }),
    taxTotals: t.field({
      type: [TaxTotalType],
      description: 'VAT by rate, the highest rate first.',
      resolve: ({ rates }) => [...rates],
    }),
    total: t.expose('gross', { type: 'Centimes', description: 'Total including tax: `subtotal` + `taxTotal`.' }),
  }),
});

builder.objectFields(InvoiceType, (t) => ({
  totals: t.field({
    type: InvoiceTotalsType,
    description: 'The totals of the lines, with the VAT of each rate.',
    resolve: totalsOfStored,
  }),
  roundingAmount: t.field({
    type: 'Centimes',
    description:
      '`amount` minus `totals.total`: the difference caused by rounding VAT on each line, up to half a centime per line.',
    resolve: (invoice) => invoice.amount - totalsOfStored(invoice).gross,
  }),
}));

/** Caches the totals of each array of lines in memory, because several aliases may select them. */
const known = new WeakMap<Invoice['lines'], InvoiceTotals>();

export function totalsOfStored(invoice: Invoice): InvoiceTotals {
  const totals = known.get(invoice.lines) ?? totalsOfInvoice(invoice);
  known.set(invoice.lines, totals);
  return totals;
}
