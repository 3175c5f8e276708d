import MailComposer from 'nodemailer/lib/mail-composer';
import { timestampOf } from '../../domain/timestamp.ts';
import type { FailingEndpointNotice } from '../../domain/webhook/endpoint-health.ts';

/**
 * Composes the mail that tells a tenant about a failing webhook endpoint, in French and English.
 * @param from an ASCII address
 * @param to normalized by `mailAddress`
 */
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

Since ${since}, every delivery to your webhook endpoint has failed:

  ${endpointId}  ${url}

The endpoint stays active and still receives every new event. You can resend failed deliveries once your server is back. If you no
longer use the endpoint, disable or delete it.
`,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}
