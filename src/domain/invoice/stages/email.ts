import { HOUR_MS, MINUTE_MS } from '../../durations.ts';
import { legalXml } from '../documents.ts';
import { type Mailer, MailInterrupted, MailNotSent } from '../email.ts';
import type { Invoice } from '../invoice.ts';
import type { InvoiceEmail } from '../invoice-email.ts';
import { legalInvoice } from '../legal-invoice.ts';
import type { PipelineParts, PipelineReport, Progress, RunStage } from './stage.ts';

/**
 * Delay before the second and each later attempt to send a mail, in milliseconds. They add up to about four days (RFC
 * 5321, 4.5.4.1). If the last attempt fails, the mail has failed.
 */
export const EMAIL_SCHEDULE: readonly number[] = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
  48 * HOUR_MS,
];
/** Maximum length of the stored server answer, in characters. */
const ERROR_LENGTH = 500;

/**
 * Creates the last stage, which sends the signed PDF and the XML to the customer. Each attempt is recorded before and
 * after ({@link InvoiceEmail} states the guarantee) and retried by {@link EMAIL_SCHEDULE}, unless the server refuses
 * the mail permanently. No mail is sent for a tenant that is being erased.
 */
export function createEmailStage(
  parts: Pick<PipelineParts, 'documents' | 'mailer' | 'isErased' | 'verifyUrlOf' | 'report'>,
  { change, putOff }: Progress,
): RunStage {
  return async (claim) => {
    const { invoice } = claim;
    const { pdf, dgiId, number } = invoice;
    if (await parts.isErased(invoice.tenantId)) {
      await change(claim, { work: null });
      return null;
    }
    const xml = legalXml(invoice);
    const to = invoice.email?.to ?? invoice.customer.email;
    if (to === null || pdf === null || xml === null || dgiId === null || number === null)
      throw new Error(`invoice ${invoice.id} is at stage email without an address, a document or an acceptance`);
    const [pdfBytes, xmlBytes] = await Promise.all([parts.documents.get(pdf), parts.documents.get(xml)]);
    const email = nextAttempt(invoice, to, parts.mailer);
    if (invoice.email?.status === 'sending')
      report('warn', 'an earlier attempt was interrupted; the same mail is sent again');
    const work = { stage: 'email', attempts: email.attempts, outcomeUnknown: false, in: 0, keep: true } as const;
    const recorded = await change(claim, { email, work });
    const failure = await parts.mailer
      .send({
        to,
        messageId: email.messageId,
        date: email.composedAt,
        invoice: legalInvoice(invoice, number),
        dgiId,
        verifyUrl: parts.verifyUrlOf(invoice),
        pdf: pdfBytes,
        xml: xmlBytes,
      })
      .then(
        () => null,
        (error: unknown) => error,
      );
    if (failure === null) {
      await change(recorded, {
        email: { ...email, status: 'sent', sentAt: new Date(), lastError: null },
        work: null,
      });
      return null;
    }
    // The service is stopping. The next worker sends the mail again, as after a crash.
    if (failure instanceof MailInterrupted) return putOff(recorded, again(email.attempts), 0, { email });
    // An internal error is retried by the same schedule, so the number of attempts is always limited.
    const isRefused = failure instanceof MailNotSent && failure.permanent;
    const lastError = failure instanceof MailNotSent ? failure.message.slice(0, ERROR_LENGTH) : 'an internal error';
    const delay = EMAIL_SCHEDULE[email.attempts - 1];
    if (!isRefused && delay !== undefined) {
      report(
        failure instanceof MailNotSent ? 'warn' : 'error',
        `the mail was not sent (attempt ${email.attempts})`,
        failure,
      );
      const waiting: InvoiceEmail = { ...email, status: 'waiting', lastError };
      return putOff(recorded, again(email.attempts), delay, { email: waiting });
    }
    report(
      'error',
      isRefused ? 'the server refused the mail permanently' : 'the mail was not sent in any attempt',
      failure,
    );
    const status = isRefused ? 'refused' : 'failed';
    await change(recorded, { email: { ...email, status, lastError }, work: null });
    return null;

    function report(level: PipelineReport['level'], message: string, error?: unknown): void {
      parts.report({ level, invoiceId: invoice.id, stage: 'email', message, error });
    }
  };
}

function again(attempts: number) {
  return { stage: 'email', attempts, outcomeUnknown: false } as const;
}

function nextAttempt(invoice: Invoice, to: string, mailer: Mailer): InvoiceEmail {
  return {
    status: 'sending',
    to,
    sending: invoice.email?.sending ?? 1,
    messageId: invoice.email?.messageId ?? mailer.messageIdOf(invoice.id, 1),
    composedAt: invoice.email?.composedAt ?? new Date(),
    attempts: (invoice.email?.attempts ?? 0) + 1,
    lastError: invoice.email?.lastError ?? null,
    sentAt: null,
  };
}
