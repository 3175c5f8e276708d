import { INVOICE_BYTES } from '../../domain/answer-bounds.ts';
import type { DeductedDeposit } from '../../domain/invoice/deduction.ts';
import type { Invoice } from '../../domain/invoice/invoice.ts';
import { totalsOfRates } from '../../domain/invoice/totals.ts';
import { isMember } from '../../domain/principal.ts';
import { searchMetered } from '../answer-meter.ts';
import { builder, inBatches } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { InvoiceType } from './fiscal-documents.ts';
import { TaxTotalType } from './invoice-totals.ts';

const DeductedDepositType = builder.objectRef<DeductedDeposit>('DeductedDeposit').implement({
  description: 'What a final invoice deducts of a deposit invoice: all that was left of it.',
  fields: (t) => ({
    id: t.id({ description: 'The deposit invoice; prefix `inv_`.', resolve: ({ invoice }) => invoice.id }),
    invoice: t.loadable({
      type: InvoiceType,
      nullable: true,
      description: 'The deposit invoice. Null without a secret key.',
      resolve: (deposit) => deposit,
      ...inBatches((deposits: DeductedDeposit[], context) =>
        invoicesOf(
          deposits.map(({ invoice }) => invoice.id),
          context,
        ),
      ),
    }),
    number: t.string({ description: 'Its legal number.', resolve: ({ invoice }) => invoice.number }),
    issueDate: t.string({
      description: 'Its calendar date in Morocco: `2026-01-31`.',
      resolve: ({ invoice }) => invoice.issueDate,
    }),
    amount: t.field({
      type: 'Centimes',
      description: 'What is deducted, in centimes, including tax.',
      resolve: ({ rates }) => totalsOfRates(rates).gross,
    }),
    taxTotals: t.field({
      type: [TaxTotalType],
      description: 'What is deducted at each rate of VAT, the highest rate first.',
      resolve: ({ rates }) => [...rates],
    }),
  }),
});

builder.objectFields(InvoiceType, (t) => ({
  deposits: t.field({
    type: [DeductedDepositType],
    description:
      'The deposits that it deducts, in the order in which they were named; empty if it deducts none. `totals` and `amount` are what remains.',
    resolve: ({ deduction }) => [...(deduction?.deposits ?? [])],
  }),
  deductedIn: t.loadable({
    type: InvoiceType,
    nullable: true,
    description:
      'The final invoice that deducts this deposit, neither rejected nor credited completely; null if there is none. Null without a secret key.',
    resolve: (invoice) => invoice,
    ...inBatches(async (invoices: Invoice[], context) => {
      const { principal, useCases } = context;
      if (!isMember(principal)) return invoices.map(() => null);
      return invoicesOf(await useCases.deductionsOfInvoices(principal, invoices), context);
    }),
  }),
}));

/** Loads invoices of the secret key's tenant; null for a null id and without a secret key. */
async function invoicesOf(
  ids: readonly (string | null)[],
  { principal, useCases, meter }: GraphQLContext,
): Promise<(Invoice | null)[]> {
  const asked = [...new Set(ids.flatMap((id) => id ?? []))];
  if (asked.length === 0 || !isMember(principal)) return ids.map(() => null);
  const { rows } = await searchMetered(meter, asked.length * INVOICE_BYTES, (maxBytes) =>
    useCases.invoicesById(principal, asked, maxBytes),
  );
  return ids.map((id) => (id === null ? null : (rows.get(id) ?? null)));
}
