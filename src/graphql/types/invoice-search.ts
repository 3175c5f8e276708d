import { type DayCounts, MOST_DAYS } from '../../domain/invoice/count-invoices.ts';
import { MOST_CUSTOMERS } from '../../domain/invoice/customer-search.ts';
import type { KnownCustomer } from '../../domain/invoice/invoice-queries.ts';
import { INVOICE_STATUSES, STATUSES } from '../../domain/invoice/lifecycle.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { CustomerKindType } from './customer-kind.ts';

const KnownCustomerType = builder.objectRef<KnownCustomer>('KnownCustomer').implement({
  description: 'A customer as your newest invoice to it states it.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'As stated in the invoice.' }),
    ice: t.exposeString('ice', { nullable: true, description: 'The customer’s ICE, 15 digits; null if it has none.' }),
    kind: t.expose('kind', { type: CustomerKindType, description: 'What the customer is.' }),
    country: t.exposeString('country', { nullable: true, description: 'ISO 3166-1 alpha-2; null: Morocco.' }),
    taxNumber: t.exposeString('taxNumber', { nullable: true, description: 'Of a customer abroad.' }),
    address: t.exposeString('address', { nullable: true, description: 'As stated in the invoice.' }),
    email: t.exposeString('email', { nullable: true, description: 'As stated in the invoice.' }),
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
    description: `The customers of your invoices whose name begins so, without regard to case and accents, or, if only digits are given, whose ICE does; at most ${MOST_CUSTOMERS}, in the order of what was searched. Companies with one name are one customer, the newest; anyone else is the same customer only if the address, the e-mail address, the country and the tax number are the same.`,
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
