import type { Invoice } from './invoice.ts';
import type { LegalInvoice } from './ports.ts';

/** Where the mail of an invoice stands. It never holds back or changes the invoice's status (design, section 5, "e-mail"). */
export const EMAIL_STATUSES = ['waiting', 'sending', 'sent', 'refused', 'failed'] as const;
export type EmailStatus = (typeof EMAIL_STATUSES)[number];

/**
 * What is recorded of an invoice's mail, before and after each attempt to send it.
 *
 * What the receiver gets: the mail is handed over at least once, unless it is refused for good or the attempts end, and every hand-over is
 * the same mail to the byte under the same Message-ID. A second one happens only when a crash or a broken connection came between the
 * server's taking the mail and our recording it; mail systems that go by the Message-ID then show one.
 */
export interface InvoiceEmail {
  readonly status: EmailStatus;
  readonly to: string;
  /** 1 for the mail that follows acceptance, 2, 3… for those that the tenant asks for; each is a mail of its own. */
  readonly sending: number;
  /** Derived from the invoice's id and `sending`, in angle brackets. */
  readonly messageId: string;
  /** The mail's Date: when the first attempt began. */
  readonly composedAt: Date;
  /** Attempts so far, one under way included. */
  readonly attempts: number;
  readonly lastError: string | null;
  readonly sentAt: Date | null;
}

/** A mail to be sent; equal mails are composed to equal bytes. */
export interface InvoiceMail {
  readonly to: string;
  readonly messageId: string;
  readonly date: Date;
  readonly invoice: LegalInvoice;
  readonly dgiId: string;
  /** Where the receiver may check the documents. */
  readonly verifyUrl: string;
  readonly pdf: Uint8Array;
  readonly xml: Uint8Array;
}

/** Sends mails: over SMTP, or into the outbox folder. */
export interface Mailer {
  /** The Message-ID of an invoice's mail, in angle brackets: always the same. @param sending 1, 2, 3… */
  messageIdOf(invoiceId: string, sending: number): string;
  /** Resolves when the mail is in the care of a mail server, or on disk in the outbox. @throws {MailNotSent} @throws {MailInterrupted} */
  send(mail: InvoiceMail): Promise<void>;
}

/** The mail was not taken, or that is not known. */
export class MailNotSent extends Error {
  override readonly name = 'MailNotSent';
  /** Whether the server refused this mail for good (RFC 5321, 4.2.1: 5yz), so that another attempt would be refused too. */
  readonly permanent: boolean;

  constructor(message: string, permanent: boolean, cause?: unknown) {
    super(message, { cause });
    this.permanent = permanent;
  }
}

/** The service stops. Whether the mail was taken is not known, and nothing is wrong with it. */
export class MailInterrupted extends Error {
  override readonly name = 'MailInterrupted';
}

/** Where the mail of an invoice stands, also before anything of it is recorded; null when none is to be sent. */
export function emailOf(invoice: Invoice): InvoiceEmailView | null {
  if (invoice.email) return invoice.email;
  const to = invoice.customer.email;
  // Without work it was accepted before mails were sent.
  if (to === null || invoice.work === null) return null;
  return { status: 'waiting', to, attempts: 0, lastError: null, sentAt: null };
}

export type InvoiceEmailView = Pick<InvoiceEmail, 'status' | 'to' | 'attempts' | 'lastError' | 'sentAt'>;
