import { INVOICE } from '../../domain/invoice/fields.ts';
import type { InvoiceValidation } from '../../domain/invoice/validate-invoice.ts';
import { builder } from '../builder.ts';
import { draftType } from './contract.ts';
import { ProblemType } from './errors.ts';
import { InvoiceTotalsType } from './invoice-totals.ts';
import { InvoiceWarningType, MOST_WARNINGS } from './invoice-warning.ts';
import './scalars.ts';

const InvoiceValidationType = builder.objectRef<InvoiceValidation>('ValidateInvoicePayload').implement({
  description: 'What would become of an invoice.',
  fields: (t) => ({
    valid: t.boolean({
      description: 'Whether it could be created as it is, now.',
      resolve: ({ problems }) => problems.length === 0,
    }),
    problems: t.field({
      type: [ProblemType],
      // 100 of structure, then those of rules.
      extensions: { most: 200 },
      description:
        'All that keeps it from being created: structure, then business rules, then what a live seller’s profile lacks (`seller.…`). At most 100 of structure.',
      resolve: ({ problems }) => [...problems],
    }),
    warnings: t.field({
      type: [InvoiceWarningType],
      extensions: { most: MOST_WARNINGS },
      description: 'What is not refused and the law may take amiss, as far as its parts are valid.',
      resolve: ({ warnings }) => [...warnings],
    }),
    totals: t.expose('totals', {
      type: InvoiceTotalsType,
      nullable: true,
      description: 'What the lines add up to; null unless all of them are valid.',
    }),
  }),
});

builder.mutationFields((t) => ({
  validateInvoice: t.field({
    type: InvoiceValidationType,
    authScopes: { secretKey: true },
    description:
      'Runs every check that createInvoice and the writing of the legal document run, and reports all problems at once. Creates nothing, uses no number. Needs a secret key.',
    args: { input: t.arg({ type: draftType(INVOICE), required: true, description: 'The invoice.' }) },
    resolve: (_root, { input }, { principal, useCases }) => useCases.validateInvoice(principal, input),
  }),
}));
