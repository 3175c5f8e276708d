import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type ErrorCode, exampleOfError } from '../../domain/error-codes.ts';
import { serviceError } from '../../domain/errors.ts';
import { EXTENSION } from '../../domain/invoice/field-table.ts';
import { DELIVERY_TIMES, MAX_BODY_BYTES } from '../../domain/limits.ts';
import { errorBody } from './errors.ts';
import { forClients } from './json-schema.ts';
import {
  COMMON_HEADERS,
  EXTRA_HEADERS,
  HEADERS,
  INFO,
  REQUEST_HEADERS,
  SECURITY_SCHEMES,
  TAGS,
  webhookHeaders,
} from './openapi-texts.ts';
import { HIDDEN, type Route, type RouteAnswer } from './route.ts';
import { environmentSchema, errorSchema, eventSchema, STREAM_EXAMPLE } from './schemas.ts';

type Json = { readonly [key: string]: unknown };

/** Makes the OpenAPI 3.1 document of a table of routes from the schemas that check requests. */
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
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
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

/**
 * JSON Schemas by the ids of their zod schemas. `$ref` refers to these ids, and generated clients name types after
 * them.
 */
class Components {
  readonly schemas: Record<string, Json> = {};

  /**
   * Adds a schema and returns a reference to it.
   * @param io `input` for data that clients send, `output` for answers
   * @throws {Error} when two different schemas have the same id
   */
  add(schema: z.ZodType, io: 'input' | 'output'): Json {
    const { $schema: _, $defs = {}, ...own } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
    for (const [id, each] of Object.entries($defs)) {
      const made = forClients(each, io) as Json;
      if (this.schemas[id] && !isDeepStrictEqual(this.schemas[id], made))
        throw new Error(`two schemas of the OpenAPI document have the id ${id}`);
      this.schemas[id] = made;
    }
    return forClients(own, io) as Json;
  }
}

function operationOf(route: Route, components: Components): Json {
  const responses = Object.entries(route.answers).map(([status, answer]) => [status, answerOf(answer, components)]);
  return {
    operationId: route.operation,
    tags: [route.group],
    summary: route.summary,
    description: `${route.description}\n\nCredential: ${route.useCase === null ? READERS : 'a secret key'}.`,
    ...(route.deprecation && { deprecated: true }),
    security: [{ bearer: [] }],
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

const READERS =
  "a secret key, the invoice's client_secret, or a publishable key with the client_secret as the parameter `client_secret`";

function parametersOf(route: Route, components: Components): Json[] {
  const query = components.add(route.query, 'input') as { properties?: Record<string, Json>; required?: string[] };
  return [
    ...(route.id ? [{ name: 'id', in: 'path', required: true, schema: components.add(route.id, 'input') }] : []),
    ...Object.entries(query.properties ?? {})
      .filter(([, schema]) => schema[HIDDEN] === undefined)
      .map(([name, { description, [EXTENSION]: isExtension, ...schema }]) => ({
        name,
        in: 'query',
        required: query.required?.includes(name) ?? false,
        ...(description !== undefined && { description }),
        ...(isExtension !== undefined && { [EXTENSION]: true }),
        schema,
      })),
    ...(route.headers ?? []).map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
}

function answerOf({ description, schema, type, headers = [] }: RouteAnswer, components: Components): Json {
  const shown = schema && components.add(schema, 'output');
  return {
    description,
    headers: headersOf(headers),
    ...(schema && {
      content:
        type === undefined
          ? { 'application/json': { schema: shown, ...exampleOf(schema) } }
          : { [type]: { schema: STREAM, example: STREAM_EXAMPLE } },
    }),
  };
}

/** Generated clients get a string, because OpenAPI 3.1 cannot describe a sequence of messages. */
const STREAM = {
  type: 'string',
  description: 'Messages with an `id`, after which `Last-Event-ID` resumes, and a `StatusMessage` in JSON as `data`.',
};

function exampleOf(schema: z.ZodType): Json {
  const [example] = (schema.meta()?.examples ?? []) as unknown[];
  return example === undefined ? {} : { example };
}

/** Returns the answers that follow from the parameters and headers of an operation. */
function otherAnswersOf({ id, body, headers = [], rules = [] }: Route): [string, Json][] {
  const statuses = [
    ...(headers.includes('If-None-Match') ? [304] : []),
    400,
    401,
    403,
    ...(id ? [404] : []),
    ...(headers.includes('Idempotency-Key') ? [409] : []),
    ...(body ? [413, 415] : []),
    429,
    500,
    503,
  ];
  return [
    ...statuses.map((status): [string, Json] => [String(status), { $ref: `#/components/responses/${status}` }]),
    ...(rules.length > 0 ? [['422', failure('A business rule is violated.', 422, rules)] as [string, Json]] : []),
    ['default', { $ref: '#/components/responses/refused' }],
  ];
}

/** Answers that several operations have. */
const SHARED_ANSWERS: Readonly<Record<string, Json>> = {
  304: { description: 'Unchanged: the ETag in If-None-Match is still current.', headers: headersOf(['ETag']) },
  400: failure('Invalid payload, parameter or missing field.', 400, ['invalid_request']),
  401: failure('The API key is missing, unknown or revoked, or the header is malformed.', 401, [
    'invalid_api_key',
    'api_key_revoked',
  ]),
  403: failure('The credential has no access to this.', 403, ['insufficient_scope']),
  404: failure('Not found, or it belongs to another tenant or environment.', 404, ['resource_not_found']),
  409: failure('The Idempotency-Key was used with a different payload.', 409, ['idempotency_conflict']),
  413: failure(`The body is larger than ${MAX_BODY_BYTES / 1024 / 1024} MiB.`, 413, ['invalid_request']),
  415: failure('The body is not application/json in UTF-8.', 415, ['invalid_request']),
  429: failure('Rate limit exceeded.', 429, ['rate_limit_exceeded']),
  500: failure('An error of the service.', 500, ['internal_error']),
  503: failure('Not available at the moment.', 503, ['internal_error']),
  refused: answerOfFailure(
    'A method that the path does not have (405), or refused by the HTTP server (408, 414, 417, 431), with the same body.',
    Object.fromEntries([405, 408, 414, 417, 431].map((status) => [status, exampleBody('invalid_request', status)])),
  ),
};

function failure(description: string, status: number, codes: readonly ErrorCode[]): Json {
  const examples = Object.fromEntries(codes.map((code) => [code, exampleBody(code, status)]));
  return answerOfFailure(description, examples, EXTRA_HEADERS[status]);
}

function exampleBody(code: ErrorCode, status: number): Json {
  return { value: errorBody(serviceError(code, ...exampleOfError(code, status), status)) };
}

function answerOfFailure(description: string, examples: Json, headers: readonly (keyof typeof HEADERS)[] = []): Json {
  const schema = { $ref: '#/components/schemas/ErrorResponse' };
  return { description, headers: headersOf(headers), content: { 'application/json': { schema, examples } } };
}

function headersOf(names: readonly (keyof typeof HEADERS)[]): Json {
  return Object.fromEntries(
    [...COMMON_HEADERS, ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

function webhookOf(components: Components): Json {
  return {
    operationId: 'receiveInvoiceEvent',
    tags: ['Events'],
    summary: 'Receive an event',
    description:
      `Each event is sent to every active endpoint that is subscribed to its type. Without a 2xx answer within ${DELIVERY_TIMES.whole / 1000} s the delivery is ` +
      'retried after 5 minutes, 30 minutes, 2 hours and 6 hours. Redirects are not followed.',
    security: [],
    parameters: webhookHeaders(components.add(environmentSchema, 'output')),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: components.add(eventSchema, 'output'), ...exampleOf(eventSchema) } },
    },
    responses: { '2XX': { description: 'Received.' } },
  };
}
