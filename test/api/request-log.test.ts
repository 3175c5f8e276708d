import { expect, it, vi } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { signedIn } from '../support/person.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;
withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});

const FIELDS =
  'id method route operation status code param apiKeyId standsFor milliseconds documentId invoice { id number }';

/** The newest requests of a key, once one has this id. */
async function logWith(id: string | null, by = client) {
  return vi.waitFor(
    async () => {
      const { body } = await by.graphql(`query Logged { apiRequests(first: 50) { nodes { ${FIELDS} } } }`);
      const { nodes } = body.data.apiRequests;
      const found = nodes.find((each: { id: string }) => each.id === id);
      if (!found) throw new Error(`the log has no ${id}`);
      return { found, text: JSON.stringify(nodes) };
    },
    // Each look is in the log itself, of which the newest 50 are asked for.
    { timeout: 40_000, interval: 1000 },
  );
}
const idOf = ({ headers }: { headers: Headers }) => headers.get('request-id');

it('requests over REST are in the log by their ids, without values of the path and the body', async () => {
  const created = await client.post('/v1/invoices', invoiceBody({ metadata: { secret: 'text of the client' } }));
  const refused = await client.get('/v1/invoices?limit=0');
  const unknown = await client.get(`/v1/invoices/${created.body.client_secret}`);
  const nowhere = await client.request('GET', '/v1/my-name-is-amina');
  const { found } = await logWith(idOf(created));
  const made = { method: 'POST', route: '/v1/invoices', status: 201, code: null, param: null, standsFor: 1 };
  expect(found).toMatchObject({ ...made, apiKeyId: expect.stringMatching(/^key_/) });
  const { id } = created.body;
  expect(found).toMatchObject({ documentId: id, invoice: { id } });
  // Its path names it; nobody else's name it. Of many equal readings in a minute only the first ten are in the log.
  const statusOf = async () => (await client.graphql(`{ invoice(id: "${id}") { status } }`)).body.data.invoice.status;
  await expect.poll(statusOf).toMatch(/accepted/i);
  const byPath = (await logWith(idOf(await client.get(`/v1/invoices/${id}`)))).found;
  expect(byPath).toMatchObject({ documentId: id, invoice: { id, number: expect.any(String) } });
  const others = newId('inv');
  expect((await logWith(idOf(await client.get(`/v1/invoices/${others}`)))).found).toMatchObject({
    documentId: others,
    invoice: null,
  });
  const wrong = { route: '/v1/invoices', status: 400, code: 'invalid_request', param: 'limit' };
  expect((await logWith(idOf(refused))).found).toMatchObject(wrong);
  const answer = await logWith(idOf(unknown));
  expect(answer.found).toMatchObject({
    documentId: null,
    invoice: null,
    route: '/v1/invoices/:id',
    status: 404,
    code: 'resource_not_found',
  });
  const { found: other, text } = await logWith(idOf(nowhere));
  expect(other).toMatchObject({ route: 'other', status: 404 });
  for (const secret of [created.body.client_secret, tenant.secretKey, 'amina', 'text of the client'])
    expect(text).not.toContain(secret);
});

it('is filtered by key or by path', async () => {
  const { found } = await logWith(idOf(await client.get('/v1/invoices?limit=0')));
  const page = async (args: string) => {
    const { body } = await client.graphql(`{ apiRequests(${args}, first: 2) { nodes { route apiKeyId } } }`);
    return body.data?.apiRequests.nodes ?? body.errors[0].extensions;
  };
  const byRoute = await page('route: "/v1/invoices"');
  expect(byRoute[0]).toEqual({ route: '/v1/invoices', apiKeyId: found.apiKeyId });
  expect((await page(`apiKeyId: "${found.apiKeyId}"`)).length).toBeGreaterThan(0);
  expect(await page('apiKeyId: "key_x"')).toEqual([]);
  expect(await page('route: "/v1/other"')).toEqual([]);
  for (const [args, param] of [
    ['apiKeyId: "key_x", route: "/v1/invoices"', 'apiKeyId'],
    ['route: "/v1/invoices", failed: true', 'route'],
    ['route: "/v1/invoices", kind: "k"', 'route'],
    [`route: "${'x'.repeat(301)}"`, 'route'],
  ])
    expect(await page(args ?? '')).toMatchObject({ code: 'invalid_request', param });
});

it('a request above the limit has the path that it did not reach', async () => {
  const own = await service.tenant();
  await service.app.tenants.limitRequests(own.id, 2);
  const by = new Client(service.url, own.secretKey);
  const answers = [];
  while (answers.at(-1)?.status !== 429) answers.push(await by.get('/v1/invoices/inv_x'));
  const log = service.app.store.db.collection('request_log');
  const refused = () => log.findOne({ tenantId: own.id, status: 429 });
  await expect.poll(refused, { timeout: 20_000 }).toMatchObject({ route: '/v1/invoices/:id' });
});

it('GraphQL requests have the name of their operation, and the error of an answer with status 200', async () => {
  const wrong = await client.graphql('query Missing { invoice(id: "inv_x") { id } }');
  const typed = await client.graphql(
    'mutation Wrong { deleteWebhookEndpoint(id: "we_x") { ... on Error { code message } } }',
  );
  // By another tenant, because of many like requests only the first ones of a minute are kept.
  const own = new Client(service.url, (await service.tenant()).secretKey);
  const rights = [1, 2].map(() => own.graphql('query Right { tenant { id } }'));
  expect((await logWith(idOf(wrong))).found).toMatchObject({
    method: 'POST',
    route: '/graphql',
    operation: 'Missing',
    status: 200,
    code: 'resource_not_found',
  });
  expect((await logWith(idOf(typed))).found).toMatchObject({ operation: 'Wrong', code: 'resource_not_found' });
  for (const right of await Promise.all(rights))
    expect((await logWith(idOf(right), own)).found).toMatchObject({ operation: 'Right', code: null, status: 200 });
});

it('names that a client made up are not recorded, nor what an answer has under the name of an error', async () => {
  const own = new Client(service.url, (await service.tenant()).secretKey);
  const issued = await own.graphql(
    'mutation Issue { createApiKey(kind: secret) { ... on CreateApiKeyPayload { code: token message: token } } }',
  );
  const token = issued.body.data.createApiKey.code as string;
  expect(token).toMatch(/^sk_test_/);
  const log = await logWith(idOf(issued), own);
  expect(log.found).toMatchObject({ operation: 'Issue', status: 200, code: null });
  expect(log.text).not.toContain(token);
  const invoice = invoiceBody();
  const asked = [
    [await own.get(`/v1/invoices?${token}=1`), '*'],
    [await own.post('/v1/invoices', { 'Amina El Fassi 06': 1, ...invoice }), '*'],
    [
      await own.post('/v1/invoices', { ...invoice, customer: { ...Object(invoice.customer), 'Amina El Fassi 06': 1 } }),
      'customer.*',
    ],
    [await own.post('/v1/invoices', { ...invoice, metadata: { 'Amina El Fassi 06': 1 } }), 'metadata.*'],
    [await own.get('/v1/invoices?limit=0'), 'limit'],
  ] as const;
  for (const [answer, param] of asked) {
    const entry = await logWith(idOf(answer), own);
    expect(entry.text).not.toMatch(/Amina|sk_test_/);
    expect(entry.found).toMatchObject({ status: 400, param });
  }
});

it('failures are grouped by kind, and a kind and a page of them can be listed', async () => {
  const other = await service.tenant();
  const own = new Client(service.url, other.secretKey);
  const ask = async (query: string) => (await own.graphql(query)).body;
  for (let i = 0; i < 15; i++) await own.get('/v1/invoices?limit=0');
  const last = await own.get('/v1/invoices/inv_x');
  await logWith(idOf(last), own);
  const failures = async () => (await ask('{ apiRequestFailures { kind status count } }')).data.apiRequestFailures;
  // The groups are written after the requests.
  await expect.poll(async () => (await failures()).map(({ status }: { status: number }) => status)).toEqual([404, 400]);
  const groups = await failures();
  // Those beyond the tenth are counted when the minute is over.
  expect(groups[1].count).toBeGreaterThanOrEqual(5);
  const kind = JSON.stringify(groups[1].kind);
  const page = `apiRequests(kind: ${kind}, first: 3) { nodes { id status } pageInfo { hasNextPage endCursor } }`;
  const { nodes, pageInfo } = (await ask(`{ ${page} }`)).data.apiRequests;
  expect([nodes.map(({ status }: { status: number }) => status), pageInfo.hasNextPage]).toEqual([
    [400, 400, 400],
    true,
  ]);
  const next = await ask(`{ apiRequests(kind: ${kind}, first: 3, after: "${pageInfo.endCursor}") { nodes { id } } }`);
  const ids = next.data.apiRequests.nodes.map(({ id }: { id: string }) => id);
  expect(ids.some((id: string) => nodes.some((each: { id: string }) => each.id === id))).toBe(false);
  for (const args of ['first: 0', 'first: 101', `kind: ${kind}, failed: true`, 'after: "req_x"', 'after: "x"'])
    expect((await ask(`{ apiRequests(${args}) { nodes { id } } }`)).errors[0].extensions.code).toBe('invalid_request');
});

it('another tenant, the other environment and a viewer see nothing of it', async () => {
  const id = idOf(await client.get('/v1/invoices?limit=0'));
  await logWith(id);
  const query = `{ apiRequest(id: "${id}") { id } }`;
  expect((await client.graphql(query)).body.data.apiRequest).toEqual({ id });
  const live = new Client(service.url, await service.liveKey(tenant.id));
  const foreign = new Client(service.url, (await service.tenant()).secretKey);
  for (const by of [live, foreign]) {
    expect((await by.graphql(query)).body.errors[0].extensions.status).toBe(404);
    expect(JSON.stringify((await by.graphql(`{ apiRequests { nodes { id } } }`)).body)).not.toContain(id);
  }
  const { browser } = await signedIn(service, { memberships: [{ tenantId: tenant.id, role: 'viewer' }] });
  const viewer = new Client(service.url, browser.credential(tenant.id));
  expect((await viewer.graphql(query)).body.errors[0].extensions.status).toBe(403);
});

it('a request without a valid key, and those of pages, are not in it', async () => {
  const own = await service.tenant();
  const by = new Client(service.url, own.secretKey);
  const { browser } = await signedIn(service, { memberships: [{ tenantId: own.id, role: 'owner' }] });
  const person = new Client(service.url, browser.credential(own.id));
  await new Client(service.url, 'sk_test_wrong').get('/v1/invoices');
  await person.graphql('query Page { tenant { id } }');
  const last = await by.get('/v1/invoices');
  const { text } = await logWith(idOf(last), by);
  expect(text).not.toContain('Page');
  // An id may have the digits, too.
  expect(text).not.toMatch(/"status":401\b/);
});
