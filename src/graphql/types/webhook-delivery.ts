import {
  type Attempt,
  type Delivery,
  type DeliveryState,
  KEPT_ATTEMPTS,
  MOST_DELIVERIES,
  type SendFailure,
} from '../../domain/webhook/delivery.ts';
import { readMetered } from '../answer-meter.ts';
import { builder, UNCACHED } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { enumOf } from '../enum-of.ts';
import { connectionOf, pageRequest } from '../relay-page.ts';
import { EventTypeEnum } from './event-type.ts';
import { findableAsNode, NodeInterface } from './node.ts';
import './scalars.ts';
import { WebhookEndpointType } from './webhook-endpoint.ts';
import { EVENT_BYTES, eventsById, eventTimes, WebhookEventType } from './webhook-event.ts';

export const STATE_MEANING: Readonly<Record<DeliveryState, string>> = {
  pending: 'An attempt is due, under way or awaited.',
  delivered: 'A 2xx came.',
  failed: 'Every attempt of the schedule failed. It can be sent again by hand.',
  cancelled: 'Its endpoint was disabled or deleted before it was delivered.',
};

const DeliveryStateType = enumOf('WebhookDeliveryState', 'What has become of a delivery.', STATE_MEANING);

const FAILURE_MEANING: Readonly<Record<SendFailure, string>> = {
  refused_address: 'The address may not be called: it is not public, or has another scheme or port. Nothing was sent.',
  unknown_host: 'The name has no address.',
  connection_failed: 'No connection within 5 s, or it was refused.',
  tls_failed: 'The certificate is not valid for this name, or TLS failed otherwise.',
  timeout: 'No answer within 15 s.',
  connection_broken: 'The receiver broke the connection, or answered no HTTP.',
  internal_error: 'A defect of ours; nothing was sent.',
};

const SendFailureType = enumOf('WebhookFailure', 'Why an attempt had no answer.', FAILURE_MEANING);

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
      extensions: { most: 20 },
      description: 'What was sent, signatures included.',
      resolve: ({ requestHeaders }) => Object.entries(requestHeaders),
    }),
    status: t.exposeInt('status', { nullable: true, description: 'The status that came; null when none did.' }),
    responseHeaders: t.field({
      type: [HeaderType],
      // Of the 16 KiB that all of them may have together, each takes four at least.
      extensions: { most: 4096 },
      description: 'What came, as in `responseBody`.',
      resolve: ({ headers }) => [...headers],
    }),
    responseBody: t.exposeString('body', {
      description:
        'The first 16 KiB of it. Where it repeats the URLs of the documents, `…` stands for the part that opens them.',
      // Of each byte a control character, in JSON.
      extensions: { bytes: 16 * 1024 * 6 },
    }),
    responseTruncated: t.exposeBoolean('truncated', { description: 'Whether there was more.' }),
    latencyMs: t.exposeFloat('latencyMs', { description: 'How long it took, milliseconds.' }),
    errorCode: t.field({
      type: SendFailureType,
      nullable: true,
      description: 'Why no status came; null when one did.',
      resolve: ({ failure }) => failure?.code ?? null,
    }),
    errorMessage: t.string({
      nullable: true,
      description: 'The same in words.',
      resolve: ({ failure }) => failure?.message ?? null,
    }),
  }),
});

/** An attempt as it is stored: body and headers, 16 KiB each. */
const ATTEMPT_BYTES = 33 * 1024;

export const WebhookDeliveryType = builder.objectRef<Delivery>('WebhookDelivery').implement({
  description: 'One event on its way to one endpoint.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Prefix `dlv_`.' }),
    eventId: t.exposeID('eventId', { description: 'Prefix `evt_`.' }),
    eventType: t.expose('eventType', { type: EventTypeEnum, description: 'The type of the event.' }),
    endpointId: t.exposeID('endpointId', { description: 'Prefix `we_`; it may be deleted by now.' }),
    invoiceId: t.exposeID('invoiceId', { description: 'Prefix `inv_`.' }),
    state: t.expose('state', { type: DeliveryStateType, description: 'What has become of it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the event happened.' }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the next attempt is due; null when none is, or one is under way.',
    }),
    attempts: t.loadableList({
      type: AttemptType,
      description: `The last ${KEPT_ATTEMPTS}, oldest first.`,
      extensions: { most: KEPT_ATTEMPTS, reads: ATTEMPT_BYTES },
      loaderOptions: UNCACHED,
      resolve: ({ id }) => id,
      load: attemptsOf,
    }),
    event: t.loadable({
      type: WebhookEventType,
      nullable: true,
      extensions: { reads: EVENT_BYTES },
      description: 'What is sent; null when it is not kept any more.',
      loaderOptions: UNCACHED,
      resolve: ({ eventId }) => eventId,
      load: async (eventIds: string[], context) => {
        const events = await eventsById(eventIds, context);
        return eventIds.map((id) => events.get(id) ?? null);
      },
    }),
    endpoint: t.loadable({
      type: WebhookEndpointType,
      nullable: true,
      description: 'Where it goes; null when it is deleted.',
      loaderOptions: UNCACHED,
      resolve: ({ endpointId }) => endpointId,
      load: async (endpointIds: string[], { principal, useCases }) => {
        const endpoints = new Map((await useCases.webhookEndpoints.list(principal)).map((each) => [each.id, each]));
        return endpointIds.map((id) => endpoints.get(id) ?? null);
      },
    }),
  }),
});

async function attemptsOf(ids: string[], { principal, useCases, meter }: GraphQLContext): Promise<Attempt[][]> {
  const load = (maxBytes?: number) => useCases.webhookDeliveries.attemptsByDelivery(principal, ids, maxBytes);
  const { rows } = await readMetered(meter, load);
  return ids.map((id) => [...(rows.get(id) ?? [])]);
}

builder.objectField(WebhookEventType, 'deliveries', (t) =>
  t.loadableList({
    type: WebhookDeliveryType,
    extensions: { most: MOST_DELIVERIES },
    description: 'What has become of it at each endpoint.',
    loaderOptions: UNCACHED,
    resolve: ({ id }) => id,
    load: async (eventIds: string[], { principal, useCases }) => {
      const deliveries = await useCases.webhookDeliveries.deliveriesByEvent(principal, eventIds);
      return eventIds.map((id) => deliveries.get(id) ?? []);
    },
  }),
);

findableAsNode({
  prefix: 'dlv',
  type: 'WebhookDelivery',
  find: (id, _clientSecret, { principal, useCases }) => useCases.webhookDeliveries.delivery(principal, id),
});

const WebhookDeliveryConnection = builder.connectionObject({
  type: WebhookDeliveryType,
  name: 'WebhookDeliveryConnection',
});

builder.queryFields((t) => ({
  webhookDeliveries: t.connection(
    {
      type: WebhookDeliveryType,
      authScopes: { secretKey: true },
      description: 'The deliveries of the secret key’s tenant and environment, newest event first.',
      args: {
        endpointId: t.arg.id({ description: 'Only deliveries to this endpoint, which may be deleted by now.' }),
        state: t.arg({ type: DeliveryStateType, description: 'Only deliveries in this state.' }),
        createdAfter: t.arg(eventTimes.createdAfter),
        createdBefore: t.arg(eventTimes.createdBefore),
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
