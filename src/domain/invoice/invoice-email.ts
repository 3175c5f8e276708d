/** Where the mail of an invoice stands. It never holds back or changes the invoice's status (docs/decisions/0018). */
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
