import type { InvoiceValidation } from '../../domain/invoice/validate-invoice.ts';
import { builder } from '../builder.ts';
import { ProblemType } from './errors.ts';
import { InvoiceTermsInput } from './invoice-terms.ts';
import { InvoiceTotalsType } from './invoice-totals.ts';
import { InvoiceWarningType, MOST_WARNINGS } from './invoice-warning.ts';
import './scalars.ts';

// Nothing is required and numbers may be fractions: what is missing or wrong is told among the problems, not by the type.
const CustomerDraft = builder.inputType('CustomerDraft', {
  description: 'The buyer of an invoice to be checked.',
  fields: (t) => ({
    ice: t.string({ description: 'Exactly 15 digits.' }),
    name: t.string({ description: 'Company name, at most 200 characters.' }),
    address: t.string({ description: 'Full address, at most 500 characters.' }),
    email: t.string({ description: 'Where the signed PDF is sent.' }),
  }),
});

const LineDraft = builder.inputType('InvoiceLineDraft', {
  description: 'One line of an invoice to be checked.',
  fields: (t) => ({
    description: t.string({ description: 'Designation, at most 500 characters.' }),
    quantity: t.float({ description: 'A positive integer.' }),
    unitPrice: t.float({ description: 'Excluding tax, in centimes.' }),
    taxRate: t.float({ description: 'VAT in percent: 0, 7, 10, 14 or 20, which it is unless given.' }),
  }),
});

const InvoiceDraft = builder.inputType('InvoiceDraft', {
  description:
    'An invoice to be checked: the fields of `CreateInvoiceInput`, none of which is required here. What createInvoice takes can be sent as it is.',
  fields: (t) => ({
    amount: t.float({ description: 'Total including tax, in centimes; must equal the lines with their VAT.' }),
    currency: t.string({ description: '`MAD`.' }),
    customer: t.field({ type: CustomerDraft, description: 'The buyer.' }),
    lines: t.field({ type: [LineDraft], description: '1 to 1,000.' }),
    metadata: t.field({ type: 'Metadata', description: 'Free key/value data.' }),
    terms: t.field({ type: InvoiceTermsInput, description: 'Dates, and how to pay.' }),
    number: t.string({ description: 'The number of your own series, if you have one.' }),
  }),
});

const InvoiceValidationType = builder.objectRef<InvoiceValidation>('InvoiceValidation').implement({
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
    args: { input: t.arg({ type: InvoiceDraft, required: true, description: 'The invoice.' }) },
    resolve: (_root, { input }, { principal, useCases }) => useCases.validateInvoice(principal, input),
  }),
}));
