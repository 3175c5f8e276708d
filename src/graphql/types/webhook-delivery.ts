import { serviceError } from '../../domain/errors.ts';
import { EVENT_TYPES, type EventType } from '../../domain/event.ts';
import { type Attempt, DELIVERY_STATES, type Delivery, type DeliveryState } from '../../domain/webhook/delivery.ts';
import type { ResendOutcome } from '../../domain/webhook/resend-events.ts';
import { isManual, type WebhookEvent } from '../../domain/webhook/webhook-event.ts';
import { builder } from '../builder.ts';
import { connectionOf, pageRequest } from '../relay-page.ts';
import { InvalidInputError, NotFoundError } from './errors.ts';
import { findableAsNode, NodeInterface } from './node.ts';
import './scalars.ts';

const STATE_MEANING: Readonly<Record<DeliveryState, string>> = {
  pending: 'An attempt is due, under way or awaited.',
  delivered: 'A 2xx came.',
  failed: 'Every attempt of the schedule failed. It can be sent again by hand.',
  cancelled: 'Its endpoint was disabled or deleted before it was delivered.',
};

const DeliveryStateType = builder.enumType('WebhookDeliveryState', {
  description: 'What has become of a delivery.',
  values: Object.fromEntries(
    DELIVERY_STATES.map((state) => [state, { value: state, description: STATE_MEANING[state] }]),
  ) as Record<DeliveryState, { value: DeliveryState; description: string }>,
});

const SettledStateType = builder.enumType('SettledWebhookDeliveryState', {
  description: 'How a delivery ended.',
  values: {
    delivered: { value: 'delivered', description: STATE_MEANING.delivered },
    failed: { value: 'failed', description: STATE_MEANING.failed },
    cancelled: { value: 'cancelled', description: STATE_MEANING.cancelled },
  } as const,
});

/** @throws {ServiceError} invalid_request for what is no type of event */
function eventTypeOf(text: string): EventType {
  const type = EVENT_TYPES.find((each) => each === text);
  if (type) return type;
  throw serviceError('invalid_request', `type must be one of ${EVENT_TYPES.join(', ')}.`, 'type');
}

const HeaderType = builder.objectRef<readonly [string, string]>('HttpHeader').implement({
  description: 'A header of a request or an answer.',
  fields: (t) => ({
    name: t.string({ description: 'Its name.', resolve: ([name]) => name }),
    value: t.string({ description: 'Its value.', resolve: ([, value]) => value }),
  }),
});

const AttemptType = builder.objectRef<Attempt>('WebhookAttempt').implement({
  description: "One attempt of a delivery. The request's body is the event's.",
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When it began.' }),
    url: t.exposeString('url', { description: 'Where it went.' }),
    requestHeaders: t.field({
      type: [HeaderType],
      description: 'What was sent, signatures included.',
      resolve: ({ requestHeaders }) => Object.entries(requestHeaders),
    }),
    status: t.exposeInt('status', { nullable: true, description: 'The status that came; null when none did.' }),
    responseHeaders: t.field({
      type: [HeaderType],
      description: 'What came.',
      resolve: ({ headers }) => [...headers],
    }),
    responseBody: t.exposeString('body', { description: 'The first 16 KiB of it.' }),
    responseTruncated: t.exposeBoolean('truncated', { description: 'Whether there was more.' }),
    latencyMs: t.exposeFloat('latencyMs', { description: 'How long it took, milliseconds.' }),
    errorCode: t.string({
      nullable: true,
      description:
        'Why no status came: refused_address, unknown_host, connection_failed, tls_failed, timeout, connection_broken or internal_error.',
      resolve: ({ failure }) => failure?.code ?? null,
    }),
    errorMessage: t.string({
      nullable: true,
      description: 'The same in words.',
      resolve: ({ failure }) => failure?.message ?? null,
    }),
  }),
});

// The two types refer to one another.
export const WebhookEventType = builder.objectRef<WebhookEvent>('WebhookEvent');

const WebhookDeliveryType = builder.objectRef<Delivery>('WebhookDelivery').implement({
  description: 'One event on its way to one endpoint.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Prefix `dlv_`.' }),
    eventId: t.exposeID('eventId', { description: 'Prefix `evt_`.' }),
    eventType: t.exposeString('eventType', { description: "The event's type: `invoice.accepted`, say." }),
    endpointId: t.exposeID('endpointId', { description: 'Prefix `we_`; it may be deleted by now.' }),
    invoiceId: t.exposeID('invoiceId', { description: 'Prefix `inv_`.' }),
    state: t.expose('state', { type: DeliveryStateType, description: 'What has become of it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the event happened.' }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the next attempt is due; null when none is, or one is under way.',
    }),
    attempts: t.field({
      type: [AttemptType],
      description: 'The last 25, oldest first.',
      resolve: ({ attempts }) => [...attempts],
    }),
    event: t.field({
      type: WebhookEventType,
      nullable: true,
      description: 'What is sent; null when it is not kept any more.',
      resolve: ({ eventId }, _args, { principal, useCases }) =>
        useCases.webhookDeliveries.event(principal, eventId).catch(() => null),
    }),
  }),
});

WebhookEventType.implement({
  description: 'A status change of an invoice as receivers are told of it.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    id: t.exposeID('id', { description: "Prefix `evt_`; the receivers' deduplication key." }),
    type: t.exposeString('type', { description: 'What happened: `invoice.accepted`, say.' }),
    invoiceId: t.exposeID('invoiceId', { description: 'Prefix `inv_`.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
    manual: t.boolean({ description: 'Whether it was sent by hand, as a test.', resolve: (event) => isManual(event) }),
    body: t.exposeString('body', { description: 'The event object, JSON, byte for byte as it is sent.' }),
    deliveries: t.field({
      type: [WebhookDeliveryType],
      description: 'What has become of it at each endpoint.',
      resolve: ({ id }, _args, { principal, useCases }) => useCases.webhookDeliveries.deliveriesOf(principal, id),
    }),
  }),
});

findableAsNode({
  prefix: 'evt',
  type: 'WebhookEvent',
  find: (id, _clientSecret, { principal, useCases }) => useCases.webhookDeliveries.event(principal, id),
});
findableAsNode({
  prefix: 'dlv',
  type: 'WebhookDelivery',
  find: (id, _clientSecret, { principal, useCases }) => useCases.webhookDeliveries.delivery(principal, id),
});

const WebhookEventConnection = builder.connectionObject({ type: WebhookEventType, name: 'WebhookEventConnection' });
const WebhookDeliveryConnection = builder.connectionObject({
  type: WebhookDeliveryType,
  name: 'WebhookDeliveryConnection',
});

const times = {
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
        type: t.arg.string({ description: 'Only events of this type.' }),
        createdAfter: t.arg(times.createdAfter),
        createdBefore: t.arg(times.createdBefore),
      },
      resolve: async (_root, args, { principal, useCases }) => {
        const filter = {
          type: args.type == null ? null : eventTypeOf(args.type),
          createdAfter: args.createdAfter ?? null,
          createdBefore: args.createdBefore ?? null,
        };
        return connectionOf(
          await useCases.webhookDeliveries.events(principal, { ...pageRequest(args), ...filter }),
          args,
        );
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
  webhookDeliveries: t.connection(
    {
      type: WebhookDeliveryType,
      authScopes: { secretKey: true },
      description: 'The deliveries of the secret key’s tenant and environment, newest event first.',
      args: {
        endpointId: t.arg.id({ description: 'Only deliveries to this endpoint, which may be deleted by now.' }),
        state: t.arg({ type: DeliveryStateType, description: 'Only deliveries in this state.' }),
        createdAfter: t.arg(times.createdAfter),
        createdBefore: t.arg(times.createdBefore),
      },
      resolve: async (_root, args, { principal, useCases }) => {
        const filter = {
          endpointId: args.endpointId ?? null,
          state: args.state ?? null,
          createdAfter: args.createdAfter ?? null,
          createdBefore: args.createdBefore ?? null,
        };
        const page = await useCases.webhookDeliveries.deliveries(principal, { ...pageRequest(args), ...filter });
        return connectionOf(page, args);
      },
    },
    WebhookDeliveryConnection,
  ),
  webhookDelivery: t.field({
    type: WebhookDeliveryType,
    authScopes: { secretKey: true },
    description: 'One delivery.',
    args: { id: t.arg.id({ required: true, description: 'Prefix `dlv_`.' }) },
    resolve: (_root, { id }, { principal, useCases }) => useCases.webhookDeliveries.delivery(principal, id),
  }),
}));

const ResendSelectionInput = builder.inputType('WebhookResendSelection', {
  description: 'Which settled deliveries of an endpoint are meant.',
  fields: (t) => ({
    endpointId: t.id({ required: true, description: 'Prefix `we_`; it must be active.' }),
    state: t.field({
      type: SettledStateType,
      required: true,
      defaultValue: 'failed',
      description: 'Those that ended so.',
    }),
    type: t.string({ description: 'Only events of this type.' }),
    createdAfter: t.field(times.createdAfter),
    createdBefore: t.field(times.createdBefore),
  }),
});

function selectionOf(input: typeof ResendSelectionInput.$inferInput) {
  return {
    endpointId: input.endpointId,
    state: input.state ?? 'failed',
    type: input.type == null ? null : eventTypeOf(input.type),
    createdAfter: input.createdAfter ?? null,
    createdBefore: input.createdBefore ?? null,
  } as const;
}

const ResendOutcomeType = builder.objectRef<ResendOutcome>('WebhookResendOutcome').implement({
  description: 'How many deliveries a selection holds, or were made due again.',
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'So many.' }),
    more: t.exposeBoolean('more', {
      description: 'Whether there are more than the 10,000 that one call looks at, newest first.',
    }),
  }),
});

builder.queryFields((t) => ({
  webhookResendCount: t.field({
    type: ResendOutcomeType,
    authScopes: { secretKey: true },
    description: 'How many deliveries `resendWebhookDeliveries` would send again.',
    args: { selection: t.arg({ type: ResendSelectionInput, required: true, description: 'Which.' }) },
    resolve: (_root, { selection }, { principal, useCases }) =>
      useCases.resendEvents.count(principal, selectionOf(selection)),
  }),
}));

const ResendEventPayload = builder.objectRef<{ deliveries: Delivery[] }>('ResendWebhookEventPayload').implement({
  description: 'An event that is sent again.',
  fields: (t) => ({
    deliveries: t.expose('deliveries', { type: [WebhookDeliveryType], description: 'All its deliveries.' }),
  }),
});

builder.mutationFields((t) => ({
  resendWebhookEvent: t.field({
    type: ResendEventPayload,
    authScopes: { secretKey: true },
    errors: { types: [InvalidInputError, NotFoundError] },
    description: 'Sends an event again, with the whole schedule. Needs a secret key.',
    args: {
      eventId: t.arg.id({ required: true, description: 'Prefix `evt_`.' }),
      endpointId: t.arg.id({ description: 'Only to this endpoint; to all that subscribe to its type unless given.' }),
    },
    resolve: async (_root, { eventId, endpointId }, { principal, useCases }) => ({
      deliveries: await useCases.resendEvents.one(principal, eventId, endpointId ?? null),
    }),
  }),
  resendWebhookDeliveries: t.field({
    type: ResendOutcomeType,
    authScopes: { secretKey: true },
    errors: { types: [InvalidInputError, NotFoundError] },
    description: 'Sends a selection of deliveries again: all failed ones, those of a time range. Needs a secret key.',
    args: { selection: t.arg({ type: ResendSelectionInput, required: true, description: 'Which.' }) },
    resolve: (_root, { selection }, { principal, useCases }) =>
      useCases.resendEvents.many(principal, selectionOf(selection)),
  }),
  sendTestWebhookEvent: t.field({
    type: WebhookEventType,
    authScopes: { secretKey: true },
    errors: { types: [InvalidInputError, NotFoundError] },
    description:
      'Sends an event by hand, with the latest invoice that has come so far, or a specimen. In the test environment only.',
    args: {
      type: t.arg.string({
        required: true,
        description: '`invoice.signing`, `invoice.transmitted`, `invoice.accepted` or `invoice.rejected`.',
      }),
      endpointId: t.arg.id({ description: 'Only to this endpoint; to all that subscribe to the type unless given.' }),
    },
    resolve: (_root, { type, endpointId }, { principal, useCases }) =>
      useCases.sendTestEvent(principal, eventTypeOf(type), endpointId ?? null),
  }),
}));
