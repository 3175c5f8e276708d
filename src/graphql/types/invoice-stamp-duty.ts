import { termsOf } from '../../domain/invoice/terms.ts';
import { stampDutyOn } from '../../domain/morocco/stamp-duty.ts';
import { moroccanDate } from '../../domain/morocco/time.ts';
import { builder } from '../builder.ts';
import { InvoiceType } from './fiscal-documents.ts';
import { totalsOfStored } from './invoice-totals.ts';

builder.objectFields(InvoiceType, (t) => ({
  stampDuty: t.field({
    type: 'Centimes',
    nullable: true,
    description:
      'The stamp duty of `netToPay` if all of it is received in cash, in centimes, rounded half up; null unless `terms.paymentMeans` is `cash`. Neither `amount` nor `netToPay` contains it.',
    resolve: (invoice) =>
      stampDutyOn(moroccanDate(invoice.createdAt), {
        ...invoice,
        terms: termsOf(invoice),
        totals: totalsOfStored(invoice),
      })?.amount ?? null,
  }),
}));
