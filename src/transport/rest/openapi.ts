import { z } from 'zod';
import type { ErrorCode } from '../../domain/errors.ts';
import { errorBody } from './errors.ts';
import {
  COMMON_HEADERS,
  EXTRA_HEADERS,
  exampleError,
  HEADERS,
  INFO,
  REQUEST_HEADERS,
  SECURITY_SCHEMES,
  WEBHOOK_HEADERS,
} from './openapi-texts.ts';
import type { Route, RouteAnswer } from './route.ts';
import { errorSchema, eventSchema } from './schemas.ts';

type Json = { readonly [key: string]: unknown };

/** The OpenAPI 3.1 document of a table of routes: what is checked is what is shown. */
export function openApiDocument(routes: readonly Route[]): Json {
  const components = new Components();
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, components) };
  }
  const webhooks = { invoiceEvent: { post: webhookOf(components) } };
  components.add(errorSchema, 'output');
  return {
    openapi: '3.1.1',
    info: INFO,
    servers: [{ url: '/', description: 'This service.' }],
    tags: [...new Set(routes.map(({ group }) => group))].map((name) => ({ name })),
    paths,
    webhooks,
    components: {
      schemas: components.schemas,
      responses: SHARED_ANSWERS,
      headers: HEADERS,
      parameters: REQUEST_HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

/** JSON Schemas by their zod schemas' ids, which `$ref` refers to. */
class Components {
  readonly schemas: Record<string, unknown> = {};

  /** @param io what a client sends (`input`: with its defaults left out) or gets */
  add(schema: z.ZodType, io: 'input' | 'output'): Json {
    const { $schema: _, $defs = {}, ...own } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
    for (const [id, each] of Object.entries({ ...$defs })) this.schemas[id] = relocated(each);
    return relocated(own) as Json;
  }
}

function relocated(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

function operationOf(route: Route, components: Components): Json {
  const responses = Object.entries(route.answers).map(([status, answer]) => [status, answerOf(answer, components)]);
  return {
    operationId: route.operation,
    tags: [route.group],
    summary: route.summary,
    description: route.description,
    ...(route.deprecation && { deprecated: true }),
    security: route.secretKeyOnly
      ? [{ secretKey: [] }]
      : [{ secretKey: [] }, { clientSecret: [] }, { publishableKey: [], clientSecretParameter: [] }],
    parameters: parametersOf(route, components),
    ...(route.body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: components.add(route.body, 'input'), ...exampleOf(route.body) } },
      },
    }),
    responses: Object.fromEntries([...responses, ...otherAnswersOf(route)]),
  };
}

function parametersOf(route: Route, components: Components): Json[] {
  const query = components.add(route.query, 'input') as { properties?: Record<string, Json>; required?: string[] };
  return [
    ...(route.id ? [{ name: 'id', in: 'path', required: true, schema: components.add(route.id, 'input') }] : []),
    ...Object.entries(query.properties ?? {}).map(([name, { description, ...schema }]) => ({
      name,
      in: 'query',
      required: query.required?.includes(name) ?? false,
      ...(description !== undefined && { description }),
      schema,
    })),
    ...(route.headers ?? []).map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
}

function answerOf({ description, schema, type, headers = [] }: RouteAnswer, components: Components): Json {
  const shown = schema && components.add(schema, 'output');
  const mediaType: string = type ?? 'application/json';
  return {
    description,
    headers: headersOf(headers),
    ...(schema && {
      content: {
        [mediaType]:
          type === 'text/event-stream'
            ? { schema: eventStreamOf(shown), example: STREAM }
            : { schema: shown, ...exampleOf(schema) },
      },
    }),
  };
}

/** Each message of a stream as an object of its fields; its data is a JSON document of its own. */
function eventStreamOf(message: Json | undefined): Json {
  return {
    type: 'object',
    properties: {
      id: { type: 'string', description: 'What `Last-Event-ID` resumes after.' },
      data: { type: 'string', contentMediaType: 'application/json', contentSchema: message },
    },
    required: ['id', 'data'],
  };
}

const STREAM = [
  'id: evt_550e8400-e29b-41d4-a716-446655440000',
  'data: {"id":"inv_550e8400-e29b-41d4-a716-446655440000","object":"invoice","status":"signing","dgi_id":null,"rejection_reason":null,"updated_at":"2026-01-31T12:00:00Z"}',
  '',
  '',
].join('\n');

function exampleOf(schema: z.ZodType): Json {
  const [example] = (schema.meta()?.examples ?? []) as unknown[];
  return example === undefined ? {} : { example };
}

/** The answers that follow from what an operation takes and needs. */
function otherAnswersOf({ id, body, headers = [], rules = [] }: Route): [string, Json][] {
  const statuses = [
    ...(headers.includes('If-None-Match') ? [304] : []),
    ...[400, 401, 403],
    ...(id ? [404] : []),
    ...(headers.includes('Idempotency-Key') ? [409] : []),
    ...(body ? [413, 415] : []),
    ...[429, 500, 503],
  ];
  return [
    ...statuses.map((status): [string, Json] => [String(status), { $ref: `#/components/responses/${status}` }]),
    ...(rules.length > 0 ? [['422', failure('A business rule is violated.', 422, rules)] as [string, Json]] : []),
    ['default', { $ref: '#/components/responses/refused' }],
  ];
}

/** The answers that operations share. */
const SHARED_ANSWERS: Readonly<Record<string, Json>> = {
  304: { description: 'What the ETag of If-None-Match names is still so.', headers: headersOf(['ETag']) },
  400: failure('Invalid payload, parameter or missing field.', 400, ['invalid_request']),
  401: failure('API key missing, unknown or revoked, or header badly formed.', 401, [
    'invalid_api_key',
    'api_key_revoked',
  ]),
  403: failure('The credential does not reach this far.', 403, ['insufficient_scope']),
  404: failure("Not found, or another tenant's or environment's.", 404, ['resource_not_found']),
  409: failure('The Idempotency-Key was used with a different payload.', 409, ['idempotency_conflict']),
  413: failure('The body is larger than 1 MiB.', 413, ['invalid_request']),
  415: failure('The body is not application/json in UTF-8.', 415, ['invalid_request']),
  429: failure('Rate limit exceeded.', 429, ['rate_limit_exceeded']),
  500: failure('Our fault.', 500, ['internal_error']),
  503: failure('Not available at the moment.', 503, ['internal_error']),
  refused: failure('What HTTP itself refuses (408, 417, 431), in the same shape.'),
};

function failure(description: string, status?: number, codes: readonly ErrorCode[] = []): Json {
  const examples = codes.map((code) => [code, { value: errorBody(exampleError(code, status)) }]);
  return {
    description,
    headers: headersOf((status && EXTRA_HEADERS[status]) || []),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        ...(examples.length > 0 && { examples: Object.fromEntries(examples) }),
      },
    },
  };
}

function headersOf(names: readonly (keyof typeof HEADERS)[]): Json {
  return Object.fromEntries(
    [...COMMON_HEADERS, ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

function webhookOf(components: Components): Json {
  return {
    operationId: 'receiveInvoiceEvent',
    tags: ['Webhook endpoints'],
    summary: 'What an endpoint receives',
    description:
      'Sent when an invoice changes status, to each active endpoint that subscribed to the type. Anything but a 2xx answer within 15 s is ' +
      'tried again after 5 minutes, 30 minutes, 2 hours and 6 hours. Redirects are not followed.',
    security: [],
    parameters: WEBHOOK_HEADERS,
    requestBody: { required: true, content: { 'application/json': { schema: components.add(eventSchema, 'output') } } },
    responses: { '2XX': { description: 'Received.' } },
  };
}
