import { type Attention, type AttentionReason, attentionOf } from '../../domain/invoice/attention.ts';
import { isMember } from '../../domain/principal.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { addDocumentFields } from './fiscal-documents.ts';

const MEANING: Readonly<Record<AttentionReason, string>> = {
  internal_error: 'Processing fails repeatedly by an internal error. Operators are alerted; do not send it again.',
  digest_mismatch:
    "The tax authority holds another document under this invoice's id. Operators are alerted and must act; do not send the invoice again.",
  outcome_unknown:
    'It is unknown whether the tax authority has received the invoice. The service keeps querying it; do not send the invoice again.',
  undecided: 'The tax authority has not decided for more than a day. The service keeps querying it.',
  receipt_delayed:
    'The invoice is accepted, but the tax authority does not deliver its receipt or its document. The service retries.',
  receipt_invalid:
    'The invoice is accepted, but the receipt or the document that the tax authority delivered is wrong. Operators are alerted; the service retries.',
  credit_note_rejected:
    'The invoice was to replace another one, and was not issued because the credit note of that one was rejected or it was corrected otherwise. The replaced invoice stands as it was; read its credit notes, then replace this one.',
  pdf_delayed: 'The invoice is accepted, but rendering its PDF fails. The service retries.',
};

const AttentionReasonType = enumOf('AttentionReason', 'Why the processing of an invoice is delayed.', MEANING);

const AttentionType = builder.objectRef<Attention>('InvoiceAttention').implement({
  description:
    'A problem that delays the processing of an invoice. No data is lost; the service retries with growing intervals.',
  fields: (t) => ({
    reason: t.expose('reason', { type: AttentionReasonType, description: 'The reason.' }),
    message: t.string({ description: 'The reason as a sentence.', resolve: ({ reason }) => MEANING[reason] }),
    since: t.expose('since', { type: 'DateTime', description: 'Start of the delay.' }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      description: 'Latest time of the next attempt; 9999-12-31T00:00:00Z if operators must act first.',
    }),
  }),
});

addDocumentFields((t) => ({
  attention: t.field({
    type: AttentionType,
    nullable: true,
    description: 'The problem that delays its processing; null if there is none. Null without a secret key.',
    resolve: (invoice, _args, { principal }) => (isMember(principal) ? attentionOf(invoice, new Date()) : null),
  }),
}));
