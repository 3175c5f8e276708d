import type { Context } from 'koa';
import type { ZodType } from 'zod';
import { ServiceError } from '../../domain/errors.ts';
import { problemsOf } from '../../domain/input-problems.ts';
import { createEndpointInput, updateEndpointInput } from '../../domain/webhook/endpoint-input.ts';
import { prepare } from '../../graphql/execute.ts';
import { readJson } from '../body.ts';
import { refuseQuery } from './query.ts';
import type { Route } from './routes.ts';

const FIELDS = 'id url description events active created_at: createdAt';

type EndpointData = Readonly<Record<string, unknown>> & { readonly id: string };

const create = prepare<{ createWebhookEndpoint: { endpoint: EndpointData; secret: string } }>(`
  mutation ($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { endpoint { ${FIELDS} } secret } }`);

const list = prepare<{ webhookEndpoints: EndpointData[] }>(`{ webhookEndpoints { ${FIELDS} } }`);

const update = prepare<{ updateWebhookEndpoint: EndpointData }>(`
  mutation ($id: ID!, $input: UpdateWebhookEndpointInput!) { updateWebhookEndpoint(id: $id, input: $input) { ${FIELDS} } }`);

const remove = prepare<{ deleteWebhookEndpoint: string }>(`
  mutation ($id: ID!) { deleteWebhookEndpoint(id: $id) }`);

/** The webhook endpoints' endpoints (specification, "Endpoints"; design, section 5, "endpoints"). */
export function webhookEndpointRoutes(): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/webhook_endpoints',
      secretKeyOnly: true,
      async handle(ctx, graphql) {
        refuseQuery(ctx);
        const input = await parseBody(ctx, createEndpointInput);
        const { createWebhookEndpoint } = await create.execute(graphql, { input });
        ctx.status = 201;
        ctx.body = bodyOf(createWebhookEndpoint.endpoint, createWebhookEndpoint.secret);
      },
    },
    {
      method: 'GET',
      path: '/v1/webhook_endpoints',
      secretKeyOnly: true,
      async handle(ctx, graphql) {
        refuseQuery(ctx);
        const { webhookEndpoints } = await list.execute(graphql, {});
        const data = webhookEndpoints.map((endpoint) => bodyOf(endpoint));
        ctx.body = { object: 'list', data, has_more: false, next_cursor: data.at(-1)?.id ?? null };
      },
    },
    {
      method: 'PATCH',
      path: '/v1/webhook_endpoints/:id',
      secretKeyOnly: true,
      async handle(ctx, graphql) {
        refuseQuery(ctx);
        const input = await parseBody(ctx, updateEndpointInput);
        const { updateWebhookEndpoint } = await update.execute(graphql, { id: ctx.params.id, input });
        ctx.body = bodyOf(updateWebhookEndpoint);
      },
    },
    {
      method: 'DELETE',
      path: '/v1/webhook_endpoints/:id',
      secretKeyOnly: true,
      async handle(ctx, graphql) {
        refuseQuery(ctx);
        const { deleteWebhookEndpoint } = await remove.execute(graphql, { id: ctx.params.id });
        ctx.body = { id: deleteWebhookEndpoint, object: 'webhook_endpoint', deleted: true };
      },
    },
  ];
}

/** The endpoint object with its fields in the specification's order. */
function bodyOf({ id, url, description, events, ...rest }: EndpointData, secret?: string) {
  const shown = secret === undefined ? {} : { secret };
  return { id, object: 'webhook_endpoint', url, events, description, ...shown, ...rest };
}

async function parseBody<T>(ctx: Context, schema: ZodType<T>): Promise<T> {
  const parsed = schema.safeParse(await readJson(ctx));
  if (!parsed.success) throw new ServiceError(problemsOf(parsed.error));
  return parsed.data;
}
