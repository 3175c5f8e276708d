import { type Attention, type AttentionReason, attentionOf } from '../../domain/invoice/attention.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { InvoiceType } from './invoice.ts';

const MEANING: Readonly<Record<AttentionReason, string>> = {
  internal_error: 'Processing fails on our side, again and again. Our operators are told; nothing need be sent again.',
  outcome_unknown:
    'Whether the tax authority holds the invoice is not known; it is asked on. Do not send the invoice again.',
  undecided: 'The tax authority has not decided for more than a day; it is asked on.',
  pdf_delayed: 'The invoice is accepted, and its PDF can not be drawn so far.',
};

const AttentionReasonType = enumOf('AttentionReason', 'Why an invoice does not go on as it should.', MEANING);

const AttentionType = builder.objectRef<Attention>('InvoiceAttention').implement({
  description:
    'An invoice that does not go on as it should. Nothing of it is lost; it is tried again, ever more rarely.',
  fields: (t) => ({
    reason: t.expose('reason', { type: AttentionReasonType, description: 'Why.' }),
    message: t.string({ description: 'The same for a person.', resolve: ({ reason }) => MEANING[reason] }),
    since: t.expose('since', { type: 'DateTime', description: 'Since when it has waited.' }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      description: 'When it is tried again at the latest.',
    }),
  }),
});

builder.objectFields(InvoiceType, (t) => ({
  attention: t.field({
    type: AttentionType,
    nullable: true,
    description: 'What is the matter with its processing; null when all is well. Shown to a secret key only.',
    resolve: (invoice, _args, { principal }) => (principal.kind === 'secret' ? attentionOf(invoice, new Date()) : null),
  }),
}));
