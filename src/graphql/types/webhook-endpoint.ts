import type { ZodType } from 'zod';
import { ENDPOINT_LIMITS, MAX_ENDPOINTS, SECRET_OVERLAP } from '../../domain/limits.ts';
import { isFailing, type WebhookEndpoint } from '../../domain/webhook/endpoint.ts';
import {
  type CreateEndpointInput,
  createEndpointInput,
  type UpdateEndpointInput,
  updateEndpointInput,
} from '../../domain/webhook/endpoint-input.ts';
import {
  type EndpointHour,
  type EndpointStatistics,
  MOST_HOURS,
  type Results,
} from '../../domain/webhook/endpoint-statistics.ts';
import type { CreatedEndpoint } from '../../domain/webhook/manage-endpoints.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { payloadOf } from '../payload.ts';
import { InvalidInputError, LimitReachedError, NotFoundError } from './errors.ts';
import { EventTypeEnum } from './event-type.ts';
import { findableAsNode, NodeInterface } from './node.ts';
import './scalars.ts';

const AttemptResultsType = builder.objectRef<Results>('WebhookAttemptResults').implement({
  description: 'Attempts by their result.',
  fields: (t) => ({
    delivered: t.exposeInt('delivered', { description: 'Answered with a 2xx status.' }),
    failed: t.exposeInt('failed', { description: 'All others.' }),
  }),
});

const FIRST = 'The first attempts of deliveries.';
const RETRIES = 'All later attempts.';

const EndpointHourType = builder.objectRef<EndpointHour>('WebhookEndpointHour').implement({
  description: 'The attempts of an hour.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'Its beginning.' }),
    first: t.expose('first', { type: AttemptResultsType, description: FIRST }),
    retries: t.expose('retries', { type: AttemptResultsType, description: RETRIES }),
  }),
});

const EndpointStatisticsType = builder.objectRef<EndpointStatistics>('WebhookEndpointStatistics').implement({
  description: 'The attempts to deliver to an endpoint in a period.',
  fields: (t) => ({
    first: t.expose('first', { type: AttemptResultsType, description: FIRST }),
    retries: t.expose('retries', { type: AttemptResultsType, description: RETRIES }),
    medianMs: t.exposeInt('medianMs', {
      nullable: true,
      description: 'Milliseconds that half of the answers took at most, rounded up; null without answers.',
    }),
    p95Ms: t.exposeInt('p95Ms', {
      nullable: true,
      description: 'The same for 95 of 100 answers.',
    }),
    hours: t.field({
      type: [EndpointHourType],
      description: 'Each hour of the period, oldest first.',
      resolve: ({ hours }) => [...hours],
    }),
  }),
});

export const WebhookEndpointType = builder.objectRef<WebhookEndpoint>('WebhookEndpoint').implement({
  description: 'A URL that events are delivered to.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Prefix `we_`.' }),
    url: t.exposeString('url', { description: 'The address that receives events.' }),
    description: t.exposeString('description', { nullable: true, description: 'Free text of the client.' }),
    events: t.field({
      type: [EventTypeEnum],
      description: 'The subscribed event types.',
      resolve: ({ events }) => [...events],
    }),
    active: t.exposeBoolean('active', { description: 'Whether events are delivered to it.' }),
    failing: t.boolean({
      description: 'Whether every attempt has failed for half an hour. A failing endpoint is not disabled.',
      resolve: (endpoint) => isFailing(endpoint, new Date()),
    }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the first failure since the last success; null if nothing has failed since.',
    }),
    statistics: t.field({
      type: EndpointStatisticsType,
      description: 'Its attempts of the last hours. They are counted after some seconds.',
      args: { hours: t.arg.int({ defaultValue: 24, description: `1 to ${MOST_HOURS}.` }) },
      resolve: ({ id }, { hours }, { useCases }) => useCases.endpointStatistics(id, hours ?? 24),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of creation.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'Time of the last change.' }),
  }),
});

findableAsNode({
  prefix: 'we',
  type: 'WebhookEndpoint',
  find: (id, _clientSecret, { principal, useCases }) => useCases.webhookEndpoint(principal, id),
});

builder.queryFields((t) => ({
  webhookEndpoints: t.field({
    type: [WebhookEndpointType],
    authScopes: accessOf('webhookEndpoints'),
    description: `The endpoints of the secret key’s tenant and environment, newest first: at most ${MAX_ENDPOINTS}.`,
    resolve: (_root, _args, { principal, useCases }) => useCases.webhookEndpoints(principal),
  }),
  webhookEndpoint: t.field({
    type: WebhookEndpointType,
    authScopes: accessOf('webhookEndpoint'),
    description: 'The endpoint with this id.',
    args: { id: t.arg.id({ required: true, description: 'Prefix `we_`.' }) },
    resolve: (_root, { id }, { principal, useCases }) => useCases.webhookEndpoint(principal, id),
  }),
}));

const CreateWebhookEndpointInput = builder.inputType('CreateWebhookEndpointInput', {
  description: 'An endpoint to create.',
  fields: (t) => ({
    url: t.string({ required: true, description: 'An https:// address without a user name and password.' }),
    events: t.field({ type: [EventTypeEnum], required: true, description: 'At least one type, without duplicates.' }),
    description: t.string({ description: `At most ${ENDPOINT_LIMITS.description} characters.` }),
  }),
});

const UpdateWebhookEndpointInput = builder.inputType('UpdateWebhookEndpointInput', {
  description: 'Changes of an endpoint; omitted fields stay unchanged.',
  fields: (t) => ({
    url: t.string({ description: 'An https:// address without a user name and password.' }),
    events: t.field({ type: [EventTypeEnum], description: 'At least one event type, each at most once.' }),
    description: t.string({ description: `At most ${ENDPOINT_LIMITS.description} characters; null clears it.` }),
    active: t.boolean({
      description:
        'False disables the endpoint and cancels its pending deliveries, which are not sent when it is enabled again.',
    }),
  }),
});

const endpointWithSecret = (name: string) =>
  builder.objectRef<CreatedEndpoint>(name).implement({
    description: 'An endpoint and its new signing secret.',
    fields: (t) => ({
      endpoint: t.expose('endpoint', { type: WebhookEndpointType, description: 'The endpoint.' }),
      secret: t.exposeString('secret', {
        description: 'Signs deliveries from now on; prefix `whsec_`. Returned only in this answer.',
      }),
    }),
  });

const DeleteWebhookEndpointPayload = builder.objectRef<{ id: string }>('DeleteWebhookEndpointPayload').implement({
  description: 'A deleted endpoint.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'Id of the deleted endpoint.' }) }),
});

builder.mutationFields((t) => ({
  createWebhookEndpoint: t.field({
    type: endpointWithSecret('CreateWebhookEndpointPayload'),
    authScopes: accessOf('createWebhookEndpoint'),
    errors: { types: [InvalidInputError, LimitReachedError] },
    description: `Creates an endpoint: at most ${MAX_ENDPOINTS} for each tenant and environment. Needs a secret key.`,
    args: {
      input: t.arg({
        type: CreateWebhookEndpointInput,
        required: true,
        description: 'The endpoint.',
        // The cast is safe: the plugin passes the parsed value to the resolver, which therefore gets a
        // CreateEndpointInput.
        validate: { schema: createEndpointInput as unknown as ZodType<typeof CreateWebhookEndpointInput.$inferInput> },
      }),
    },
    resolve: (_root, { input }, { principal, useCases }) =>
      useCases.createWebhookEndpoint(principal, input as CreateEndpointInput),
  }),
  updateWebhookEndpoint: t.field({
    type: payloadOf('updateWebhookEndpoint', 'endpoint', WebhookEndpointType, 'The changed endpoint.'),
    authScopes: accessOf('updateWebhookEndpoint'),
    errors: { types: [InvalidInputError, NotFoundError] },
    description: 'Changes an endpoint. Needs a secret key.',
    args: {
      id: t.arg.id({ required: true, description: 'Prefix `we_`.' }),
      input: t.arg({
        type: UpdateWebhookEndpointInput,
        required: true,
        description: 'The changes.',
        validate: { schema: updateEndpointInput as unknown as ZodType<typeof UpdateWebhookEndpointInput.$inferInput> },
      }),
    },
    resolve: (_root, { id, input }, { principal, useCases }) =>
      useCases.updateWebhookEndpoint(principal, id, input as UpdateEndpointInput),
  }),
  rotateWebhookSecret: t.field({
    type: endpointWithSecret('RotateWebhookSecretPayload'),
    authScopes: accessOf('rotateWebhookSecret'),
    errors: { types: [InvalidInputError, NotFoundError] },
    description: 'Creates a new signing secret; previous ones sign as well for the overlap time. Needs a secret key.',
    args: {
      endpointId: t.arg.id({ required: true, description: 'Prefix `we_`.' }),
      overlapSeconds: t.arg.int({
        description: `Overlap time in seconds, 0 to ${SECRET_OVERLAP.most}. Default: ${SECRET_OVERLAP.default}. Use 0 if a secret has leaked.`,
      }),
    },
    resolve: (_root, { endpointId, overlapSeconds }, { principal, useCases }) =>
      useCases.rotateWebhookSecret(principal, endpointId, overlapSeconds ?? null),
  }),
  deleteWebhookEndpoint: t.field({
    type: DeleteWebhookEndpointPayload,
    authScopes: accessOf('deleteWebhookEndpoint'),
    errors: { types: [NotFoundError] },
    description: 'Deletes an endpoint permanently. Needs a secret key.',
    args: { id: t.arg.id({ required: true, description: 'Prefix `we_`.' }) },
    resolve: async (_root, { id }, { principal, useCases }) => {
      await useCases.deleteWebhookEndpoint(principal, id);
      return { id };
    },
  }),
}));
