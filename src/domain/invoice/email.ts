import type { Invoice } from './invoice.ts';
import type { InvoiceEmail } from './invoice-email.ts';
import type { LegalInvoice } from './ports.ts';

/** A mail to send. Equal objects result in equal bytes. */
export interface InvoiceMail {
  readonly to: string;
  readonly messageId: string;
  readonly date: Date;
  readonly invoice: LegalInvoice;
  readonly dgiId: string;
  /** URL where the receiver can verify the documents. */
  readonly verifyUrl: string;
  readonly pdf: Uint8Array;
  readonly xml: Uint8Array;
}

/** Sends mails over SMTP, or writes them to the outbox folder. */
export interface Mailer {
  /** Returns the Message-ID of an invoice's mail, in angle brackets. It is deterministic. @param sending 1, 2, 3… */
  messageIdOf(invoiceId: string, sending: number): string;
  /**
   * Resolves when a mail server has accepted the mail, or it is in the outbox on disk. @throws {MailNotSent} @throws
   * {MailInterrupted}
   */
  send(mail: InvoiceMail): Promise<void>;
}

/** The mail was not accepted, or it is unknown whether it was. */
export class MailNotSent extends Error {
  override readonly name = 'MailNotSent';
  /**
   * Whether the server refused this mail permanently (RFC 5321, 4.2.1: 5yz), so that every retry would be refused, too.
   */
  readonly permanent: boolean;

  constructor(message: string, permanent: boolean, cause?: unknown) {
    super(message, { cause });
    this.permanent = permanent;
  }
}

/** The service is stopping. The mail itself is valid, but it is unknown whether it was accepted. */
export class MailInterrupted extends Error {
  override readonly name = 'MailInterrupted';
}

/** Returns the state of an invoice's mail, also before the first attempt; null if no mail will be sent. */
export function emailOf(invoice: Invoice): InvoiceEmailView | null {
  if (invoice.email) return invoice.email;
  const to = invoice.customer.email;
  // An accepted invoice without work and without a record is older than the e-mail stage.
  if (to === null || invoice.work === null) return null;
  return { status: 'waiting', to, attempts: 0, lastError: null, sentAt: null };
}

export type InvoiceEmailView = Pick<InvoiceEmail, 'status' | 'to' | 'attempts' | 'lastError' | 'sentAt'>;
