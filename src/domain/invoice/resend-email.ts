import type { AuditedChange } from '../audit-entry.ts';
import { mailAddress } from '../email-address.ts';
import { serviceError } from '../errors.ts';
import type { Change, UseCase } from '../use-case.ts';
import type { DocumentDemand } from './document-demand.ts';
import type { Mailer } from './email.ts';
import type { Invoice } from './invoice.ts';
import type { InvoiceEmail } from './invoice-email.ts';
import { isIdOfKind, KINDS, type Kind } from './kinds.ts';
import type { InvoiceReading, InvoiceTransitions } from './repository.ts';
import type { StageQueue } from './stage-queue.ts';

/** Maximum number of mails for an invoice or credit note, so that the service cannot be used to flood a mailbox. */
const MOST_SENDINGS = 10;

interface ResendNeeds {
  readonly invoices: Pick<InvoiceReading, 'find'> & Pick<InvoiceTransitions, 'requestEmail'>;
  readonly queue: StageQueue;
  readonly mailer: Pick<Mailer, 'messageIdOf'>;
  readonly demand: Pick<DocumentDemand, 'await'>;
}

/** Mails the documents of an accepted invoice again, as {@link mailOf} says. */
export const resendInvoiceEmail = mailOf('invoice', {
  action: 'invoice.email_resent',
  description: 'The mail of an invoice was sent again.',
});

/** Mails the documents of an accepted credit note again, as {@link mailOf} says. */
export const resendCreditNoteEmail = mailOf('credit_note', {
  action: 'credit_note.email_resent',
  description: 'The mail of a credit note was sent again.',
});

/**
 * Makes the use case that mails the documents of an accepted invoice or credit note again, as a separate mail. It waits
 * for a PDF that is not drawn yet. Its `to` is the receiver; null: the receiver of the last mail, otherwise the
 * customer. It returns the invoice or credit note, whose mail is waiting.
 * @throws {ServiceError} resource_not_found: unknown, of another kind, or of another tenant or environment;
 * invalid_request: 400 for an invalid address, 422 if there are no documents, no receiver, an earlier mail is not
 * finished, or it was mailed ten times
 */
function mailOf<const Audit extends AuditedChange>(kind: Kind, audit: Audit) {
  const { called } = KINDS[kind];
  return {
    scope: 'mail',
    audit,
    async run(
      { invoices, queue, mailer, demand }: ResendNeeds,
      { by: { tenant, environment }, record }: Change,
      invoiceId: string,
      to: string | null,
    ): Promise<Invoice> {
      const found = isIdOfKind(kind, invoiceId) ? await invoices.find(invoiceId) : null;
      if (!found || found.tenantId !== tenant.id || found.environment !== environment) {
        throw serviceError(
          'resource_not_found',
          `There is no ${called} '${invoiceId.slice(0, 80)}' for this key.`,
          'id',
        );
      }
      const receiver = to ?? found.email?.to ?? found.customer.email;
      if (receiver === null) throw refusal('The customer has no e-mail address: state the receiver in to.', 'to');
      if (mailAddress(receiver) === null) throw serviceError('invalid_request', 'to must be an e-mail address.', 'to');
      const invoice = await drawn(demand, found);
      if (!invoice) throw refusal(`The documents of this ${called} are not available yet.`, 'id');
      if (invoice.work) throw refusal(`The previous mail of this ${called} is not finished yet.`, 'id');
      const sending = (invoice.email?.sending ?? 0) + 1;
      if (sending > MOST_SENDINGS)
        throw refusal(`This ${called} was already mailed ${MOST_SENDINGS} times, which is the maximum.`, 'id');
      const email: InvoiceEmail = {
        status: 'waiting',
        to: receiver,
        sending,
        messageId: mailer.messageIdOf(invoiceId, sending),
        composedAt: new Date(),
        attempts: 0,
        lastError: null,
        sentAt: null,
      };
      const requested = await invoices.requestEmail(invoice, email);
      if (!requested) throw refusal(`The previous mail of this ${called} is not finished yet.`, 'id');
      void queue.enqueue(requested, 0);
      await record({ subject: invoiceId });
      return requested;
    },
  } as const satisfies UseCase;
}

/** Returns the invoice with its PDF, which is drawn now if it was left for idle time. */
async function drawn(demand: ResendNeeds['demand'], invoice: Invoice): Promise<Invoice | null> {
  if (invoice.pdf) return invoice;
  return invoice.status === 'accepted' && invoice.work?.stage === 'render' ? demand.await(invoice, 'pdf') : null;
}

function refusal(message: string, param: string) {
  return serviceError('invalid_request', message, param, 422);
}
