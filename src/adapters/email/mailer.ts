import { randomUUID } from 'node:crypto';
import type { ConditionsNotifier } from '../../domain/conditions/tell-owners.ts';
import { mailAddress } from '../../domain/email-address.ts';
import { type InvoiceMail, type Mailer, MailNotSent } from '../../domain/invoice/email.ts';
import type { AccountMailer } from '../../domain/person/ports.ts';
import type { EndpointNotifier } from '../../domain/webhook/endpoint-health.ts';
import { composeAddressChange, composeInvitation, composeNewAddress, composeReset } from './account-mail.ts';
import { composeConditions } from './conditions-notice.ts';
import { composeMessage } from './message.ts';
import { composeNotice } from './notice.ts';
import { writeToOutbox } from './outbox.ts';
import { createSmtp, type SmtpTimes } from './smtp.ts';

export interface MailerOptions {
  /** Null: every mail is written to the outbox. */
  readonly smtpUrl: string | null;
  /** The sender's address, ASCII. Null: an address in a reserved domain, for mails in the outbox. */
  readonly from: string | null;
  /**
   * Receivers to whom mails of test invoices are really sent: addresses or `@domain`, normalized by `mailAddress`, in
   * lower case.
   */
  readonly testAllow: readonly string[];
  /** The outbox folder. */
  readonly outbox: string;
  readonly log?: { info(fields: object, message: string): void };
  readonly times?: SmtpTimes;
}

/** `.invalid` can never be registered (RFC 2606). */
const NO_SENDER = 'no-reply@fatoura.invalid';

/**
 * Sends invoices by SMTP. Without an SMTP server, and for test invoices to receivers outside `testAllow`, mails are
 * written to the outbox (docs/decisions/0018).
 */
export function createMailer(
  options: MailerOptions,
): Mailer & EndpointNotifier & ConditionsNotifier & AccountMailer & { close(): void } {
  const smtp = options.smtpUrl === null ? null : createSmtp(options.smtpUrl, options.times);
  const from = options.from ?? NO_SENDER;
  return {
    messageIdOf: (invoiceId, sending) =>
      `<${sending === 1 ? invoiceId : `${invoiceId}.${sending}`}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    async send(mail) {
      const to = mailAddress(mail.to);
      // Invoice creation applies the same rule; the rule may have changed since then.
      if (to === null) throw new MailNotSent(`'${mail.to}' is not a valid mail address`, true);
      const message = await composeMessage(mail, from, to);
      if (smtp && (mail.invoice.environment === 'live' || isAllowed(to, options.testAllow))) {
        await smtp.send(from, to, message);
      } else {
        await store(mail, message);
      }
    },
    async endpointFails(notice) {
      const to = mailAddress(notice.to);
      if (to === null) throw new MailNotSent(`'${notice.to}' is not a valid mail address`, true);
      const message = await composeNotice(notice, from, to);
      if (smtp && (notice.environment === 'live' || isAllowed(to, options.testAllow))) {
        return smtp.send(from, to, message);
      }
      const file = await writeToOutbox(
        options.outbox,
        `${notice.endpointId}.${notice.share}.${notice.at.getTime()}.${randomUUID()}`,
        message,
      );
      options.log?.info({ endpointId: notice.endpointId, file }, 'mail written to the outbox');
    },
    conditionsFound: (notice) => sendToPerson(notice.to, 'conditions', (to) => composeConditions(notice, from, to)),
    sendReset: (mail) => sendToPerson(mail.to, 'password', (to) => composeReset(mail, from, to)),
    sendInvitation: (mail) => sendToPerson(mail.to, 'invitation', (to) => composeInvitation(mail, from, to)),
    sendNewAddress: (mail) => sendToPerson(mail.to, 'address', (to) => composeNewAddress(mail, from, to)),
    sendAddressChange: (mail) => sendToPerson(mail.to, 'change', (to) => composeAddressChange(mail, from, to)),
    close: () => smtp?.close(),
  };

  /**
   * Sends a mail to a person with an account or an invitation. @param kind the beginning of the file's name in the
   * outbox
   */
  async function sendToPerson(address: string, kind: string, composed: (to: string) => Promise<Buffer>): Promise<void> {
    const to = mailAddress(address);
    if (to === null) throw new MailNotSent(`'${address}' is not a valid mail address`, true);
    const message = await composed(to);
    if (smtp) return smtp.send(from, to, message);
    const file = await writeToOutbox(options.outbox, `${kind}-${randomUUID()}`, message);
    options.log?.info({ file }, 'mail written to the outbox');
  }

  async function store(mail: InvoiceMail, message: Uint8Array): Promise<void> {
    const invoiceId = mail.invoice.id;
    try {
      const name = mail.messageId.slice(1, mail.messageId.lastIndexOf('@'));
      const file = await writeToOutbox(options.outbox, name, message);
      options.log?.info({ invoiceId, file }, 'mail written to the outbox');
    } catch (error) {
      throw new MailNotSent(`the outbox cannot be written: ${(error as Error).message}`, false, error);
    }
  }
}

function isAllowed(to: string, allowed: readonly string[]): boolean {
  const address = to.toLowerCase();
  return allowed.includes(address) || allowed.includes(address.slice(address.lastIndexOf('@')));
}
