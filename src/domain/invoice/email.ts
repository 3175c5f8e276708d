import type { Invoice } from './invoice.ts';
import type { InvoiceEmail } from './invoice-email.ts';
import type { LegalInvoice } from './ports.ts';

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
