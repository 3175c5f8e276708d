import { emailOf, type InvoiceEmailView } from '../../domain/invoice/email.ts';
import type { EmailStatus } from '../../domain/invoice/invoice-email.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { payloadOf } from '../payload.ts';
import { InvalidInputError, NotFoundError } from './errors.ts';
import { InvoiceType } from './invoice.ts';

const MEANING: Readonly<Record<EmailStatus, string>> = {
  waiting: 'To be sent: once the PDF is there, or at the next attempt.',
  sending: 'An attempt is under way.',
  sent: 'The mail server has taken it, or it is in the outbox.',
  refused: 'The mail server refused it for good; `lastError` is its answer.',
  failed: 'Every attempt failed; `lastError` is from the last one.',
};

const EmailStatusType = enumOf('EmailStatus', 'Where the mail of an invoice stands.', MEANING);

const InvoiceEmailType = builder.objectRef<InvoiceEmailView>('InvoiceEmail').implement({
  description: 'The mail that brings the signed PDF and the XML to the customer, after acceptance.',
  fields: (t) => ({
    status: t.expose('status', { type: EmailStatusType, description: 'Where it stands.' }),
    to: t.exposeString('to', { description: 'The receiver.' }),
    attempts: t.exposeInt('attempts', { description: 'Attempts so far, one under way included.' }),
    lastError: t.exposeString('lastError', { nullable: true, description: 'Why the last attempt failed.' }),
    sentAt: t.expose('sentAt', { type: 'DateTime', nullable: true, description: 'When it was sent.' }),
  }),
});

builder.objectFields(InvoiceType, (t) => ({
  email: t.field({
    type: InvoiceEmailType,
    nullable: true,
    description: 'The mail to the customer; shown to a secret key only, null where none is sent.',
    resolve: (invoice, _args, { principal }) => (principal.kind === 'secret' ? emailOf(invoice) : null),
  }),
}));

builder.mutationFields((t) => ({
  resendInvoiceEmail: t.field({
    type: payloadOf('resendInvoiceEmail', 'invoice', InvoiceType, 'The invoice, whose mail is due.'),
    authScopes: { secretKey: true },
    errors: { types: [InvalidInputError, NotFoundError] },
    description: 'Mails the documents of an accepted invoice once more; ten times in all.',
    args: {
      id: t.arg.id({ required: true, description: 'Prefix `inv_`.' }),
      to: t.arg.string({ description: 'Another receiver; otherwise the one before, or the customer.' }),
    },
    resolve: (_root, { id, to }, { principal, useCases }) => useCases.resendEmail(principal, id, to ?? null),
  }),
}));
