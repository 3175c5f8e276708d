import type { Context } from 'koa';
import { ServiceError } from '../../domain/errors.ts';
import { enumNameOf, eventTypeNamed } from '../../domain/event.ts';
import { problemsOf } from '../../domain/input-problems.ts';
import { MAX_ENDPOINTS } from '../../domain/limits.ts';
import { createEndpointBody, updateEndpointBody } from '../../domain/webhook/endpoint-input.ts';
import { prepare } from '../../graphql/execute.ts';
import { readJson } from '../body.ts';
import { answerJson, answerRead } from '../json.ts';
import { type Route, route } from './route.ts';
import {
  createdEndpointSchema,
  deletedEndpointSchema,
  endpointIdSchema,
  endpointListSchema,
  endpointSchema,
} from './schemas.ts';

const FIELDS = 'id url description events active created_at: createdAt';

type EndpointData = Readonly<Record<string, unknown>> & { readonly id: string; readonly events: readonly string[] };

const create = prepare<{ createWebhookEndpoint: { endpoint: EndpointData; secret: string } }>(`
  mutation ($input: CreateWebhookEndpointInput!) {
    createWebhookEndpoint(input: $input) { ... on CreateWebhookEndpointPayload { endpoint { ${FIELDS} } secret } }
  }`);

const list = prepare<{ webhookEndpoints: EndpointData[] }>(`{ webhookEndpoints { ${FIELDS} } }`);

const update = prepare<{ updateWebhookEndpoint: { endpoint: EndpointData } }>(`
  mutation ($id: ID!, $input: UpdateWebhookEndpointInput!) {
    updateWebhookEndpoint(id: $id, input: $input) { ... on UpdateWebhookEndpointPayload { endpoint { ${FIELDS} } } }
  }`);

const remove = prepare<{ deleteWebhookEndpoint: { id: string } }>(`
  mutation ($id: ID!) { deleteWebhookEndpoint(id: $id) { ... on DeleteWebhookEndpointPayload { id } } }`);

/** The endpoints for webhook endpoints (docs/api/contract.md, "Endpoints"; docs/decisions/0024). */
export const WEBHOOK_ENDPOINT_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/webhook_endpoints',
    operation: 'createWebhookEndpoint',
    group: 'Webhook endpoints',
    summary: 'Create a webhook endpoint',
    description: `At most ${MAX_ENDPOINTS} in each environment. The signing secret is in this answer only. \`Idempotency-Key\` is ignored: a repetition makes another endpoint.`,
    useCase: 'createWebhookEndpoint',
    body: createEndpointBody,
    answers: { 201: { description: 'Created.', schema: createdEndpointSchema } },
    rules: ['endpoint_limit_reached'],
    async handle(ctx, graphql) {
      const input = await inputOf(ctx, createEndpointBody);
      const { createWebhookEndpoint } = await create.execute(graphql, { input });
      answerJson(ctx, 201, bodyOf(createWebhookEndpoint.endpoint, createWebhookEndpoint.secret));
    },
  }),
  route({
    method: 'GET',
    path: '/v1/webhook_endpoints',
    operation: 'listWebhookEndpoints',
    group: 'Webhook endpoints',
    summary: 'List webhook endpoints',
    description: "All endpoints of the key's tenant and environment, newest first, without their secrets.",
    useCase: 'webhookEndpoints',
    headers: ['If-None-Match'],
    answers: { 200: { description: 'The endpoints.', schema: endpointListSchema, headers: ['ETag'] } },
    async handle(ctx, graphql) {
      const { webhookEndpoints } = await list.execute(graphql, {});
      const data = webhookEndpoints.map((endpoint) => bodyOf(endpoint));
      answerRead(ctx, { object: 'list', data, has_more: false, next_cursor: data.at(-1)?.id ?? null });
    },
  }),
  route({
    method: 'PATCH',
    path: '/v1/webhook_endpoints/:id',
    id: endpointIdSchema,
    operation: 'updateWebhookEndpoint',
    group: 'Webhook endpoints',
    summary: 'Change a webhook endpoint',
    description:
      'Absent fields are not changed. `active: false` disables the endpoint and cancels its pending deliveries, which are not sent when it is enabled again.',
    useCase: 'updateWebhookEndpoint',
    body: updateEndpointBody,
    answers: { 200: { description: 'The changed endpoint, without its secret.', schema: endpointSchema } },
    async handle(ctx, graphql) {
      const input = await inputOf(ctx, updateEndpointBody);
      const { updateWebhookEndpoint } = await update.execute(graphql, { id: ctx.params.id, input });
      answerJson(ctx, 200, bodyOf(updateWebhookEndpoint.endpoint));
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/webhook_endpoints/:id',
    id: endpointIdSchema,
    operation: 'deleteWebhookEndpoint',
    group: 'Webhook endpoints',
    summary: 'Delete a webhook endpoint',
    description: 'Also cancels its pending deliveries.',
    useCase: 'deleteWebhookEndpoint',
    answers: { 200: { description: 'Deleted.', schema: deletedEndpointSchema } },
    async handle(ctx, graphql) {
      const { deleteWebhookEndpoint } = await remove.execute(graphql, { id: ctx.params.id });
      answerJson(ctx, 200, { id: deleteWebhookEndpoint.id, object: 'webhook_endpoint', deleted: true });
    },
  }),
];

/** Builds the endpoint object with its fields in the order of the contract. */
function bodyOf({ id, url, description, events, ...rest }: EndpointData, secret?: string) {
  const shown = secret === undefined ? {} : { secret };
  return { id, object: 'webhook_endpoint', url, events: events.map(eventTypeNamed), description, ...shown, ...rest };
}

/** Validates the body and converts it to GraphQL's input. */
async function inputOf(ctx: Context, schema: typeof createEndpointBody | typeof updateEndpointBody) {
  const parsed = schema.safeParse(await readJson(ctx));
  if (!parsed.success) throw new ServiceError(problemsOf(parsed.error));
  const { events, ...rest } = parsed.data;
  return { ...rest, ...(events && { events: events.map(enumNameOf) }) };
}
