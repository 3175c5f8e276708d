import MailComposer from 'nodemailer/lib/mail-composer';
import { timestampOf } from '../../domain/timestamp.ts';
import type { FailingEndpointNotice } from '../../domain/webhook/endpoint-health.ts';

/** The mail that tells a tenant of an endpoint that fails, in French and English. @param from an ASCII address @param to as `mailAddress` gives it */
export function composeNotice(notice: FailingEndpointNotice, from: string, to: string): Promise<Buffer> {
  const { endpointId, failingSince, environment } = notice;
  const url = notice.url.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ');
  const since = timestampOf(failingSince);
  const marked = environment === 'test' ? '[TEST] ' : '';
  const composer = new MailComposer({
    from: { name: 'Fatoura', address: from },
    to: { name: '', address: to },
    subject: `${marked}Webhook en échec / failing webhook: ${endpointId}`,
    date: new Date(),
    messageId: `<${endpointId}.${failingSince.getTime()}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Webhook-Endpoint-Id': endpointId },
    text: `Bonjour,

Depuis le ${since}, aucun envoi vers votre point de réception n'a abouti :

  ${endpointId}  ${url}

Il reste actif, et chaque nouvel événement y est toujours envoyé. Les envois en échec peuvent être relancés une fois votre serveur
rétabli. Si ce point de réception ne sert plus, désactivez-le ou supprimez-le.

--

Hello,

Since ${since} nothing that was sent to your webhook endpoint has been taken:

  ${endpointId}  ${url}

It stays active, and every new event is still sent there. What failed can be sent again once your server is back. If the endpoint
is no longer used, disable or delete it.
`,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}
