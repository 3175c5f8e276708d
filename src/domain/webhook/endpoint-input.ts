import { z } from 'zod';
import { EVENT_TYPES, EVENTS } from '../event.ts';
import { exactly, expected } from '../input-problems.ts';
import { ENDPOINT_LIMITS } from '../limits.ts';
import { printableText } from '../printable-text.ts';

const url = z
  .string({ error: expected('the https:// address that receives events, a string') })
  .max(ENDPOINT_LIMITS.url, { error: `is too long: at most ${ENDPOINT_LIMITS.url} characters`, abort: true })
  .superRefine((text, context) => {
    const wrong = urlProblem(text);
    if (wrong !== null) context.addIssue({ code: 'custom', message: wrong });
  })
  .meta({
    format: 'uri',
    pattern: '^https://[^#]+$',
    description: 'The https:// address that receives events: a public one, at port 443 or from 1024 on.',
  });

/** The types of events (docs/api/contract.md, "Events"). */
const eventType = z.enum(EVENT_TYPES, { error: expected(`one of ${EVENT_TYPES.join(', ')}`) }).meta({
  id: 'EventType',
  description: Object.entries(EVENTS)
    .map(([type, { description }]) => `- \`${type}\`: ${description}`)
    .join('\n'),
});

const events = z
  .array(eventType, { error: expected(`a list of event types: ${EVENT_TYPES.join(', ')}`) })
  .min(1, { error: 'is empty: expected at least one event type' })
  .max(EVENT_TYPES.length, { error: `has too many event types: at most ${EVENT_TYPES.length}, each once` })
  .superRefine((types, context) => {
    const twice = types.findIndex((type, i) => types.indexOf(type) < i);
    // GraphQL has other names for the types, so the message names none.
    if (twice >= 0)
      context.addIssue({ code: 'custom', path: [twice], message: 'repeats an earlier type: name each type once' });
  })
  .meta({ uniqueItems: true, description: 'The subscribed types.' });

const description = printableText(ENDPOINT_LIMITS.description, 'a string').nullish();

/**
 * The body of POST /v1/webhook_endpoints and GraphQL's input. The use case checks what depends on the configuration:
 * schemes, ports and addresses that are allowed.
 */
export const createEndpointInput = exactly({ url, events, description }, 'a JSON object with url and events').meta({
  id: 'CreateWebhookEndpoint',
  examples: [
    { url: 'https://example.com/webhooks', events: ['invoice.accepted', 'invoice.rejected'], description: 'ERP' },
  ],
});
export type CreateEndpointInput = z.infer<typeof createEndpointInput>;

/** The body of PATCH /v1/webhook_endpoints/:id and GraphQL's input. Absent fields stay unchanged. */
export const updateEndpointInput = exactly(
  {
    url: url.optional(),
    events: events.optional(),
    description,
    active: z.boolean({ error: expected('true or false') }).optional(),
  },
  'a JSON object of what to change: url, events, description, active',
).meta({ id: 'UpdateWebhookEndpoint', examples: [{ active: false }] });
export type UpdateEndpointInput = z.infer<typeof updateEndpointInput>;

/** The fault in the syntax of an endpoint's URL; null if it has none. http:// passes here; the use case decides. */
function urlProblem(text: string): string | null {
  // The URL parser removes spaces and line ends silently, and a receiver's parser might not.
  const parsed = /[\s\p{C}\\]/u.test(text) ? null : URL.parse(text);
  if (!parsed || !/^https?:\/\//i.test(text)) return 'must be an absolute https:// URL';
  // The URL parser hides an empty user name: `https://@host/`, `https://:@host/`.
  if (/^https?:\/\/[^/?#]*@/i.test(text))
    return 'must not contain a user name or password: verify the signature of each delivery instead';
  if (text.includes('#')) return 'must not contain a fragment (#…): fragments are not sent';
  if (parsed.hostname.replace(/\.$/, '').split('.').includes('')) return 'must have a host name without empty labels';
  return null;
}
