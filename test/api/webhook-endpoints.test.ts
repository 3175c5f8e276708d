import { beforeEach, describe, expect, it } from 'vitest';
import { Client } from '../support/client.ts';
import { startService, type TestService, type TestTenant, withSharedService } from '../support/service.ts';

const PATH = '/v1/webhook_endpoints';
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

let service: TestService;
let tenant: TestTenant;
let client: Client;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
});
beforeEach(async () => {
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});

function endpointBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { url: 'https://example.com/hook', events: ['invoice.accepted'], description: 'Orders', ...changes };
}

async function created(changes: Record<string, unknown> = {}) {
  const { status, body } = await client.post(PATH, endpointBody(changes));
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

async function listed() {
  return (await client.get(PATH)).body.data;
}

describe('POST /v1/webhook_endpoints: 201', () => {
  it('returns the active endpoint with its secret', async () => {
    const body = await created();
    expect(body).toEqual({
      id: expect.stringMatching(new RegExp(`^we_${UUID}$`)),
      object: 'webhook_endpoint',
      url: 'https://example.com/hook',
      events: ['invoice.accepted'],
      description: 'Orders',
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      active: true,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    });
    expect(Buffer.from(body.secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
  });

  it('keeps the secret encrypted and never returns it again', async () => {
    const { id, secret } = await created();
    const stored = await service.app.store.db.collection('webhook_endpoints').findOne({ _id: id });
    expect(JSON.stringify(stored)).not.toContain(secret.slice('whsec_'.length));
    const shown = [await client.get(PATH), await client.request('PATCH', `${PATH}/${id}`, { active: true })];
    for (const { body } of shown) expect(JSON.stringify(body)).not.toContain('whsec_');
    expect((await created()).secret).not.toBe(secret);
  });

  it('has the description null by default', async () => {
    expect((await created({ description: undefined })).description).toBeNull();
    expect((await created({ description: null })).description).toBeNull();
  });

  it('accepts every event type', async () => {
    const events = ['invoice.rejected', 'invoice.signing', 'invoice.transmitted', 'invoice.accepted'];
    expect((await created({ events })).events).toEqual(events);
  });
});

/** Invalid values of url, events and description, for creations and changes. */
const WRONG: [string, Record<string, unknown>, string][] = [
  ['a url that is no string', { url: 1 }, 'url'],
  ['a url of null', { url: null }, 'url'],
  ['an empty url', { url: '' }, 'url'],
  ['a path', { url: '/hook' }, 'url'],
  ['http', { url: 'http://example.com/hook' }, 'url'],
  ['another scheme', { url: 'ftp://example.com/hook' }, 'url'],
  ['a scheme without host', { url: 'https://' }, 'url'],
  ['a scheme without slashes', { url: 'https:example.com' }, 'url'],
  ['a user name in the url', { url: 'https://user@example.com/' }, 'url'],
  ['a password in the url', { url: 'https://:pass@example.com/' }, 'url'],
  ['an empty user name in the url', { url: 'https://@example.com/' }, 'url'],
  ['an empty user name and password in the url', { url: 'https://:@example.com/' }, 'url'],
  ['a space in the url', { url: 'https://example.com/a b' }, 'url'],
  ['a line end in the url', { url: 'https://example.com/\r\nX: y' }, 'url'],
  ['a backslash in the url', { url: 'https:\\\\example.com' }, 'url'],
  ['half a character in the url', { url: 'https://example.com/\ud800' }, 'url'],
  ['a port out of range', { url: 'https://example.com:65536/' }, 'url'],
  ['a fragment', { url: 'https://example.com/#hook' }, 'url'],
  ['an empty fragment', { url: 'https://example.com/#' }, 'url'],
  ['an empty label', { url: 'https://example..com/' }, 'url'],
  ['a host of a dot', { url: 'https://./' }, 'url'],
  ['this machine by name', { url: 'https://localhost/' }, 'url'],
  ['this machine by another name', { url: 'https://hook.localhost./' }, 'url'],
  ['a loopback address', { url: 'https://127.0.0.1/' }, 'url'],
  ['a loopback address as one number', { url: 'https://2130706433/' }, 'url'],
  ['a private address', { url: 'https://10.0.0.1:8443/hook' }, 'url'],
  ['a link-local address', { url: 'https://169.254.169.254/' }, 'url'],
  ['a loopback address of IPv6', { url: 'https://[::1]/' }, 'url'],
  ['a mapped address', { url: 'https://[::ffff:10.0.0.1]/' }, 'url'],
  ['the port of another protocol', { url: 'https://example.com:22/' }, 'url'],
  ['a long url', { url: `https://example.com/${'x'.repeat(2048)}` }, 'url'],
  ['events that are no list', { events: 'invoice.accepted' }, 'events'],
  ['no event', { events: [] }, 'events'],
  ['an unknown event', { events: ['invoice.accepted', 'invoice.pending'] }, 'events.1'],
  ['an event of credit notes', { events: ['invoice.accepted', 'credit_note.accepted'] }, 'events.1'],
  ['an event that is no string', { events: [1] }, 'events.0'],
  ['a duplicate event', { events: ['invoice.signing', 'invoice.accepted', 'invoice.signing'] }, 'events.2'],
  ['a description that is no string', { description: 1 }, 'description'],
  ['a long description', { description: 'x'.repeat(501) }, 'description'],
  ['a NUL in the description', { description: 'a\u0000' }, 'description'],
  ['an unknown field', { secret: 'whsec_mine' }, 'secret'],
  ['an unknown field after a wrong one', { colour: 'red', events: [] }, 'events'],
];

describe('POST /v1/webhook_endpoints: 400', () => {
  it.each([
    ...WRONG,
    ['no url', { url: undefined }, 'url'],
    ['no events', { events: undefined }, 'events'],
    ['active, which is true on creation', { active: true }, 'active'],
  ] as typeof WRONG)('refuses %s and stores nothing', async (_name, changes, param) => {
    const { status, body } = await client.post(PATH, endpointBody(changes));
    expect(body).toEqual({
      error: { code: 'invalid_request', message: expect.stringMatching(/\.$/), param, status: 400 },
    });
    expect(status).toBe(400);
    expect(await listed()).toEqual([]);
  });

  it('explains in the error about http how a local server gets events', async () => {
    const { body } = await client.post(PATH, endpointBody({ url: 'http://127.0.0.1:4000/hook' }));
    expect(body.error.message).toMatch(/https:\/\/ URL.*listen --forward-to.*ALLOW_INSECURE_WEBHOOKS/);
  });

  it.each([
    ['a list', [], 400],
    ['no JSON', '{', 400],
    ['nothing', '', 400],
    ['null', 'null', 400],
  ])('refuses a body that is %s', async (_name, sent, expected) => {
    const { status, body } = await client.post(PATH, sent);
    expect([status, body.error.code, body.error.param]).toEqual([expected, 'invalid_request', null]);
  });

  it('refuses unknown query parameters', async () => {
    const { status, body } = await client.post(`${PATH}?dry=1`, endpointBody());
    expect([status, body.error.param]).toEqual([400, 'dry']);
  });

  it('accepts http and private addresses if ALLOW_INSECURE_WEBHOOKS is set', async () => {
    const lax = await startService({ ALLOW_INSECURE_WEBHOOKS: 'true' });
    try {
      const { secretKey } = await lax.tenant();
      const answer = await new Client(lax.url, secretKey).post(PATH, endpointBody({ url: 'http://localhost:4000/' }));
      expect([answer.status, answer.body.url]).toEqual([201, 'http://localhost:4000/']);
      const local = await new Client(lax.url, secretKey).post(PATH, endpointBody({ url: 'https://127.0.0.1:22/' }));
      expect(local.status).toBe(201);
    } finally {
      await lax.close();
    }
  });
});

describe('POST /v1/webhook_endpoints: the text of a refused URL', () => {
  it('is one sentence that says what to do', async () => {
    const { body } = await client.post(PATH, endpointBody({ url: 'http://example.com/hook' }));
    const [first] = body.error.message.split('. ');
    expect(first).toBe('url is not allowed: it must be an https:// URL');
  });
});

describe('POST /v1/webhook_endpoints: 415', () => {
  it('refuses media types other than application/json', async () => {
    const { status, body } = await client.post(PATH, endpointBody(), { 'Content-Type': 'text/plain' });
    expect([status, body.error.code]).toEqual([415, 'invalid_request']);
  });
});

describe('POST /v1/webhook_endpoints: 422', () => {
  it('the 17th of a tenant and environment; of 40 concurrent creations exactly 16 succeed', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => client.post(PATH, endpointBody())));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(16);
    expect(await listed()).toHaveLength(16);
    const refused = answers.filter(({ status }) => status !== 201).map(({ body }) => body.error);
    for (const error of refused) {
      expect(error).toEqual({
        code: 'endpoint_limit_reached',
        message: expect.stringContaining('16'),
        param: null,
        status: 422,
      });
    }
    // A deleted endpoint makes room for another one, and other tenants have their own limit.
    await client.request('DELETE', `${PATH}/${made[0]?.body.id}`);
    await created();
    const other = new Client(service.url, (await service.tenant()).secretKey);
    expect((await other.post(PATH, endpointBody())).status).toBe(201);
  });
});

describe('GET /v1/webhook_endpoints: 200', () => {
  it('lists the tenant’s endpoints, newest first, in the list envelope and without secrets', async () => {
    const { secret: _first, ...first } = await created();
    const { secret: _second, ...second } = await created({ url: 'https://example.com/2' });
    await new Client(service.url, (await service.tenant()).secretKey).post(PATH, endpointBody());
    expect((await client.get(PATH)).body).toEqual({
      object: 'list',
      data: [second, first],
      has_more: false,
      next_cursor: first.id,
    });
  });

  it('has the next_cursor null if the list is empty', async () => {
    expect((await client.get(PATH)).body).toEqual({ object: 'list', data: [], has_more: false, next_cursor: null });
  });
});

describe('PATCH /v1/webhook_endpoints/:id: 200', () => {
  it('changes only the fields that are sent', async () => {
    const { secret: _secret, ...endpoint } = await created();
    const patch = async (changes: object) => {
      const answer = await client.request('PATCH', `${PATH}/${endpoint.id}`, changes);
      expect(answer.status).toBe(200);
      return answer.body;
    };
    expect(await patch({ active: false })).toEqual({ ...endpoint, active: false });
    expect(await patch({ active: true })).toEqual(endpoint);
    expect(await patch({})).toEqual(endpoint);
    expect(await patch({ description: null })).toEqual({ ...endpoint, description: null });
    const all = { url: 'https://example.org/', events: ['invoice.rejected'], description: 'New', active: false };
    expect(await patch(all)).toEqual({ ...endpoint, ...all });
    expect(await listed()).toEqual([{ ...endpoint, ...all }]);
  });
});

describe('PATCH /v1/webhook_endpoints/:id: 400', () => {
  it.each([
    ...WRONG.filter(([, changes]) => !('secret' in changes)),
    ['active that is no boolean', { active: 'false' }, 'active'],
    ['active of null', { active: null }, 'active'],
    ['events of null', { events: null }, 'events'],
    ['the secret', { secret: 'whsec_mine' }, 'secret'],
    ['the id', { id: 'we_x' }, 'id'],
  ] as typeof WRONG)('refuses %s and changes nothing', async (_name, changes, param) => {
    const { id } = await created();
    const before = await listed();
    const { status, body } = await client.request('PATCH', `${PATH}/${id}`, { active: false, ...changes });
    expect(body).toEqual({ error: { code: 'invalid_request', message: expect.any(String), param, status: 400 } });
    expect(status).toBe(400);
    expect(await listed()).toEqual(before);
  });
});

describe('DELETE /v1/webhook_endpoints/:id: 200', () => {
  it('deletes permanently', async () => {
    const { id } = await created();
    const answer = await client.request('DELETE', `${PATH}/${id}`);
    expect([answer.status, answer.body]).toEqual([200, { id, object: 'webhook_endpoint', deleted: true }]);
    expect(await listed()).toEqual([]);
    expect((await client.request('DELETE', `${PATH}/${id}`)).status).toBe(404);
  });
});

describe('PATCH and DELETE /v1/webhook_endpoints/:id: 404', () => {
  it('an unknown endpoint, one of another tenant or environment, or a malformed id; no endpoint changes', async () => {
    const { id } = await created();
    const other = await service.tenant();
    const live = await service.liveKey(tenant.id);
    const unknown = 'we_550e8400-e29b-41d4-a716-446655440000';
    for (const [token, target] of [
      [other.secretKey, id],
      [live, id],
      [tenant.secretKey, unknown],
      [tenant.secretKey, 'we_x'],
      [tenant.secretKey, '%00'],
      [tenant.secretKey, 'x'.repeat(2000)],
    ] as const) {
      const stranger = new Client(service.url, token);
      for (const answer of [
        await stranger.request('PATCH', `${PATH}/${target}`, { active: false }),
        await stranger.request('DELETE', `${PATH}/${target}`),
      ]) {
        expect([target, answer.status, answer.body.error.code]).toEqual([target, 404, 'resource_not_found']);
      }
    }
    expect((await listed())[0].active).toBe(true);
    expect((await new Client(service.url, live).get(PATH)).body.data).toEqual([]);
  });
});

describe('GET /v1/webhook_endpoints/:id: 405', () => {
  it('is not in the contract', async () => {
    const { id } = await created();
    const answer = await client.get(`${PATH}/${id}`);
    expect([answer.status, answer.headers.get('allow')?.split(', ').sort()]).toEqual([405, ['DELETE', 'PATCH']]);
  });
});

describe('the same in GraphQL', () => {
  it('creates, reads, changes and deletes', async () => {
    const { body } = await client.graphql(
      'mutation ($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { ... on CreateWebhookEndpointPayload { secret endpoint { id url events active } } } }',
      { input: { url: 'https://example.com/', events: ['invoice_signing'] } },
    );
    const { secret, endpoint } = body.data.createWebhookEndpoint;
    expect(secret).toMatch(/^whsec_/);
    const { id } = endpoint;
    const changed = await client.graphql(
      'mutation ($id: ID!) { updateWebhookEndpoint(id: $id, input: { active: false }) { ... on UpdateWebhookEndpointPayload { endpoint { id url active description } } } }',
      { id },
    );
    const now = { id, url: 'https://example.com/', active: false, description: null };
    expect(changed.body.data.updateWebhookEndpoint).toEqual({ endpoint: now });
    const read = '($id: ID!) { webhookEndpoint(id: $id) { id url active description } webhookEndpoints { id } }';
    expect((await client.graphql(`query ${read}`, { id })).body.data).toEqual({
      webhookEndpoint: now,
      webhookEndpoints: [{ id }],
    });
    const gone = await client.graphql(
      'mutation ($id: ID!) { deleteWebhookEndpoint(id: $id) { ... on DeleteWebhookEndpointPayload { id } } }',
      { id },
    );
    expect(gone.body.data.deleteWebhookEndpoint).toEqual({ id });
    const missing = await client.graphql('query ($id: ID!) { webhookEndpoint(id: $id) { id } }', { id });
    expect(missing.body.errors[0].extensions).toMatchObject({ code: 'resource_not_found', status: 404 });
  });

  it('reports every problem with its param', async () => {
    const { body } = await client.graphql(
      'mutation { createWebhookEndpoint(input: { url: "x", events: [] }) { ... on Error { code param status } ... on InvalidInputError { problems { param } } } }',
    );
    const { problems, ...first } = body.data.createWebhookEndpoint;
    expect(first).toEqual({ code: 'invalid_request', param: 'url', status: 400 });
    expect(problems).toEqual([{ param: 'url' }, { param: 'events' }]);
  });

  it('returns typed errors for an unknown endpoint and for too many endpoints', async () => {
    const typeOf = async (call: string) =>
      Object.values<{ __typename: string }>((await client.graphql(`mutation { ${call} { __typename } }`)).body.data)[0];
    expect(await typeOf('deleteWebhookEndpoint(id: "we_x")')).toEqual({ __typename: 'NotFoundError' });
    const endpoint = 'createWebhookEndpoint(input: { url: "https://example.com", events: [invoice_signing] })';
    for (let i = 0; i < 16; i++) await typeOf(endpoint);
    expect(await typeOf(endpoint)).toEqual({ __typename: 'LimitReachedError' });
  });
});
