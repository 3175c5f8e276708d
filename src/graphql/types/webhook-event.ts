import { isManual, type WebhookEvent } from '../../domain/webhook/webhook-event.ts';
import { accessOf } from '../access.ts';
import { searchMetered } from '../answer-meter.ts';
import { builder } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { connectionOf, pageRequest } from '../relay-page.ts';
import { EventTypeEnum } from './event-type.ts';
import { findableAsNode, NodeInterface } from './node.ts';
import './scalars.ts';

/** Maximum size of a stored event in bytes; metadata may take most of it. */
const EVENT_BYTES = 180_000;

export const WebhookEventType = builder.objectRef<WebhookEvent>('WebhookEvent').implement({
  description: 'An event of an invoice or a credit note, as sent to receivers.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Prefix `evt_`; receivers use it to detect duplicates.' }),
    type: t.expose('type', { type: EventTypeEnum, description: 'Type of the event.' }),
    invoiceId: t.exposeID('invoiceId', {
      description: 'The invoice, prefix `inv_`, or the credit note, prefix `crn_`.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the event.' }),
    manual: t.boolean({
      description: 'Whether it is a test event sent by hand.',
      resolve: (event) => isManual(event),
    }),
    body: t.exposeString('body', {
      description: 'The event object as JSON, byte for byte as sent.',
    }),
  }),
});

/**
 * Loads events by id. Unknown events, those of other tenants and those past their retention time are missing in the
 * result.
 */
export async function eventsById(ids: readonly string[], { principal, useCases, meter }: GraphQLContext) {
  const { rows } = await searchMetered(meter, new Set(ids).size * EVENT_BYTES, (maxBytes) =>
    useCases.webhookEventsById(principal, ids, maxBytes),
  );
  return rows;
}

findableAsNode({
  prefix: 'evt',
  type: 'WebhookEvent',
  find: (id, _clientSecret, { principal, useCases }) => useCases.webhookEvent(principal, id),
});

const WebhookEventConnection = builder.connectionObject({ type: WebhookEventType, name: 'WebhookEventConnection' });

/** Arguments that restrict lists of events and of deliveries to a time range. */
export const eventTimes = {
  createdAfter: { type: 'DateTime', description: 'Only for events after this instant.' },
  createdBefore: { type: 'DateTime', description: 'Only for events before this instant.' },
} as const;

builder.queryFields((t) => ({
  webhookEvents: t.connection(
    {
      type: WebhookEventType,
      authScopes: accessOf('webhookEvents'),
      description: 'The events of the secret key’s tenant and environment, newest first, within their retention time.',
      args: {
        type: t.arg({ type: EventTypeEnum, description: 'Only events of this type.' }),
        createdAfter: t.arg(eventTimes.createdAfter),
        createdBefore: t.arg(eventTimes.createdBefore),
      },
      resolve: async (_root, args, { principal, useCases, meter }) => {
        const asked = {
          ...pageRequest(args),
          type: args.type ?? null,
          createdAfter: args.createdAfter ?? null,
          createdBefore: args.createdBefore ?? null,
        };
        const page = await searchMetered(meter, asked.limit * EVENT_BYTES, (maxBytes) =>
          useCases.webhookEvents(principal, { ...asked, maxBytes }),
        );
        return connectionOf(page, args);
      },
    },
    WebhookEventConnection,
  ),
  webhookEvent: t.field({
    type: WebhookEventType,
    authScopes: accessOf('webhookEvent'),
    description: 'The event with this id.',
    args: { id: t.arg.id({ required: true, description: 'Prefix `evt_`.' }) },
    resolve: (_root, { id }, { principal, useCases }) => useCases.webhookEvent(principal, id),
  }),
}));
