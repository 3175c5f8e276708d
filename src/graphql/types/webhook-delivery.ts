import { ANSWER_BYTES } from '../../domain/answer-bounds.ts';
import { DELIVERY_TIMES, KEPT_RESPONSE_BYTES } from '../../domain/limits.ts';
import {
  ATTEMPT_BYTES,
  type Attempt,
  type Delivery,
  type DeliveryState,
  type DeliveryWithAttempts,
  KEPT_ATTEMPTS,
  type SendFailure,
} from '../../domain/webhook/delivery.ts';
import { accessOf } from '../access.ts';
import { searchMetered } from '../answer-meter.ts';
import { builder, inBatches } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { enumOf } from '../enum-of.ts';
import { connectionOf, pageRequest } from '../relay-page.ts';
import { selectedNames } from '../selected-fields.ts';
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

/** The stored field behind each field of an attempt. */
const STORED: Readonly<Record<string, keyof Attempt>> = {
  at: 'at',
  url: 'url',
  requestHeaders: 'requestHeaders',
  status: 'status',
  responseHeaders: 'headers',
  responseBody: 'body',
  responseTruncated: 'truncated',
  latencyMs: 'latencyMs',
  errorCode: 'failure',
  errorMessage: 'failure',
};

/** Returns the stored fields of attempts that an operation needs. The responses of receivers are large. */
function storedFields(selected: ReadonlySet<string>): readonly (keyof Attempt)[] {
  return [...new Set([...selected].flatMap((name) => STORED[name] ?? []))];
}

/** Returns the maximum size of the attempts of this many deliveries, bytes. */
function mostBytes(deliveries: number, fields: readonly (keyof Attempt)[]): number {
  return deliveries * KEPT_ATTEMPTS * fields.reduce((sum, field) => sum + ATTEMPT_BYTES[field], 0);
}

/**
 * Maximum size of a page of deliveries with their attempts, bytes of JSON. The rest of an answer is for names, and for
 * the other fields of the deliveries.
 */
const PAGE_BYTES = (ANSWER_BYTES / 8) * 7;

export const WebhookDeliveryType = builder.objectRef<Delivery | DeliveryWithAttempts>('WebhookDelivery').implement({
  description: 'The delivery of one event to one endpoint.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Prefix `dlv_`.' }),
    eventId: t.exposeID('eventId', { description: 'Prefix `evt_`.' }),
    eventType: t.expose('eventType', { type: EventTypeEnum, description: 'The type of the event.' }),
    endpointId: t.exposeID('endpointId', { description: 'Prefix `we_`; the endpoint may be deleted.' }),
    invoiceId: t.exposeID('invoiceId', {
      description: 'The invoice, prefix `inv_`, or the credit note, prefix `crn_`.',
    }),
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
      resolve: (delivery, _args, _context, info) => ({ delivery, selected: selectedNames(info) }),
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

interface AskedAttempts {
  readonly delivery: Delivery | DeliveryWithAttempts;
  /** The selected fields of its attempts. */
  readonly selected: ReadonlySet<string>;
}

/**
 * Returns the attempts of deliveries, with their selected fields. Attempts that a page already has are not read again.
 */
async function attemptsOf(
  asked: AskedAttempts[],
  { principal, useCases, meter }: GraphQLContext,
): Promise<(readonly Attempt[])[]> {
  const unread = asked.filter(({ delivery }) => !('attempts' in delivery));
  const ids = unread.map(({ delivery }) => delivery.id);
  const fields = storedFields(new Set(unread.flatMap(({ selected }) => [...selected])));
  const search = (maxBytes: number) => useCases.attemptsByDelivery(principal, ids, fields, maxBytes);
  const rows = ids.length > 0 ? (await searchMetered(meter, mostBytes(ids.length, fields), search)).rows : null;
  return asked.map(({ delivery }) => ('attempts' in delivery ? delivery.attempts : (rows?.get(delivery.id) ?? [])));
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
      description:
        'The deliveries of the secret key’s tenant and environment, newest event first. A page whose attempts have large responses is shorter than requested: continue while `hasNextPage` is true.',
      args: {
        endpointId: t.arg.id({ description: 'Only deliveries to this endpoint; it may be deleted.' }),
        state: t.arg({ type: DeliveryStateType, description: 'Only deliveries in this state.' }),
        createdAfter: t.arg(eventTimes.createdAfter),
        createdBefore: t.arg(eventTimes.createdBefore),
      },
      resolve: async (_root, args, { principal, useCases, meter }, info) => {
        const asked = {
          ...pageRequest(args),
          endpointId: args.endpointId ?? null,
          state: args.state ?? null,
          createdAfter: args.createdAfter ?? null,
          createdBefore: args.createdBefore ?? null,
        };
        const rows = [['nodes'], ['edges', 'node']];
        if (!rows.some((path) => selectedNames(info, path).has('attempts')))
          return connectionOf(await useCases.webhookDeliveries(principal, { ...asked, attempts: null }), args);
        const attempts = storedFields(new Set(rows.flatMap((path) => [...selectedNames(info, [...path, 'attempts'])])));
        const page = await searchMetered(meter, mostBytes(asked.limit, attempts), (left) =>
          useCases.webhookDeliveries(principal, { ...asked, attempts, maxBytes: Math.min(left, PAGE_BYTES) }),
        );
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
