import { MongoNetworkError } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERRORS } from '../../src/domain/error-codes.ts';
import { openApiDocument } from '../../src/transport/rest/openapi.ts';
import { ROUTES } from '../../src/transport/rest/routes.ts';
import { type Answer, Client, invoiceBody } from '../support/client.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';

const UNKNOWN = '550e8400-e29b-41d4-a716-446655440000';
const BODIES: Record<string, unknown> = {
  createInvoice: invoiceBody(),
  createWebhookEndpoint: { url: 'https://example.com/', events: ['invoice.accepted'] },
  updateWebhookEndpoint: { active: true },
};

let service: TestService;
/** A rate limiter that allows one request a minute. */
let limited: TestService;
let tenant: TestTenant;
let client: Client;
let invoice: { id: string };
let lastEvent: string;

beforeAll(async () => {
  [service, limited] = await Promise.all([startService(), startService({ RATE_LIMIT_SECRET: '1' })]);
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
  invoice = await client.settled((await client.post('/v1/invoices', invoiceBody())).body.id);
  const stored = await service.app.store.db.collection('invoices').findOne({ _id: invoice.id as never });
  lastEvent = stored?.events.at(-1).id;
});
afterAll(() => Promise.all([service.close(), limited.close()]));

interface Operation {
  readonly name: string;
  readonly method: string;
  /** The path, with `:id` if it has one. */
  readonly path: string;
  /** The documented statuses, without `default`. */
  readonly statuses: readonly number[];
}

const { paths } = openApiDocument(ROUTES) as {
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, unknown> }>>;
};
const OPERATIONS: readonly Operation[] = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, responses }]) => ({
    name: operationId,
    method: method.toUpperCase(),
    path: path.replace('{id}', ':id'),
    statuses: Object.keys(responses).filter(Number).map(Number),
  })),
);

/** Sends a valid request of the operation, with some parts changed. */
async function send(
  { name, method, path }: Operation,
  changes: { by?: Client; id?: string; query?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const id = path.includes(':id') ? (changes.id ?? (path.includes('webhook') ? await newEndpoint() : invoice.id)) : '';
  const target = path.replace(':id', id);
  const body = 'body' in changes ? changes.body : BODIES[name];
  return (changes.by ?? client).request(method, target + (changes.query ?? ''), body, changes.headers);
}

async function newEndpoint(): Promise<string> {
  await service.app.store.db.collection('webhook_endpoints').deleteMany({});
  return (await client.post('/v1/webhook_endpoints', BODIES.createWebhookEndpoint)).body.id;
}

/** Makes the look-up of keys fail this way during the work. */
async function whileFailing<T>(error: Error, call: () => Promise<T>): Promise<T> {
  const { tenants } = service.app;
  const { findByKeyHash } = tenants;
  Object.assign(tenants, { findByKeyHash: () => Promise.reject(error) });
  try {
    return await call();
  } finally {
    Object.assign(tenants, { findByKeyHash });
  }
}

/** How to cause each status that has the same cause in every operation. */
const PROVOCATIONS: Record<number, (operation: Operation) => Promise<Answer>> = {
  200: (operation) => send(operation),
  201: (operation) => send(operation),
  204: (operation) => send(operation, { headers: { 'Last-Event-ID': lastEvent } }),
  304: async (operation) => {
    // What is not final yet changes its representation between the two requests.
    const open = { tenantId: tenant.id, status: { $nin: ['accepted', 'rejected'] } };
    await expect.poll(() => service.app.store.db.collection('invoices').countDocuments(open)).toBe(0);
    const etag = (await send(operation)).headers.get('etag') ?? '';
    return send(operation, { headers: { 'If-None-Match': etag } });
  },
  400: (operation) => send(operation, { query: '?unknown=1' }),
  401: (operation) => send(operation, { by: new Client(service.url, null) }),
  403: (operation) => send(operation, { by: new Client(service.url, tenant.publishableKey) }),
  404: (operation) => send(operation, { id: `${operation.path.includes('webhook') ? 'we' : 'inv'}_${UNKNOWN}` }),
  409: async (operation) => {
    const headers = { 'Idempotency-Key': 'conflict' };
    await send(operation, { headers });
    return send(operation, { headers, body: invoiceBody({ metadata: { other: 'yes' } }) });
  },
  413: (operation) => send(operation, { body: { url: 'x'.repeat(1024 * 1024) } }),
  415: (operation) => send(operation, { headers: { 'Content-Type': 'text/plain' } }),
  422: async (operation) => {
    if (operation.name === 'createInvoice') return send(operation, { body: invoiceBody({ amount: 99 }) });
    for (let i = 0; i < 16; i++) await send(operation);
    return send(operation);
  },
  429: async (operation) => {
    const by = new Client(limited.url, (await limited.tenant()).secretKey);
    await by.get('/v1/invoices');
    return send(operation, { by });
  },
  500: async (operation) => {
    const id = await newEndpoint();
    return whileFailing(new Error('a defect'), () => send(operation, operation.path.includes('webhook') ? { id } : {}));
  },
  503: async (operation) => {
    const id = await newEndpoint();
    return whileFailing(new MongoNetworkError('the store is away'), () =>
      send(operation, operation.path.includes('webhook') ? { id } : {}),
    );
  },
};

/** The error codes allowed for each status. */
const CODES = Map.groupBy(Object.entries(ERRORS), ([, { status }]) => status as number);

describe.each(OPERATIONS)('$method $path', (operation) => {
  it.each(operation.statuses)('%i, as its documentation says', async (status) => {
    const provoke = PROVOCATIONS[status];
    if (!provoke) throw new Error(`nothing here brings about ${status}: add how`);
    const answer = await provoke(operation);
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    if (status < 400) return;
    expect(answer.body).toEqual({
      error: {
        code: expect.any(String),
        message: expect.stringMatching(/\.$/),
        param: answer.body.error.param,
        status,
      },
    });
    const codes = CODES.get(status)?.map(([code]) => code) ?? ['invalid_request', 'internal_error'];
    expect(codes).toContain(answer.body.error.code);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('405 with Allow for a method that no operation of this path has', async () => {
    const answer = await send({ ...operation, method: 'PUT' }, { body: {} });
    expect([answer.status, answer.body.error.code]).toEqual([405, 'invalid_request']);
    expect(answer.headers.get('allow')?.split(', ')).toContain(operation.method);
  });
});
