import { INVOICE } from '../../domain/invoice/fields.ts';
import type { InvoiceValidation } from '../../domain/invoice/validate-invoice.ts';
import { MAX_PROBLEMS } from '../../domain/limits.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { draftType } from './contract.ts';
import { ProblemType } from './errors.ts';
import { InvoiceTotalsType } from './invoice-totals.ts';
import { InvoiceWarningType } from './invoice-warning.ts';
import './scalars.ts';

export const InvoiceValidationType = builder.objectRef<InvoiceValidation>('ValidateInvoicePayload').implement({
  description: 'The result of validating an invoice.',
  fields: (t) => ({
    valid: t.boolean({
      description: 'Whether the invoice could be created now.',
      resolve: ({ problems }) => problems.length === 0,
    }),
    problems: t.field({
      type: [ProblemType],
      // Structural problems, followed by those of business rules.
      description: `All problems that prevent creation: of structure, at most ${MAX_PROBLEMS}, then of business rules, then fields that a live seller’s profile lacks (\`seller.…\`).`,
      resolve: ({ problems }) => [...problems],
    }),
    warnings: t.field({
      type: [InvoiceWarningType],
      description: 'Faults in the valid parts of the invoice that the service accepts but the law may not.',
      resolve: ({ warnings }) => [...warnings],
    }),
    totals: t.expose('totals', {
      type: InvoiceTotalsType,
      nullable: true,
      description: 'The totals of the lines; null unless all lines are valid.',
    }),
    netToPay: t.expose('netToPay', {
      type: 'Centimes',
      nullable: true,
      description:
        'What the buyer would pay, in centimes, as `Invoice.netToPay`; null without `totals`, or if `withholding` cannot be read.',
    }),
  }),
});

builder.mutationFields((t) => ({
  validateInvoice: t.field({
    type: InvoiceValidationType,
    authScopes: accessOf('validateInvoice'),
    description:
      'Runs every check of createInvoice and of the legal document, and reports all problems at once. Creates no invoice and uses no number. Needs a secret key.',
    args: { input: t.arg({ type: draftType(INVOICE), required: true, description: 'The invoice.' }) },
    resolve: (_root, { input }, { principal, useCases }) => useCases.validateInvoice(principal, input),
  }),
}));
