/** Statuses of an invoice's mail. The mail never delays or changes the invoice's status (docs/decisions/0018). */
export type EmailStatus = 'waiting' | 'sending' | 'sent' | 'refused' | 'failed';

/**
 * The state of an invoice's mail, recorded before and after each attempt.
 *
 * Guarantee: the mail is handed over at least once, unless it is refused permanently or the attempts end. Every
 * hand-over has the same bytes and the same Message-ID. A second one happens only if the service crashed or the
 * connection broke after the server accepted the mail and before that was recorded. Mail systems that deduplicate by
 * Message-ID then show one mail.
 */
export interface InvoiceEmail {
  readonly status: EmailStatus;
  readonly to: string;
  /** 1 for the mail after acceptance; 2, 3… for mails that the tenant requests. Each is a separate mail. */
  readonly sending: number;
  /** Derived from the invoice's id and `sending`, in angle brackets. */
  readonly messageId: string;
  /** The Date header, which is the start of the first attempt. */
  readonly composedAt: Date;
  /** Number of attempts, including one under way. */
  readonly attempts: number;
  readonly lastError: string | null;
  readonly sentAt: Date | null;
}
