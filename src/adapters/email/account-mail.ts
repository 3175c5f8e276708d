import { randomUUID } from 'node:crypto';
import { INVITATION_MS } from '../../domain/person/invitation.ts';
import type { AddressChangeMail, InvitationMail, NewAddressMail, ResetMail } from '../../domain/person/ports.ts';
import { headerText, oneLine } from './header-text.ts';
import { composeServiceMail } from './service-mail.ts';

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

/** Composes the mail with the link of an invitation, in French and English. Parameters as for `composeReset`. */
export function composeInvitation({ url, tenantName }: InvitationMail, from: string, to: string): Promise<Buffer> {
  const days = INVITATION_MS / 86_400_000;
  const tenant = oneLine(tenantName);
  return compose(
    from,
    to,
    `Invitation : ${tenant}`,
    `Bonjour,

Vous êtes invité à suivre les factures de ${tenant} dans Fatoura. Ouvrez ce lien dans les ${days} jours :

  ${url}

Il ne sert qu'une fois, et à cette adresse seulement.

--

Hello,

You are invited to the invoices of ${tenant} in Fatoura. Open this link within ${days} days:

  ${url}

It works once, and for this address only.
`,
  );
}

/**
 * Composes the mail that asks the person to confirm a new address, in French and English. Parameters as for
 * `composeReset`.
 */
export function composeNewAddress({ url, validMinutes }: NewAddressMail, from: string, to: string): Promise<Buffer> {
  return compose(
    from,
    to,
    'Nouvelle adresse de votre compte / new address of your account',
    `Bonjour,

Pour que votre compte Fatoura ait cette adresse, connectez-vous et ouvrez ce lien dans les ${validMinutes} minutes :

  ${url}

Si vous n'avez rien demandé, ignorez ce message.

--

Hello,

To give your Fatoura account this address, sign in and open this link within ${validMinutes} minutes:

  ${url}

If you did not ask for it, ignore this mail.
`,
  );
}

/**
 * Composes the mail that reports a change of address to the previous address, in French and English. Parameters as for
 * `composeReset`.
 */
export function composeAddressChange(
  { newAddress, isDone }: AddressChangeMail,
  from: string,
  to: string,
): Promise<Buffer> {
  return isDone
    ? compose(
        from,
        to,
        "L'adresse de votre compte a changé / the address of your account has changed",
        `Bonjour,

Votre compte Fatoura a désormais l'adresse ${newAddress}. Celle-ci n'y donne plus accès.

Si ce n'est pas vous, prévenez tout de suite un propriétaire de votre entreprise dans Fatoura ou l'opérateur du service.

--

Hello,

Your Fatoura account has the address ${newAddress} now. This one no longer opens it.

If this was not you, tell an owner of your company in Fatoura, or the operator of the service, at once.
`,
      )
    : compose(
        from,
        to,
        "Demande de changement d'adresse / a change of address was asked for",
        `Bonjour,

Quelqu'un qui connaît votre mot de passe a demandé que votre compte Fatoura ait l'adresse ${newAddress}. Elle change dès que le lien envoyé à cette adresse est ouvert.

Si ce n'est pas vous, choisissez tout de suite un nouveau mot de passe par « Mot de passe oublié » : le lien ne sert alors plus.

--

Hello,

Somebody who knows your password asked to give your Fatoura account the address ${newAddress}. It changes as soon as the link that was mailed there is opened.

If this was not you, set a new password by "Forgotten password" at once: the link then serves no longer.
`,
      );
}

function compose(from: string, to: string, subject: string, text: string): Promise<Buffer> {
  return composeServiceMail({ from, to, subject: headerText(subject), text, id: randomUUID() });
}
