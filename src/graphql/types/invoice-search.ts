import { type DayCounts, MOST_DAYS } from '../../domain/invoice/count-invoices.ts';
import { MOST_CUSTOMERS } from '../../domain/invoice/customer-search.ts';
import type { KnownCustomer } from '../../domain/invoice/invoice-queries.ts';
import { INVOICE_STATUSES, STATUSES } from '../../domain/invoice/lifecycle.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';

const KnownCustomerType = builder.objectRef<KnownCustomer>('KnownCustomer').implement({
  description: 'A customer as your newest invoice with this name states it.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'As stated in the invoice.' }),
    ice: t.exposeString('ice', { description: 'The customer’s ICE, 15 digits.' }),
  }),
});

const InvoiceDayType = builder.objectRef<DayCounts>('InvoiceDay').implement({
  description: 'The invoices that were created on a day, counted by their current status.',
  fields: (t) => ({
    date: t.exposeString('date', { description: 'The day in Morocco, `YYYY-MM-DD`.' }),
    ...Object.fromEntries(
      INVOICE_STATUSES.map((status) => [
        status,
        t.int({ description: STATUSES[status].description, resolve: ({ counts }) => counts[status] }),
      ]),
    ),
  }),
});

builder.queryFields((t) => ({
  customers: t.field({
    type: [KnownCustomerType],
    authScopes: accessOf('customers'),
    description: `The customers of your invoices whose name begins so, without regard to case and accents, or, if only digits are given, whose ICE does; at most ${MOST_CUSTOMERS}, in the order of what was searched.`,
    args: { beginning: t.arg.string({ required: true, description: 'The beginning of a name or of an ICE.' }) },
    resolve: async (_root, { beginning }, { principal, useCases }) => [
      ...(await useCases.customers(principal, beginning)),
    ],
  }),
  invoiceDays: t.field({
    type: [InvoiceDayType],
    authScopes: accessOf('invoiceDays'),
    description: 'The invoices of the last days, counted by day of creation and current status, today first.',
    args: { days: t.arg.int({ required: true, description: `1 to ${MOST_DAYS}; 1 is today.` }) },
    resolve: async (_root, { days }, { principal, useCases }) => [...(await useCases.invoiceDays(principal, days))],
  }),
}));
