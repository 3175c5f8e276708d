import { EventSource } from 'eventsource';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MAX_OPERATIONS } from '../../src/transport/graphql-sse.ts';
import { Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { EventReader } from '../support/event-stream.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';

/**
 * The GraphQL over SSE protocol, section by section, without a client library. See also `graphql-sse-client.test.ts`.
 */
let service: TestService;
let tenant: TestTenant;
let client: Client;

beforeAll(async () => {
  service = await startService();
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});
afterEach(async () => {
  await expect.poll(() => service.app.listeners()).toBe(0);
});
afterAll(() => service.close());

const WATCH = 'subscription ($id: ID!) { invoiceStatus(id: $id) { status } }';
const EVENTS = { Accept: 'text/event-stream' };
const JSON_TYPE = { 'Content-Type': 'application/json' };
/** An invoice that keeps two of its statuses for seconds. */
const SLOW = '999000000000878';

function call(
  method: string,
  { query = '', headers = {}, body }: { query?: string; headers?: Record<string, string>; body?: unknown } = {},
): Promise<Response> {
  return fetch(`${service.url}/graphql/stream${query}`, {
    method,
    headers: { Authorization: `Bearer ${tenant.secretKey}`, ...(body !== undefined && JSON_TYPE), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}
const stream = (body: object, headers = {}) => call('POST', { body, headers: { ...EVENTS, ...headers } });
const dataOf = ({ data }: { data: string }) => JSON.parse(data);
async function errorsOf(response: Response) {
  const body = (await response.json()) as { errors?: { message: string }[]; error?: { message: string } };
  return [response.status, body.errors?.[0]?.message ?? body.error?.message];
}

describe('distinct connections mode', () => {
  it('sends `next` for each result and `complete` after the last, by POST and by GET', async () => {
    const { body } = await client.post('/v1/invoices', invoiceBody());
    await client.settled(body.id);
    const variables = { id: body.id };
    const asQuery = `?query=${encodeURIComponent(WATCH)}&variables=${encodeURIComponent(JSON.stringify(variables))}`;
    for (const response of [
      await stream({ query: WATCH, variables }),
      await call('GET', { query: asQuery, headers: EVENTS }),
      await stream({ query: WATCH, variables }, { Accept: 'application/json;q=0.5, text/event-stream' }),
    ]) {
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
      const messages = await new EventReader(response).all();
      expect(messages.map(({ event }) => event)).toEqual(['next', 'complete']);
      expect(messages.map(({ data }) => data)).toEqual(['{"data":{"invoiceStatus":{"status":"accepted"}}}', '']);
    }
  });

  it('runs queries and mutations too, but no mutation by GET', async () => {
    const query = await new EventReader(await stream({ query: '{ __typename }' })).all();
    expect(query).toMatchObject([{ event: 'next', data: '{"data":{"__typename":"Query"}}' }, { event: 'complete' }]);
    const mutation = 'mutation { __typename }';
    const posted = await new EventReader(await stream({ query: mutation })).all();
    expect(posted).toMatchObject([{ data: '{"data":{"__typename":"Mutation"}}' }, { event: 'complete' }]);
    const got = await call('GET', { query: `?query=${encodeURIComponent(mutation)}`, headers: EVENTS });
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
    await got.body?.cancel();
  });

  it.each([
    ['a syntax error', { query: '{' }, /Syntax Error/],
    ['a field that does not exist', { query: '{ nothing }' }, /Cannot query field/],
    ['an operation that does not exist', { query: '{ __typename }', operationName: 'Other' }, /operation/i],
    ['variables that do not fit', { query: WATCH, variables: {} }, /\$id/],
  ])('reports %s in a `next` event', async (_, body, message) => {
    const response = await stream(body);
    expect(response.status).toBe(200);
    const [next, complete, ...more] = await new EventReader(response).all();
    const { errors, ...rest } = dataOf(next as { data: string });
    expect(errors[0].message).toMatch(message);
    expect(errors[0].extensions).toMatchObject({ code: 'invalid_request', status: 400 });
    expect([rest, next?.event, complete?.event, more]).toEqual([{}, 'next', 'complete', []]);
  });

  it('reports the refusals of use cases, and nothing about a defect', async () => {
    const { body } = await client.post('/v1/invoices', invoiceBody());
    const stranger = (await service.tenant()).secretKey;
    const response = await stream(
      { query: WATCH, variables: { id: body.id } },
      { Authorization: `Bearer ${stranger}` },
    );
    const [next] = await new EventReader(response).all();
    expect(dataOf(next as { data: string }).errors[0].extensions).toMatchObject({
      code: 'resource_not_found',
      status: 404,
    });
  });

  it('refuses a request without an operation with an HTTP error', async () => {
    expect(await errorsOf(await stream({}))).toEqual([400, 'Missing query']);
    expect((await (await stream({})).json()).errors[0].extensions).toMatchObject({
      code: 'invalid_request',
      status: 400,
    });
    expect((await call('POST', { body: 'not json', headers: EVENTS })).status).toBe(400);
    expect((await call('POST', { headers: { ...EVENTS, 'Content-Type': 'text/plain' }, body: '{}' })).status).toBe(415);
    const patch = await call('PATCH', { body: {}, headers: EVENTS });
    expect([patch.status, patch.headers.get('allow')]).toEqual([405, 'GET, POST, PUT, DELETE']);
    expect((await call('POST', { body: { query: '{ __typename }' }, headers: { Accept: 'text/html' } })).status).toBe(
      404,
    );
    const anonymous = await fetch(`${service.url}/graphql/stream?query={__typename}`, { headers: EVENTS });
    expect(anonymous.status).toBe(401);
  });

  it('ends a subscription when its client closes the connection', async () => {
    const { body } = await client.post('/v1/invoices', invoiceFor(SLOW));
    const reader = new EventReader(await stream({ query: WATCH, variables: { id: body.id } }));
    await reader.next();
    expect(service.app.listeners()).toBe(1);
    await reader.close();
  });
});

describe('single connection mode', () => {
  const reserve = async (): Promise<string> => (await call('PUT')).text();
  const attach = async (token: string) =>
    new EventReader(await call('GET', { query: `?token=${token}`, headers: EVENTS }));
  const operate = (token: string, operationId: string | null, body: object) =>
    call('POST', {
      headers: { 'X-GraphQL-Event-Stream-Token': token },
      body: { ...body, ...(operationId !== null && { extensions: { operationId } }) },
    });
  const stop = (token: string, operationId: string) =>
    call('DELETE', { query: `?token=${token}&operationId=${operationId}` });

  it('reserves a stream by PUT: 201 and a token, a new one each time', async () => {
    const responses = await Promise.all([call('PUT'), call('PUT', { headers: { Accept: 'text/plain' } })]);
    const tokens = await Promise.all(responses.map((response) => response.text()));
    expect(responses.map(({ status }) => status)).toEqual([201, 201]);
    expect(responses[0]?.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(new Set(tokens).size).toBe(2);
    for (const token of tokens) expect(token).toMatch(/^[\w-]{32}$/);
    expect((await call('PUT', { headers: { Accept: 'application/json' } })).status).toBe(406);
    expect((await fetch(`${service.url}/graphql/stream`, { method: 'PUT' })).status).toBe(401);
  });

  it('a reservation allows one connection at a time, and ends with it', async () => {
    const token = await reserve();
    const reader = await attach(token);
    const second = await call('GET', { query: `?token=${token}`, headers: EVENTS });
    expect(await errorsOf(second)).toEqual([409, 'Stream already open']);
    expect((await operate(token, '1', { query: '{ __typename }' })).status).toBe(202);
    await reader.next();
    await reader.close();
    await expect.poll(async () => (await operate(token, '2', { query: '{ __typename }' })).status).toBe(404);
    const again = await call('GET', { query: `?token=${token}`, headers: EVENTS });
    expect(again.status).toBe(404);
  });

  it('answers an operation with 202 and sends its results over the stream, with its id', async () => {
    const { body } = await client.post('/v1/invoices', invoiceBody());
    await client.settled(body.id);
    const token = await reserve();
    const reader = await attach(token);
    const accepted = await operate(token, 'sub', { query: WATCH, variables: { id: body.id } });
    expect([accepted.status, await accepted.text()]).toEqual([202, '']);
    expect(await reader.next()).toEqual({
      event: 'next',
      id: null,
      data: '{"id":"sub","payload":{"data":{"invoiceStatus":{"status":"accepted"}}}}',
    });
    expect(await reader.next()).toMatchObject({ event: 'complete', data: '{"id":"sub"}' });
    // The id can be used again.
    expect((await operate(token, 'sub', { query: '{ __typename }' })).status).toBe(202);
    expect(await reader.next()).toMatchObject({ data: '{"id":"sub","payload":{"data":{"__typename":"Query"}}}' });
    await reader.close();
  });

  it('buffers results until the client connects', async () => {
    const token = await reserve();
    expect((await operate(token, '1', { query: '{ __typename }' })).status).toBe(202);
    const reader = await attach(token);
    expect(await reader.next()).toMatchObject({ event: 'next', data: expect.stringContaining('"id":"1"') });
    expect(await reader.next()).toMatchObject({ event: 'complete' });
    await reader.close();
  });

  it('reports an invalid operation over HTTP, and nothing over the stream', async () => {
    const token = await reserve();
    const reader = await attach(token);
    for (const query of ['{', '{ nothing }']) {
      const refused = await operate(token, 'same', { query });
      expect(refused.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect([refused.status, (await refused.json()).errors[0].extensions]).toMatchObject([
        400,
        { code: 'invalid_request', status: 400 },
      ]);
    }
    expect(await errorsOf(await operate(token, null, { query: '{ __typename }' }))).toEqual([
      400,
      'Operation ID is missing',
    ]);
    // A refused operation does not occupy its id.
    expect((await operate(token, 'same', { query: '{ __typename }' })).status).toBe(202);
    expect(await reader.next()).toMatchObject({ event: 'next', data: expect.stringContaining('"id":"same"') });
    await reader.close();
  });

  it('stops an operation by DELETE; other operations continue', async () => {
    const [one, two] = await Promise.all([SLOW, SLOW].map((ice) => client.post('/v1/invoices', invoiceFor(ice))));
    const token = await reserve();
    const reader = await attach(token);
    for (const [id, invoice] of [
      ['one', one],
      ['two', two],
    ] as const) {
      await operate(token, id, { query: WATCH, variables: { id: invoice?.body.id } });
    }
    expect(await errorsOf(await operate(token, 'one', { query: '{ __typename }' }))).toEqual([
      409,
      'Operation with ID already exists',
    ]);
    await expect.poll(() => service.app.listeners()).toBe(2);
    expect((await stop(token, 'one')).status).toBe(200);
    await expect.poll(() => service.app.listeners()).toBe(1);
    let message = await reader.next();
    while (message && message.event !== 'complete') message = await reader.next();
    expect(message?.data).toBe('{"id":"one"}');
    expect((await stop(token, 'unknown')).status).toBe(200);
    expect(await errorsOf(await call('DELETE', { query: `?token=${token}` }))).toEqual([
      400,
      'Operation ID is missing',
    ]);
    await reader.close();
  });

  it('only the credential that reserved a stream can use it', async () => {
    const token = await reserve();
    const stranger = (await service.tenant()).secretKey;
    for (const [guess, key] of [
      [token, stranger],
      [token, tenant.publishableKey],
      [token.slice(0, -1), tenant.secretKey],
      ['constructor', tenant.secretKey],
      ['__proto__', tenant.secretKey],
    ] as const) {
      const headers = { Authorization: `Bearer ${key}`, 'X-GraphQL-Event-Stream-Token': guess };
      expect((await call('GET', { headers: { ...headers, ...EVENTS } })).status).toBe(404);
      const body = { query: '{ __typename }', extensions: { operationId: 'x' } };
      expect((await call('POST', { headers, body })).status).toBe(404);
      expect((await call('DELETE', { headers, query: '?operationId=x' })).status).toBe(404);
    }
    // A request without a credential but with the token may open the stream once, and do nothing else.
    const body = JSON.stringify({ query: '{ __typename }', extensions: { operationId: 'x' } });
    const anonymous = await fetch(`${service.url}/graphql/stream?token=${token}`, {
      method: 'POST',
      headers: JSON_TYPE,
      body,
    });
    expect(anonymous.status).toBe(401);
  });

  it('the token authenticates a browser’s EventSource, which sends no header', async () => {
    const { body } = await client.post('/v1/invoices', invoiceBody());
    await client.settled(body.id);
    const token = await reserve();
    const source = new EventSource(`${service.url}/graphql/stream?token=${token}`);
    const told: string[] = [];
    await new Promise<void>((resolve, reject) => {
      source.addEventListener('open', () => void operate(token, '1', { query: WATCH, variables: { id: body.id } }));
      source.addEventListener('next', ({ data }) => told.push(data));
      source.addEventListener('complete', () => resolve());
      source.addEventListener('error', ({ message }) => reject(new Error(message)));
    });
    source.close();
    expect(told).toEqual(['{"id":"1","payload":{"data":{"invoiceStatus":{"status":"accepted"}}}}']);
  });

  it('has a limited number of concurrent operations', async () => {
    const { body } = await client.post('/v1/invoices', invoiceFor(SLOW));
    const token = await reserve();
    const reader = await attach(token);
    const variables = { id: body.id };
    const many = Array.from({ length: MAX_OPERATIONS + 20 }, (_, i) => i);
    const answers = await Promise.all(many.map((i) => operate(token, `op${i}`, { query: WATCH, variables })));
    expect(answers.filter(({ status }) => status === 202).length).toBe(MAX_OPERATIONS);
    const taken = answers.findIndex(({ status }) => status === 202);
    expect(await errorsOf(await operate(token, 'more', { query: WATCH, variables }))).toEqual([
      400,
      `A stream can have at most ${MAX_OPERATIONS} concurrent operations.`,
    ]);
    await stop(token, `op${taken}`);
    await expect.poll(async () => (await operate(token, 'more', { query: WATCH, variables })).status).toBe(202);
    await reader.close();
  });
});
