import MailComposer from 'nodemailer/lib/mail-composer';

/** A mail of the service itself, in plain text. */
interface ServiceMail {
  /** An ASCII address. */
  readonly from: string;
  /** Normalized by `mailAddress`. */
  readonly to: string;
  /** Fit for a header (`headerText`). */
  readonly subject: string;
  readonly text: string;
  /** The part of the Message-ID before the host of the sender. Mail servers drop a second mail with the same id. */
  readonly id: string;
  /** Headers by which programs sort the mail. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Composes a mail that no person has written. While it is composed, no file and no URL is read. */
export function composeServiceMail({ from, to, subject, text, id, headers }: ServiceMail): Promise<Buffer> {
  const composer = new MailComposer({
    from: { name: 'Fatoura', address: from },
    to: { name: '', address: to },
    subject,
    text,
    date: new Date(),
    messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    headers: { 'Auto-Submitted': 'auto-generated', ...headers },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}
