import type { FailingEndpointNotice } from '../../domain/webhook/endpoint-health.ts';
import { FORMATS } from '../../text/document-format.ts';
import { oneLine } from './header-text.ts';
import { composeServiceMail } from './service-mail.ts';

/**
 * Composes the mail that informs a tenant about a failing webhook endpoint, in French and English.
 * @param from an ASCII address
 * @param to normalized by `mailAddress`
 */
export function composeNotice(notice: FailingEndpointNotice, from: string, to: string): Promise<Buffer> {
  const { endpointId, failingSince, environment, failed, attempts, share, at } = notice;
  const url = oneLine(notice.url);
  const [depuis, since] =
    failingSince === null
      ? ['Le dernier envoi a abouti.', 'The last delivery succeeded.']
      : [
          `Aucun envoi n'aboutit depuis le ${FORMATS.fr.moment(failingSince)}.`,
          `Nothing has been delivered since ${FORMATS.en.moment(failingSince)}.`,
        ];
  const marked = environment === 'test' ? '[TEST] ' : '';
  return composeServiceMail({
    from,
    to,
    subject: `${marked}Webhook en échec (${share} %) / failing webhook (${share} %): ${endpointId}`,
    id: `${endpointId}.${share}.${at.getTime()}`,
    headers: { 'X-Webhook-Endpoint-Id': endpointId },
    text: `Bonjour,

Sur 24 heures, ${failed} envois sur ${attempts} vers votre destination ont échoué :

  ${endpointId}  ${url}

${depuis}

Elle reste active, et chaque nouvel événement y est toujours envoyé. Les envois en échec peuvent être relancés une fois votre serveur
rétabli. Si cette destination ne sert plus, désactivez-la ou supprimez-la.

--

Hello,

Within 24 hours, ${failed} of ${attempts} attempts to deliver to your webhook endpoint have failed:

  ${endpointId}  ${url}

${since}

The endpoint stays active and still receives every new event. You can resend failed deliveries once your server is back. If you no
longer use the endpoint, disable or delete it.
`,
  });
}
