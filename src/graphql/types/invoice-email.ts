import { emailOf, type InvoiceEmailView } from '../../domain/invoice/email.ts';
import type { EmailStatus } from '../../domain/invoice/invoice-email.ts';
import { isMember } from '../../domain/principal.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { payloadOf } from '../payload.ts';
import { InvalidInputError, NotFoundError } from './errors.ts';
import { addDocumentFields, CreditNoteType, InvoiceType } from './fiscal-documents.ts';

const MEANING: Readonly<Record<EmailStatus, string>> = {
  waiting: 'The mail waits for the PDF or for the next attempt.',
  sending: 'An attempt is under way.',
  sent: 'The mail server has accepted the mail, or it is in the outbox folder.',
  refused: 'The mail server has refused the mail permanently; `lastError` is its answer.',
  failed: 'Every attempt failed; `lastError` is that of the last one.',
};

const EmailStatusType = enumOf('EmailStatus', 'Status of an invoice’s mail.', MEANING);

const InvoiceEmailType = builder.objectRef<InvoiceEmailView>('InvoiceEmail').implement({
  description: 'The mail with the signed PDF and the XML to the customer, sent after acceptance.',
  fields: (t) => ({
    status: t.expose('status', { type: EmailStatusType, description: 'Status of the mail.' }),
    to: t.exposeString('to', { description: 'The recipient.' }),
    attempts: t.exposeInt('attempts', { description: 'Number of attempts, including one under way.' }),
    lastError: t.exposeString('lastError', { nullable: true, description: 'Why the last attempt failed.' }),
    sentAt: t.expose('sentAt', { type: 'DateTime', nullable: true, description: 'Time of sending.' }),
  }),
});

addDocumentFields((t) => ({
  email: t.field({
    type: InvoiceEmailType,
    nullable: true,
    description: 'The mail to the customer; null if none is sent. Null without a secret key.',
    resolve: (invoice, _args, { principal }) => (isMember(principal) ? emailOf(invoice) : null),
  }),
}));

builder.mutationFields((t) => ({
  resendInvoiceEmail: t.field({
    type: payloadOf('resendInvoiceEmail', 'invoice', InvoiceType, 'The invoice; its mail is queued.'),
    authScopes: accessOf('resendInvoiceEmail'),
    errors: { types: [InvalidInputError, NotFoundError] },
    description: 'Sends the documents of an accepted invoice by mail again; at most ten times per invoice.',
    args: {
      id: t.arg.id({ required: true, description: 'Prefix `inv_`.' }),
      to: t.arg.string({ description: 'Another recipient. Default: the previous one, or the customer.' }),
    },
    resolve: (_root, { id, to }, { principal, useCases }) => useCases.resendInvoiceEmail(principal, id, to ?? null),
  }),
  resendCreditNoteEmail: t.field({
    type: payloadOf('resendCreditNoteEmail', 'creditNote', CreditNoteType, 'The credit note; its mail is queued.'),
    authScopes: accessOf('resendCreditNoteEmail'),
    errors: { types: [InvalidInputError, NotFoundError] },
    description: 'Sends the documents of an accepted credit note by mail again; at most ten times per credit note.',
    args: {
      id: t.arg.id({ required: true, description: 'Prefix `crn_`.' }),
      to: t.arg.string({ description: 'Another recipient. Default: the previous one, or the customer.' }),
    },
    resolve: (_root, { id, to }, { principal, useCases }) => useCases.resendCreditNoteEmail(principal, id, to ?? null),
  }),
}));
