import type { Invoice } from '../../domain/invoice/invoice.ts';
import { INVOICE_WARNINGS, type InvoiceWarning } from '../../domain/invoice/invoice-warnings.ts';
import { builder } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { InvoiceType } from './invoice.ts';

/** There is a warning for each of some thirty fields at most. */
export const MOST_WARNINGS = 50;

export const InvoiceWarningType = builder.objectRef<InvoiceWarning>('InvoiceWarning').implement({
  description: 'Something that the law or the tax authority may take amiss, though the service does not refuse it.',
  fields: (t) => ({
    code: t.exposeString('code', {
      description: `Stable, for programs, one of: ${Object.keys(INVOICE_WARNINGS).join(', ')}; there may be more in time.`,
    }),
    path: t.exposeString('path', { description: 'Dotted path of the field: `customer.address`, `seller.cnss`.' }),
    message: t.exposeString('message', { description: 'What is amiss, by which rule, and what to do.' }),
  }),
});

builder.objectField(InvoiceType, 'warnings', (t) =>
  t.field({
    type: [InvoiceWarningType],
    extensions: { most: MOST_WARNINGS },
    description: 'What is mandatory by law and missing, or looks wrong; for a secret key, otherwise empty.',
    resolve: (invoice, _args, { principal, useCases }) =>
      principal.kind === 'secret' ? warningsOf(invoice, useCases) : [],
  }),
);

/** Looked for once for an invoice that stays in memory, however many aliases ask: that goes through all its texts. */
const known = new WeakMap<Invoice, Promise<InvoiceWarning[]>>();

function warningsOf(invoice: Invoice, useCases: GraphQLContext['useCases']): Promise<InvoiceWarning[]> {
  const warnings = known.get(invoice) ?? useCases.invoiceWarnings(invoice);
  known.set(invoice, warnings);
  warnings.catch(() => known.delete(invoice));
  return warnings;
}
