import { isManual, type WebhookEvent } from '../../domain/webhook/webhook-event.ts';
import { readMetered } from '../answer-meter.ts';
import { builder } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { connectionOf, pageRequest } from '../relay-page.ts';
import { EventTypeEnum } from './event-type.ts';
import { findableAsNode, NodeInterface } from './node.ts';
import './scalars.ts';

/** Of an event's body at most: metadata above all. */
export const EVENT_BYTES = 180_000;

export const WebhookEventType = builder.objectRef<WebhookEvent>('WebhookEvent').implement({
  description: 'Something that happened to an invoice, as it is sent to receivers.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    id: t.exposeID('id', { description: "Prefix `evt_`; the receivers' deduplication key." }),
    type: t.expose('type', { type: EventTypeEnum, description: 'What happened.' }),
    invoiceId: t.exposeID('invoiceId', { description: 'Prefix `inv_`.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
    manual: t.boolean({
      description: 'Whether it is a test event, sent by hand.',
      resolve: (event) => isManual(event),
    }),
    body: t.exposeString('body', {
      description: 'The event object, JSON, byte for byte as it is sent.',
      extensions: { bytes: EVENT_BYTES },
    }),
  }),
});

/** Events by id; what is unknown, another's or not kept any more is missing. */
export async function eventsById(ids: readonly string[], { principal, useCases, meter }: GraphQLContext) {
  const load = (maxBytes?: number) => useCases.webhookDeliveries.eventsById(principal, ids, maxBytes);
  return (await readMetered(meter, load)).rows;
}

findableAsNode({
  prefix: 'evt',
  type: 'WebhookEvent',
  find: (id, _clientSecret, { principal, useCases }) => useCases.webhookDeliveries.event(principal, id),
});

const WebhookEventConnection = builder.connectionObject({ type: WebhookEventType, name: 'WebhookEventConnection' });

/** The times that lists of events and of deliveries are narrowed to. */
export const eventTimes = {
  createdAfter: { type: 'DateTime', description: 'Of events after this instant.' },
  createdBefore: { type: 'DateTime', description: 'Of events before this instant.' },
} as const;

builder.queryFields((t) => ({
  webhookEvents: t.connection(
    {
      type: WebhookEventType,
      authScopes: { secretKey: true },
      description: 'The events of the secret key’s tenant and environment, newest first, as long as they are kept.',
      args: {
        type: t.arg({ type: EventTypeEnum, description: 'Only events of this type.' }),
        createdAfter: t.arg(eventTimes.createdAfter),
        createdBefore: t.arg(eventTimes.createdBefore),
      },
      extensions: { reads: EVENT_BYTES },
      resolve: async (_root, args, { principal, useCases, meter }) => {
        const asked = {
          ...pageRequest(args),
          type: args.type ?? null,
          createdAfter: args.createdAfter ?? null,
          createdBefore: args.createdBefore ?? null,
        };
        const page = await readMetered(meter, (maxBytes) =>
          useCases.webhookDeliveries.events(principal, { ...asked, ...(maxBytes !== undefined && { maxBytes }) }),
        );
        return connectionOf(page, args);
      },
    },
    WebhookEventConnection,
  ),
  webhookEvent: t.field({
    type: WebhookEventType,
    authScopes: { secretKey: true },
    description: 'One event.',
    args: { id: t.arg.id({ required: true, description: 'Prefix `evt_`.' }) },
    resolve: (_root, { id }, { principal, useCases }) => useCases.webhookDeliveries.event(principal, id),
  }),
}));
