import type { LoggedRequest, RequestFailures } from '../../domain/request-log/request-record.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { connectionOf, pageRequest } from '../relay-page.ts';
import './scalars.ts';

const METHOD = 'The HTTP method.';
const ROUTE = 'The pattern of the path, such as `/v1/invoices/:id`; `other` for a path that does not exist.';
const CODE = 'The error code; null if the request succeeded.';

export const ApiRequestType = builder.objectRef<LoggedRequest>('ApiRequest').implement({
  description:
    'A request with an API key. It has no body, no value of the path but the id of a document, and no secret.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The request id of the answer, prefix `req_`.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When it came.' }),
    method: t.exposeString('method', { description: METHOD }),
    route: t.exposeString('route', { description: ROUTE }),
    operation: t.exposeString('operation', { nullable: true, description: 'The name of the GraphQL operation.' }),
    documentId: t.exposeID('documentId', {
      nullable: true,
      description:
        'The invoice or credit note that the path names, or the invoice that it created over REST; null if there is none.',
    }),
    status: t.exposeInt('status', { description: 'The HTTP status of the answer.' }),
    milliseconds: t.exposeInt('milliseconds', { description: 'Until the answer began.' }),
    code: t.exposeString('code', { nullable: true, description: CODE }),
    param: t.exposeString('param', { nullable: true, description: 'What the error is about.' }),
    apiKeyId: t.exposeID('keyId', { description: 'The API key, prefix `key_`.' }),
    standsFor: t.exposeInt('standsFor', {
      description: 'Number of requests of the same kind in the same minute that it stands for, itself included.',
    }),
  }),
});

const ApiRequestFailuresType = builder.objectRef<RequestFailures>('ApiRequestFailures').implement({
  description: 'Failed requests of one kind.',
  fields: (t) => ({
    kind: t.exposeString('kind', { description: 'Names the kind in the argument of `apiRequests`.' }),
    method: t.exposeString('method', { description: METHOD }),
    route: t.exposeString('route', { description: ROUTE }),
    status: t.exposeInt('status', { description: 'The HTTP status of the answers.' }),
    code: t.exposeString('code', { nullable: true, description: CODE }),
    count: t.exposeInt('count', { description: 'Number of requests.' }),
    firstAt: t.expose('firstAt', { type: 'DateTime', description: 'The first of them.' }),
    lastAt: t.expose('lastAt', { type: 'DateTime', description: 'The last of them.' }),
  }),
});

const ApiRequestConnection = builder.connectionObject({ type: ApiRequestType, name: 'ApiRequestConnection' });

builder.queryFields((t) => ({
  apiRequest: t.field({
    type: ApiRequestType,
    authScopes: accessOf('apiRequest'),
    description: 'A request of the last 7 days by the id that its answer told. Of many like ones only some are kept.',
    args: { id: t.arg.id({ required: true, description: 'Prefix `req_`.' }) },
    resolve: (_root, { id }, { principal, useCases }) => useCases.apiRequest(principal, id),
  }),
  apiRequests: t.connection(
    {
      type: ApiRequestType,
      authScopes: accessOf('apiRequests'),
      description: 'The requests with API keys of the last 7 days, newest first. They are here after a second or two.',
      args: {
        failed: t.arg.boolean({ description: 'Only requests that failed.' }),
        kind: t.arg.string({ description: 'Only those of a kind that `apiRequestFailures` names.' }),
        apiKeyId: t.arg.id({ description: 'Only those with this key. Not with another filter.' }),
        route: t.arg.string({
          description: 'Only those to this pattern of a path, such as `/v1/invoices/:id`. Not with another filter.',
        }),
      },
      resolve: async (_root, args, { principal, useCases }) => {
        const { failed, kind, apiKeyId, route } = args;
        const only = { failed: failed ?? false, kind: kind ?? null, keyId: apiKeyId ?? null, route: route ?? null };
        const asked = { ...pageRequest(args), ...only };
        return connectionOf(await useCases.apiRequests(principal, asked), args);
      },
    },
    ApiRequestConnection,
  ),
  apiRequestFailures: t.field({
    type: [ApiRequestFailuresType],
    authScopes: accessOf('apiRequestFailures'),
    description: 'The failed requests of the last 7 days, counted by kind and whole days (UTC), the newest first.',
    resolve: async (_root, _args, { principal, useCases }) => [...(await useCases.apiRequestFailures(principal))],
  }),
}));
