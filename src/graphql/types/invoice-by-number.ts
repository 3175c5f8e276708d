import { INVOICE_BYTES } from '../../domain/answer-bounds.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { InvoiceType } from './fiscal-documents.ts';

builder.queryField('invoiceByNumber', (t) =>
  t.field({
    type: InvoiceType,
    authScopes: accessOf('invoiceByNumber'),
    description: 'The invoice with this legal number, from the service’s series or your own.',
    args: { number: t.arg.string({ required: true, description: 'As stated in the document: `2026-000123`.' }) },
    resolve: async (_root, { number }, { principal, useCases, meter }) => {
      await meter?.hold(INVOICE_BYTES);
      return useCases.invoiceByNumber(principal, number);
    },
  }),
);
