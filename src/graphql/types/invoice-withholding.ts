import { TAX_CERTIFICATE, WITHHOLDING } from '../../domain/invoice/particulars-fields.ts';
import type { StatedWithholding } from '../../domain/invoice/withholding.ts';
import { netToPay } from '../../domain/net-to-pay.ts';
import { builder } from '../builder.ts';
import { typeOfRecord } from './contract.ts';
import { InvoiceType } from './fiscal-documents.ts';
import { totalsOfStored } from './invoice-totals.ts';

// `invoice.ts` resolves the field `withholding`; its types are made from the table of an invoice's fields.

builder.objectFields(typeOfRecord<StatedWithholding>(WITHHOLDING), (t) => ({
  amount: t.expose('amount', {
    type: 'Centimes',
    description: '`percent` of `totals.taxTotal`, in centimes, rounded half up.',
  }),
}));

builder.objectFields(typeOfRecord<NonNullable<StatedWithholding['certificate']>>(TAX_CERTIFICATE), (t) => ({
  ageInMonths: t.exposeInt('ageInMonths', { description: 'Its age in whole months on the date of the invoice.' }),
}));

builder.objectFields(InvoiceType, (t) => ({
  netToPay: t.field({
    type: 'Centimes',
    description:
      'What the buyer pays, in centimes: `amount` less what it withholds of the VAT. It is `amount` if nothing is withheld.',
    resolve: (invoice) => netToPay({ ...invoice, totals: totalsOfStored(invoice) }),
  }),
}));
