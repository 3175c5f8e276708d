import { INVOICE_BYTES } from '../../domain/answer-bounds.ts';
import type { CreditPreview } from '../../domain/invoice/preview-credit.ts';
import { MAX_PROBLEMS } from '../../domain/limits.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { CreditInvoiceInputType } from './credit-note-creation.ts';
import { ProblemType } from './errors.ts';
import { TaxTotalType } from './invoice-totals.ts';

const CreditPreviewType = builder.objectRef<CreditPreview>('CreditPreview').implement({
  description: 'What a credit note would credit, if it was created now.',
  fields: (t) => ({
    amount: t.field({
      type: 'Centimes',
      nullable: true,
      description: 'The amount of the credit note, including tax; null if it would be refused.',
      resolve: ({ share }) => share?.amount,
    }),
    taxTotals: t.field({
      type: [TaxTotalType],
      description: 'What it would credit at each rate, the highest rate first; empty if it would be refused.',
      resolve: ({ share }) => [...(share?.rates ?? [])],
    }),
    problems: t.field({
      type: [ProblemType],
      description: `Why it would be refused: the status of the invoice, at most ${MAX_PROBLEMS} problems of structure, or those of the amounts. Empty if it would not be.`,
      resolve: ({ problems }) => [...problems],
    }),
  }),
});

builder.queryField('creditPreview', (t) =>
  t.field({
    type: CreditPreviewType,
    authScopes: accessOf('creditPreview'),
    description:
      'Computes what `creditInvoice` would credit now, and reports what it would refuse. Creates nothing. Without `lines` and `amounts` it is what is left of the invoice.',
    args: {
      invoiceId: t.arg.id({ required: true, description: 'The invoice to credit; prefix `inv_`.' }),
      input: t.arg({ type: CreditInvoiceInputType, required: true, description: 'What to credit and why.' }),
    },
    resolve: async (_root, { invoiceId, input }, { principal, useCases, meter }) => {
      await meter?.hold(INVOICE_BYTES);
      return useCases.creditPreview(principal, invoiceId, input);
    },
  }),
);
