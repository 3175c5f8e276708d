import { isIP } from 'node:net';
import { createTransport } from 'nodemailer';
import SmtpConnection from 'nodemailer/lib/smtp-connection';
import type SmtpPool from 'nodemailer/lib/smtp-pool';
import { isAsciiAddress } from '../../domain/email-address.ts';
import { MailInterrupted, MailNotSent } from '../../domain/invoice/email.ts';

/** Time limits for a mail server, in milliseconds. */
export interface SmtpTimes {
  /** Time for the server to accept a connection, and again to send its greeting. */
  readonly connect: number;
  /**
   * Maximum time without any data within a session. Less than 10 min after the end of the mail would lead to duplicates
   * (RFC 5321, 4.5.3.2.6).
   */
  readonly silence: number;
  /** Maximum time for one mail in total. */
  readonly total: number;
}

const SMTP_TIMES: SmtpTimes = { connect: 20_000, silence: 600_000, total: 1_200_000 };

const CONNECTIONS = 4;

/** A mail server, reached over a pool of connections. */
export interface Smtp {
  /**
   * Resolves when the server has accepted the mail.
   * @param from an ASCII address
   * @param to normalized by `mailAddress`; a non-ASCII address needs a server that offers SMTPUTF8 (RFC 6531)
   * @throws {MailNotSent} @throws {MailInterrupted}
   */
  send(from: string, to: string, message: Buffer): Promise<void>;
  /** Connects and logs in. @throws the connection or log-in error */
  verify(): Promise<void>;
  /** Aborts mails in progress and closes the connections. */
  close(): void;
}

/** @param url `smtp://` (STARTTLS where the server offers it) or `smtps://`, with the credentials in it */
export function createSmtp(url: string, times: SmtpTimes = SMTP_TIMES): Smtp {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: CONNECTIONS,
    connectionTimeout: times.connect,
    greetingTimeout: times.connect,
    dnsTimeout: times.connect,
    socketTimeout: times.silence,
    requireTLS: mustEncrypt(new URL(url)),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  // Ignores errors of idle connections. An error while a mail is being sent rejects its `sendMail`.
  transport.on('error', () => undefined);
  const closing = new AbortController();
  return {
    async send(from, to, message) {
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(times.total)]);
      try {
        const beyondAscii = !isAsciiAddress(to);
        if (beyondAscii && !(await offersUtf8((transport.transporter as SmtpPool).options, signal)))
          throw new NoUtf8(to);
        // The header fields contain non-ASCII octets in this case.
        const envelope = { from, to: [to], ...(beyondAscii && { use8BitMime: true }) };
        await transport.sendMail({ envelope, raw: message, signal });
      } catch (error) {
        throw closing.signal.aborted ? new MailInterrupted('the service stops', { cause: error }) : notSent(error);
      }
    },
    async verify() {
      await transport.verify();
    },
    close() {
      closing.abort(new Error('the service stops'));
      transport.close();
    },
  };
}

class NoUtf8 extends Error {
  constructor(to: string) {
    super(`the mail server does not accept non-ASCII addresses such as ${to} (it does not offer SMTPUTF8)`);
  }
}

/**
 * Whether the server offers SMTPUTF8. This needs a connection of its own: nodemailer sends to a non-ASCII address in
 * either case, and does not report the server's extensions. @throws the connection error
 */
function offersUtf8(options: SmtpConnection.Options, signal: AbortSignal): Promise<boolean> {
  const connection = new SmtpConnection(options);
  return new Promise<boolean>((resolve, reject) => {
    connection.once('error', reject);
    connection.once('end', () => reject(new Error('the mail server closed the connection')));
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    // The last response is the one to EHLO; with STARTTLS, to the second EHLO.
    connection.connect((error) => {
      if (error) reject(error);
      else resolve(/^250[ -]SMTPUTF8\b/im.test(connection.lastServerResponse || ''));
    });
  }).finally(() => {
    connection.on('error', () => undefined);
    connection.close();
  });
}

/** Whether the connection must be encrypted: a password is never sent over a network in clear text. */
function mustEncrypt({ protocol, username, hostname }: URL): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  const isLoopback = address === 'localhost' || (isIP(address) !== 0 && /^(127\.|::1$)/.test(address));
  return protocol === 'smtp:' && username !== '' && !isLoopback;
}

/**
 * Converts an error of sending. A refusal is permanent when the server answers 5yz to this receiver or this mail. A
 * refused log-in or sender affects all mails and is for the operator to fix, so the mail is retried. A 552 to the
 * sender is about the size of this mail, hence permanent.
 */
function notSent(error: unknown): MailNotSent {
  if (error instanceof NoUtf8) return new MailNotSent(error.message, true, error);
  const { message = String(error), command = '', responseCode = 0 } = error as Partial<SmtpError>;
  const isOfThisMail = command === 'RCPT TO' || command === 'DATA' || (command === 'MAIL FROM' && responseCode === 552);
  return new MailNotSent(message, isOfThisMail && responseCode >= 500 && responseCode < 600, error);
}

interface SmtpError {
  message: string;
  command: string;
  responseCode: number;
}
