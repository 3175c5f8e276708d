import { isIP } from 'node:net';
import { createTransport } from 'nodemailer';
import SmtpConnection from 'nodemailer/lib/smtp-connection';
import type SmtpPool from 'nodemailer/lib/smtp-pool';
import { isAsciiAddress } from '../../domain/email-address.ts';
import { MailInterrupted, MailNotSent } from '../../domain/invoice/email.ts';

/** How long a mail server may take, milliseconds. */
export interface SmtpTimes {
  /** To accept a connection, and to greet. */
  readonly connect: number;
  /** Of silence within a session. RFC 5321, 4.5.3.2.6: less than 10 min after the mail's end makes doubles. */
  readonly silence: number;
  /** For all of a mail. */
  readonly total: number;
}

export const SMTP_TIMES: SmtpTimes = { connect: 20_000, silence: 600_000, total: 1_200_000 };

const CONNECTIONS = 4;

/** A mail server, reached over kept connections. */
export interface Smtp {
  /**
   * Resolves when the server has taken the mail.
   * @param from an ASCII address
   * @param to as `mailAddress` gives it; one beyond ASCII goes only to a server that offers SMTPUTF8 (RFC 6531), any other would not carry it
   * @throws {MailNotSent} @throws {MailInterrupted}
   */
  send(from: string, to: string, message: Buffer): Promise<void>;
  /** Connects and logs in. @throws what keeps it from that */
  verify(): Promise<void>;
  /** Breaks off what is under way. */
  close(): void;
}

/** @param url `smtp://` (STARTTLS where the server offers it) or `smtps://`, with the credential in it */
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
  // What it says of connections that nothing was sent over; those of a mail fail its `sendMail`.
  transport.on('error', () => undefined);
  const closing = new AbortController();
  return {
    async send(from, to, message) {
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(times.total)]);
      try {
        const beyondAscii = !isAsciiAddress(to);
        if (beyondAscii && !(await offersUtf8((transport.transporter as SmtpPool).options, signal)))
          throw new NoUtf8(to);
        // Its header fields are octets beyond ASCII then.
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
    super(`the mail server takes no addresses beyond ASCII (it does not offer SMTPUTF8), and ${to} is one`);
  }
}

/**
 * Whether the server offers SMTPUTF8: asked over a connection of its own, since the library sends to such an address either way and does
 * not say. @throws what keeps it from connecting
 */
function offersUtf8(options: SmtpConnection.Options, signal: AbortSignal): Promise<boolean> {
  const connection = new SmtpConnection(options);
  return new Promise<boolean>((resolve, reject) => {
    connection.once('error', reject);
    connection.once('end', () => reject(new Error('the mail server closed the connection')));
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    // The last answer is the one to EHLO: the second one where the connection was encrypted between them.
    connection.connect((error) => {
      if (error) reject(error);
      else resolve(/^250[ -]SMTPUTF8\b/im.test(connection.lastServerResponse || ''));
    });
  }).finally(() => {
    connection.on('error', () => undefined);
    connection.close();
  });
}

/** A password never goes over a network in clear text. */
function mustEncrypt({ protocol, username, hostname }: URL): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  const isLoopback = address === 'localhost' || (isIP(address) !== 0 && /^(127\.|::1$)/.test(address));
  return protocol === 'smtp:' && username !== '' && !isLoopback;
}

/**
 * A refusal is for good when the server answers 5yz to this receiver or this mail. What it refuses to all mails (the log-in, the
 * sender) is for the operator to put right, so those are tried again; a sender's 552 is about the mail's size.
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
