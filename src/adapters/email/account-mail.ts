import { randomUUID } from 'node:crypto';
import MailComposer from 'nodemailer/lib/mail-composer';
import type { ResetMail } from '../../domain/person/ports.ts';

/**
 * Composes the mail with the link to a new password, in French and English.
 * @param from an ASCII address
 * @param to normalized by `mailAddress`
 */
export function composeReset({ url, validMinutes }: ResetMail, from: string, to: string): Promise<Buffer> {
  const composer = new MailComposer({
    from: { name: 'Fatoura', address: from },
    to: { name: '', address: to },
    subject: 'Nouveau mot de passe / new password',
    date: new Date(),
    messageId: `<${randomUUID()}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    text: `Bonjour,

Pour choisir un nouveau mot de passe, ouvrez ce lien dans les ${validMinutes} minutes :

  ${url}

Si vous n'avez rien demandé, ignorez ce message : votre mot de passe reste le même.

--

Hello,

To choose a new password, open this link within ${validMinutes} minutes:

  ${url}

If you did not ask for it, ignore this mail: your password stays the same.
`,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}
