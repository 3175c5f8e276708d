import { randomUUID } from 'node:crypto';
import MailComposer from 'nodemailer/lib/mail-composer';
import { INVITATION_MS } from '../../domain/person/invitation.ts';
import type { InvitationMail, ResetMail } from '../../domain/person/ports.ts';

/**
 * Composes the mail with the link to a new password, in French and English.
 * @param from an ASCII address
 * @param to normalized by `mailAddress`
 */
export function composeReset({ url, validMinutes }: ResetMail, from: string, to: string): Promise<Buffer> {
  return compose(
    from,
    to,
    'Nouveau mot de passe / new password',
    `Bonjour,

Pour choisir un nouveau mot de passe, ouvrez ce lien dans les ${validMinutes} minutes :

  ${url}

Si vous n'avez rien demandé, ignorez ce message : votre mot de passe reste le même.

--

Hello,

To choose a new password, open this link within ${validMinutes} minutes:

  ${url}

If you did not ask for it, ignore this mail: your password stays the same.
`,
  );
}

/** Composes the mail with the link of an invitation, in French and English. Its parameters are as of `composeReset`. */
export function composeInvitation({ url, tenantName }: InvitationMail, from: string, to: string): Promise<Buffer> {
  const days = INVITATION_MS / 86_400_000;
  return compose(
    from,
    to,
    `Invitation : ${tenantName}`,
    `Bonjour,

Vous êtes invité à suivre les factures de ${tenantName} dans Fatoura. Ouvrez ce lien dans les ${days} jours :

  ${url}

Il ne sert qu'une fois, et à cette adresse seulement.

--

Hello,

You are invited to the invoices of ${tenantName} in Fatoura. Open this link within ${days} days:

  ${url}

It works once, and for this address only.
`,
  );
}

function compose(from: string, to: string, subject: string, text: string): Promise<Buffer> {
  const composer = new MailComposer({
    from: { name: 'Fatoura', address: from },
    to: { name: '', address: to },
    ...{ subject, text },
    date: new Date(),
    messageId: `<${randomUUID()}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}
