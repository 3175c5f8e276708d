import { mailAddress } from '../email-address.ts';
import { serviceError } from '../errors.ts';
import { isId } from '../ids.ts';
import type { Change, UseCase } from '../use-case.ts';
import type { DocumentDemand } from './document-demand.ts';
import type { Mailer } from './email.ts';
import type { Invoice } from './invoice.ts';
import type { InvoiceEmail } from './invoice-email.ts';
import type { InvoiceRepository, StageQueue } from './repository.ts';

/** Maximum number of mails for an invoice, so that the service cannot be used to flood a mailbox. */
const MOST_SENDINGS = 10;

interface ResendNeeds {
  readonly invoices: Pick<InvoiceRepository, 'find' | 'requestEmail'>;
  readonly queue: StageQueue;
  readonly mailer: Pick<Mailer, 'messageIdOf'>;
  readonly demand: Pick<DocumentDemand, 'await'>;
}

/**
 * Mails an accepted invoice's documents again, as a separate mail. Waits for a PDF that is not drawn yet.
 * @param to the receiver; null: the receiver of the last mail, otherwise the customer
 * @returns the invoice, whose mail is waiting
 * @throws {ServiceError} resource_not_found: unknown, or of another tenant or environment; invalid_request: 400 for an
 * invalid address, 422 if there are no documents, no receiver, an earlier mail is not finished, or the invoice was
 * mailed ten times
 */
export const resendInvoiceEmail = {
  scope: 'operate',
  audit: { action: 'invoice.email_resent', description: 'The mail of an invoice was sent again.' },
  async run(
    { invoices, queue, mailer, demand }: ResendNeeds,
    { by: { tenant, environment }, record }: Change,
    invoiceId: string,
    to: string | null,
  ): Promise<Invoice> {
    const found = isId('inv', invoiceId) ? await invoices.find(invoiceId) : null;
    if (!found || found.tenantId !== tenant.id || found.environment !== environment) {
      throw serviceError('resource_not_found', `There is no invoice '${invoiceId.slice(0, 80)}' for this key.`, 'id');
    }
    const receiver = to ?? found.email?.to ?? found.customer.email;
    if (receiver === null) throw refusal('The customer has no e-mail address: state the receiver in to.', 'to');
    if (mailAddress(receiver) === null) throw serviceError('invalid_request', 'to must be an e-mail address.', 'to');
    const invoice = await drawn(demand, found);
    if (!invoice) throw refusal('The documents of this invoice are not available yet.', 'id');
    if (invoice.work) throw refusal('The previous mail of this invoice is not finished yet.', 'id');
    const sending = (invoice.email?.sending ?? 0) + 1;
    if (sending > MOST_SENDINGS)
      throw refusal(`This invoice was already mailed ${MOST_SENDINGS} times, which is the maximum.`, 'id');
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
    if (!requested) throw refusal('The previous mail of this invoice is not finished yet.', 'id');
    void queue.enqueue(requested, 0);
    await record({ subject: invoiceId });
    return requested;
  },
} as const satisfies UseCase;

/** Returns the invoice with its PDF, which is drawn now if it was left for idle time. */
async function drawn(demand: ResendNeeds['demand'], invoice: Invoice): Promise<Invoice | null> {
  if (invoice.pdf) return invoice;
  return invoice.status === 'accepted' && invoice.work?.stage === 'render' ? demand.await(invoice, 'pdf') : null;
}

function refusal(message: string, param: string) {
  return serviceError('invalid_request', message, param, 422);
}
