import { DELIVERY_TIMES, KEPT_RESPONSE_BYTES } from '../../domain/limits.ts';
import {
  type Attempt,
  type Delivery,
  type DeliveryState,
  KEPT_ATTEMPTS,
  type SendFailure,
} from '../../domain/webhook/delivery.ts';
import { accessOf } from '../access.ts';
import { searchMetered } from '../answer-meter.ts';
import { builder, inBatches } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { enumOf } from '../enum-of.ts';
import { connectionOf, pageRequest } from '../relay-page.ts';
import { EventTypeEnum } from './event-type.ts';
import { findableAsNode, NodeInterface } from './node.ts';
import './scalars.ts';
import { WebhookEndpointType } from './webhook-endpoint.ts';
import { eventsById, eventTimes, WebhookEventType } from './webhook-event.ts';

export const STATE_MEANING: Readonly<Record<DeliveryState, string>> = {
  pending: 'An attempt is due, under way or scheduled.',
  delivered: 'The receiver answered with a 2xx status.',
  failed: 'Every attempt of the schedule failed. The delivery can be resent by hand.',
  cancelled: 'The endpoint was disabled or deleted, or the event expired, before the delivery.',
};

const DeliveryStateType = enumOf('WebhookDeliveryState', 'State of a delivery.', STATE_MEANING);

const FAILURE_MEANING: Readonly<Record<SendFailure, string>> = {
  refused_address: 'The address is not allowed: not public, or another scheme or port. Nothing was sent.',
  unknown_host: 'The host name has no address.',
  connection_failed: `No connection within ${DELIVERY_TIMES.connect / 1000} s, or the receiver refused it.`,
  tls_failed: 'The certificate is not valid for this name, or TLS failed for another reason.',
  timeout: `No answer within ${DELIVERY_TIMES.whole / 1000} s.`,
  connection_broken: 'The receiver closed the connection, or its answer was not HTTP.',
  internal_error: 'Internal error; nothing was sent.',
};

const SendFailureType = enumOf('WebhookFailure', 'Why an attempt had no answer.', FAILURE_MEANING);

const HeaderType = builder.objectRef<readonly [string, string]>('HttpHeader').implement({
  description: 'A header of a request or response.',
  fields: (t) => ({
    name: t.string({ description: 'Name of the header.', resolve: ([name]) => name }),
    value: t.string({ description: 'Value of the header.', resolve: ([, value]) => value }),
  }),
});

const AttemptType = builder.objectRef<Attempt>('WebhookAttempt').implement({
  description: 'One attempt of a delivery. The request body is the `body` of the event.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'Start of the attempt.' }),
    url: t.exposeString('url', { description: 'URL of the request.' }),
    requestHeaders: t.field({
      type: [HeaderType],
      description: 'Headers that were sent, including signatures.',
      resolve: ({ requestHeaders }) => Object.entries(requestHeaders),
    }),
    status: t.exposeInt('status', { nullable: true, description: 'HTTP status of the response; null without one.' }),
    responseHeaders: t.field({
      type: [HeaderType],
      description: 'Headers of the response, shortened and masked like `responseBody`.',
      resolve: ({ headers }) => [...headers],
    }),
    responseBody: t.exposeString('body', {
      description: `The first ${KEPT_RESPONSE_BYTES / 1024} KiB of the response body. In URLs of documents, \`…\` replaces the secret part.`,
    }),
    responseTruncated: t.exposeBoolean('truncated', { description: 'Whether the response was cut.' }),
    latencyMs: t.exposeFloat('latencyMs', { description: 'Duration in milliseconds.' }),
    errorCode: t.field({
      type: SendFailureType,
      nullable: true,
      description: 'Why there was no response; null if there was one.',
      resolve: ({ failure }) => failure?.code ?? null,
    }),
    errorMessage: t.string({
      nullable: true,
      description: 'The failure as a sentence.',
      resolve: ({ failure }) => failure?.message ?? null,
    }),
  }),
});

/** Maximum size of a stored attempt: body, headers and the other fields. */
const ATTEMPT_BYTES = 2 * KEPT_RESPONSE_BYTES + 1024;

export const WebhookDeliveryType = builder.objectRef<Delivery>('WebhookDelivery').implement({
  description: 'The delivery of one event to one endpoint.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Prefix `dlv_`.' }),
    eventId: t.exposeID('eventId', { description: 'Prefix `evt_`.' }),
    eventType: t.expose('eventType', { type: EventTypeEnum, description: 'The type of the event.' }),
    endpointId: t.exposeID('endpointId', { description: 'Prefix `we_`; the endpoint may be deleted.' }),
    invoiceId: t.exposeID('invoiceId', { description: 'Prefix `inv_`.' }),
    state: t.expose('state', { type: DeliveryStateType, description: 'State of the delivery.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the event.' }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Due time of the next attempt; null if none is scheduled or one is under way.',
    }),
    attempts: t.loadableList({
      type: AttemptType,
      description: `The last ${KEPT_ATTEMPTS} attempts, oldest first.`,
      resolve: ({ id }) => id,
      ...inBatches(attemptsOf),
    }),
    event: t.loadable({
      type: WebhookEventType,
      nullable: true,
      description: 'The event; null after its retention time.',
      resolve: ({ eventId }) => eventId,
      ...inBatches(async (eventIds: string[], context) => {
        const events = await eventsById(eventIds, context);
        return eventIds.map((id) => events.get(id) ?? null);
      }),
    }),
    endpoint: t.loadable({
      type: WebhookEndpointType,
      nullable: true,
      description: 'The endpoint; null if it is deleted.',
      resolve: ({ endpointId }) => endpointId,
      ...inBatches(async (endpointIds: string[], { principal, useCases }) => {
        const endpoints = new Map((await useCases.webhookEndpoints(principal)).map((each) => [each.id, each]));
        return endpointIds.map((id) => endpoints.get(id) ?? null);
      }),
    }),
  }),
});

async function attemptsOf(ids: string[], { principal, useCases, meter }: GraphQLContext): Promise<Attempt[][]> {
  const { rows } = await searchMetered(meter, ids.length * KEPT_ATTEMPTS * ATTEMPT_BYTES, (maxBytes) =>
    useCases.attemptsByDelivery(principal, ids, maxBytes),
  );
  return ids.map((id) => [...(rows.get(id) ?? [])]);
}

/** Loads the deliveries of events. Their number is bounded, so that only the fields of the answer count. */
export async function deliveriesByEvent(eventIds: string[], { principal, useCases, meter }: GraphQLContext) {
  const search = async () => ({ rows: await useCases.deliveriesByEvent(principal, eventIds), bytes: 0 });
  return (await searchMetered(meter, 0, search)).rows;
}

builder.objectField(WebhookEventType, 'deliveries', (t) =>
  t.loadableList({
    type: WebhookDeliveryType,
    description: 'The deliveries of the event to each endpoint.',
    resolve: ({ id }) => id,
    ...inBatches(async (eventIds: string[], context) => {
      const deliveries = await deliveriesByEvent(eventIds, context);
      return eventIds.map((id) => deliveries.get(id) ?? []);
    }),
  }),
);

findableAsNode({
  prefix: 'dlv',
  type: 'WebhookDelivery',
  find: (id, _clientSecret, { principal, useCases }) => useCases.webhookDelivery(principal, id),
});

const WebhookDeliveryConnection = builder.connectionObject({
  type: WebhookDeliveryType,
  name: 'WebhookDeliveryConnection',
});

builder.queryFields((t) => ({
  webhookDeliveries: t.connection(
    {
      type: WebhookDeliveryType,
      authScopes: accessOf('webhookDeliveries'),
      description: 'The deliveries of the secret key’s tenant and environment, newest event first.',
      args: {
        endpointId: t.arg.id({ description: 'Only deliveries to this endpoint; it may be deleted.' }),
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
        const page = await useCases.webhookDeliveries(principal, { ...pageRequest(args), ...filter });
        return connectionOf(page, args);
      },
    },
    WebhookDeliveryConnection,
  ),
  webhookDelivery: t.field({
    type: WebhookDeliveryType,
    authScopes: accessOf('webhookDelivery'),
    description: 'The delivery with this id.',
    args: { id: t.arg.id({ required: true, description: 'Prefix `dlv_`.' }) },
    resolve: (_root, { id }, { principal, useCases }) => useCases.webhookDelivery(principal, id),
  }),
}));
