import { z } from 'zod';
import { EVENT_TYPES, EVENTS, type EventType, eventTypesOf } from '../event.ts';
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

const oneOf = (types: readonly EventType[]) => z.enum(types, { error: expected(`one of ${types.join(', ')}`) });

/** The event types that REST offers: those of the contract (docs/api/contract.md, "Events"). */
const REST_TYPES = eventTypesOf('invoice');

const restEventType = oneOf(REST_TYPES).meta({
  id: 'EventType',
  description: REST_TYPES.map((type) => `- \`${type}\`: ${EVENTS[type].description}`).join('\n'),
});

/** Makes the rule of a subscription in an API that offers these types. */
function subscription(eventType: ReturnType<typeof oneOf>) {
  const offered = eventType.options;
  return z
    .array(eventType, { error: expected(`a list of event types: ${offered.join(', ')}`) })
    .min(1, { error: 'is empty: expected at least one event type' })
    .max(offered.length, { error: `has too many event types: at most ${offered.length}, each once` })
    .superRefine((types, context) => {
      const twice = types.findIndex((type, i) => types.indexOf(type) < i);
      // GraphQL has other names for the types, so the message names none.
      if (twice >= 0)
        context.addIssue({ code: 'custom', path: [twice], message: 'repeats an earlier type: name each type once' });
    })
    .meta({ uniqueItems: true, description: 'The subscribed types.' });
}

const description = printableText(ENDPOINT_LIMITS.description, 'a string').nullish();

/**
 * Makes the inputs of an API that offers these event types. The use case checks what depends on the configuration:
 * schemes, ports and addresses that are allowed.
 */
function inputs(eventType: ReturnType<typeof oneOf>) {
  const events = subscription(eventType);
  return {
    create: exactly({ url, events, description }, 'a JSON object with url and events'),
    /** Absent fields stay unchanged. */
    update: exactly(
      {
        url: url.optional(),
        events: events.optional(),
        description,
        active: z.boolean({ error: expected('true or false') }).optional(),
      },
      'a JSON object of what to change: url, events, description, active',
    ),
  };
}

/** GraphQL's inputs of endpoints. */
export const { create: createEndpointInput, update: updateEndpointInput } = inputs(oneOf(EVENT_TYPES));
export type CreateEndpointInput = z.infer<typeof createEndpointInput>;
export type UpdateEndpointInput = z.infer<typeof updateEndpointInput>;

const rest = inputs(restEventType);

/** The body of POST /v1/webhook_endpoints. */
export const createEndpointBody = rest.create.meta({
  id: 'CreateWebhookEndpoint',
  examples: [
    { url: 'https://example.com/webhooks', events: ['invoice.accepted', 'invoice.rejected'], description: 'ERP' },
  ],
});

/** The body of PATCH /v1/webhook_endpoints/:id. */
export const updateEndpointBody = rest.update.meta({ id: 'UpdateWebhookEndpoint', examples: [{ active: false }] });

/**
 * Returns the fault in the syntax of an endpoint's URL; null if it has none. http:// passes here; the use case decides.
 */
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
