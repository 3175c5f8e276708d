import type { ZodType } from 'zod';
import { EVENT_TYPES } from '../../domain/event.ts';
import { ENDPOINT_LIMITS, MAX_ENDPOINTS } from '../../domain/limits.ts';
import type { WebhookEndpoint } from '../../domain/webhook/endpoint.ts';
import {
  type CreateEndpointInput,
  createEndpointInput,
  type UpdateEndpointInput,
  updateEndpointInput,
} from '../../domain/webhook/endpoint-input.ts';
import type { CreatedEndpoint } from '../../domain/webhook/manage-endpoints.ts';
import { builder } from '../builder.ts';
import { payloadOf } from '../payload.ts';
import { InvalidInputError, LimitReachedError, NotFoundError } from './errors.ts';
import { EventTypeEnum } from './event-type.ts';
import { findableAsNode, NodeInterface } from './node.ts';
import './scalars.ts';

export const WebhookEndpointType = builder.objectRef<WebhookEndpoint>('WebhookEndpoint').implement({
  description: 'Where events are delivered.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Prefix `we_`.' }),
    url: t.exposeString('url', { description: 'The address that receives events.' }),
    description: t.exposeString('description', { nullable: true, description: "The client's own words." }),
    events: t.field({
      type: [EventTypeEnum],
      extensions: { most: EVENT_TYPES.length },
      description: 'The subscribed types.',
      resolve: ({ events }) => [...events],
    }),
    active: t.exposeBoolean('active', { description: 'Whether anything is delivered to it.' }),
    failing: t.exposeBoolean('failing', {
      description: 'Whether it has failed everything for a day. It is never disabled for it.',
    }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'The first failure since the last success; null while nothing fails.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
  }),
});

findableAsNode({
  prefix: 'we',
  type: 'WebhookEndpoint',
  find: (id, _clientSecret, { principal, useCases }) => useCases.webhookEndpoints.find(principal, id),
});

builder.queryFields((t) => ({
  webhookEndpoints: t.field({
    type: [WebhookEndpointType],
    extensions: { most: MAX_ENDPOINTS },
    authScopes: { secretKey: true },
    description: `The endpoints of the secret key’s tenant and environment, newest first: at most ${MAX_ENDPOINTS}.`,
    resolve: (_root, _args, { principal, useCases }) => useCases.webhookEndpoints.list(principal),
  }),
  webhookEndpoint: t.field({
    type: WebhookEndpointType,
    authScopes: { secretKey: true },
    description: 'One endpoint.',
    args: { id: t.arg.id({ required: true, description: 'Prefix `we_`.' }) },
    resolve: (_root, { id }, { principal, useCases }) => useCases.webhookEndpoints.find(principal, id),
  }),
}));

const CreateWebhookEndpointInput = builder.inputType('CreateWebhookEndpointInput', {
  description: 'An endpoint to create.',
  fields: (t) => ({
    url: t.string({ required: true, description: 'An https:// address without user name and password.' }),
    events: t.field({ type: [EventTypeEnum], required: true, description: 'At least one type, each once.' }),
    description: t.string({ description: `At most ${ENDPOINT_LIMITS.description} characters.` }),
  }),
});

const UpdateWebhookEndpointInput = builder.inputType('UpdateWebhookEndpointInput', {
  description: 'What to change; the rest stays as it is.',
  fields: (t) => ({
    url: t.string({ description: 'An https:// address without user name and password.' }),
    events: t.field({ type: [EventTypeEnum], description: 'At least one type, each once.' }),
    description: t.string({ description: `At most ${ENDPOINT_LIMITS.description} characters; null clears it.` }),
    active: t.boolean({ description: 'False disables the endpoint.' }),
  }),
});

const endpointWithSecret = (name: string) =>
  builder.objectRef<CreatedEndpoint>(name).implement({
    description: 'An endpoint with its present signing secret.',
    fields: (t) => ({
      endpoint: t.expose('endpoint', { type: WebhookEndpointType, description: 'The endpoint.' }),
      secret: t.exposeString('secret', {
        description: 'Signs deliveries from now on; prefix `whsec_`. Shown in this answer only.',
      }),
    }),
  });

const DeleteWebhookEndpointPayload = builder.objectRef<{ id: string }>('DeleteWebhookEndpointPayload').implement({
  description: 'A deleted endpoint.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'What its id was.' }) }),
});

builder.mutationFields((t) => ({
  createWebhookEndpoint: t.field({
    type: endpointWithSecret('CreateWebhookEndpointPayload'),
    authScopes: { secretKey: true },
    errors: { types: [InvalidInputError, LimitReachedError] },
    description: `Creates an endpoint: at most ${MAX_ENDPOINTS} for each tenant and environment. Needs a secret key.`,
    args: {
      input: t.arg({
        type: CreateWebhookEndpointInput,
        required: true,
        description: 'The endpoint.',
        // The plugin hands on what the schema parsed, so the resolver gets a CreateEndpointInput.
        validate: { schema: createEndpointInput as unknown as ZodType<typeof CreateWebhookEndpointInput.$inferInput> },
      }),
    },
    resolve: (_root, { input }, { principal, useCases }) =>
      useCases.webhookEndpoints.create(principal, input as CreateEndpointInput),
  }),
  updateWebhookEndpoint: t.field({
    type: payloadOf('updateWebhookEndpoint', 'endpoint', WebhookEndpointType, 'The endpoint as it is now.'),
    authScopes: { secretKey: true },
    errors: { types: [InvalidInputError, NotFoundError] },
    description: 'Changes an endpoint. Needs a secret key.',
    args: {
      id: t.arg.id({ required: true, description: 'Prefix `we_`.' }),
      input: t.arg({
        type: UpdateWebhookEndpointInput,
        required: true,
        description: 'What to change.',
        validate: { schema: updateEndpointInput as unknown as ZodType<typeof UpdateWebhookEndpointInput.$inferInput> },
      }),
    },
    resolve: (_root, { id, input }, { principal, useCases }) =>
      useCases.webhookEndpoints.update(principal, id, input as UpdateEndpointInput),
  }),
  rotateWebhookSecret: t.field({
    type: endpointWithSecret('RotateWebhookSecretPayload'),
    authScopes: { secretKey: true },
    errors: { types: [InvalidInputError, NotFoundError] },
    description: 'Makes a new signing secret; the former ones go on signing beside it for a day. Needs a secret key.',
    args: {
      endpointId: t.arg.id({ required: true, description: 'Prefix `we_`.' }),
      overlapSeconds: t.arg.int({
        description: 'How long the former ones go on: 0 to 604800, 86400 unless given. 0 when one has leaked.',
      }),
    },
    resolve: (_root, { endpointId, overlapSeconds }, { principal, useCases }) =>
      useCases.webhookEndpoints.rotateSecret(principal, endpointId, overlapSeconds ?? null),
  }),
  deleteWebhookEndpoint: t.field({
    type: DeleteWebhookEndpointPayload,
    authScopes: { secretKey: true },
    errors: { types: [NotFoundError] },
    description: 'Deletes an endpoint for good. Needs a secret key.',
    args: { id: t.arg.id({ required: true, description: 'Prefix `we_`.' }) },
    resolve: async (_root, { id }, { principal, useCases }) => {
      await useCases.webhookEndpoints.delete(principal, id);
      return { id };
    },
  }),
}));
