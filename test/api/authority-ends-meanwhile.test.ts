import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resetOperator } from '../../src/domain/installation/first-start.ts';
import { invitationId } from '../../src/domain/person/invitation.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { schema } from '../../src/graphql/schema.ts';
import { createInstallationRepository } from '../../src/storage/installation.ts';
import { createPeopleRepository } from '../../src/storage/people.ts';
import { accountRoutes } from '../../src/transport/accounts/account-routes.ts';
import type { AccountRouteParts } from '../../src/transport/accounts/steps.ts';
import { type OperatorRouteParts, operatorRoutes } from '../../src/transport/operator-routes.ts';
import { ROUTES } from '../../src/transport/rest/routes.ts';
import { codeAt, earlierCode } from '../support/authenticator.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { Browser, invite, mailedToken, signedIn } from '../support/person.ts';
import { someOf } from '../support/samples.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';
import { beginRequest, type Sent } from '../support/slow-request.ts';

/**
 * Every call that changes something, with an authority that ends while the body of the call arrives: what it may do is
 * decided when the body is complete (docs/decisions/0020).
 */

let service: TestService;
let tenant: TestTenant;
beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
});
afterAll(() => service.close());

/** Begins all calls, ends the authority, and completes the calls. */
async function outcomes(calls: readonly Sent[], end: () => Promise<unknown>) {
  const arrived: IncomingMessage[] = [];
  const keep = (message: unknown) => arrived.push((message as { request: IncomingMessage }).request);
  subscribe('http.server.request.start', keep);
  const begun = await Promise.all(calls.map((call) => beginRequest(service.url, call)));
  // A body is read once the first question was answered, so every call has begun with the authority.
  const reading = () => arrived.filter((request) => request.listenerCount('data') > 0).length;
  await expect.poll(reading).toBe(calls.length);
  unsubscribe('http.server.request.start', keep);
  await end();
  const answers = await Promise.all(begun.map((each) => each.finish()));
  return answers.map(({ status, text }, i) => {
    const call = calls[i] as Sent;
    const code = /"code":"(\w+)"/.exec(text)?.[1] ?? text.slice(0, 100);
    return `${call.method} ${call.path} ${call.body.slice(0, 60)}: ${status} ${code}`;
  });
}

const expected = (calls: readonly Sent[], answer: string) =>
  calls.map(({ method, path, body }) => `${method} ${path} ${body.slice(0, 60)}: ${answer}`);

const MUTATIONS = Object.keys(schema.getMutationType()?.getFields() ?? {});

/** Each mutation, alone and at the addresses of streams. What it lacks would be found when it runs. */
function mutations(headers: Record<string, string>, token: string): Sent[] {
  const calls = MUTATIONS.map((name) => {
    const body = JSON.stringify({ query: `mutation { ${name} { __typename } }` });
    const post = (path: string, more = {}): Sent => ({ method: 'POST', path, headers: { ...headers, ...more }, body });
    const inStream = { 'X-GraphQL-Event-Stream-Token': token, Accept: 'application/json' };
    return {
      alone: post('/graphql'),
      streamed: [post('/graphql/stream', { Accept: 'text/event-stream' }), post('/graphql/stream', inStream)],
    };
  });
  return [...calls.map(({ alone }) => alone), ...someOf(calls.flatMap(({ streamed }) => streamed))];
}

async function reserve(headers: Record<string, string>): Promise<string> {
  const { status, body } = await new Client(service.url, headers, false).request('PUT', '/graphql/stream');
  expect(status).toBe(201);
  return body;
}

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
const createInvoice = JSON.stringify({
  query: `mutation ($input: CreateInvoiceInput!) { createInvoice(input: $input) { __typename ... on Error { code } } }`,
  variables: { input: invoiceInput() },
});

function invoiceInput() {
  return {
    amount: 12000,
    currency: 'MAD',
    customer: { ice: '001234567000089', name: 'Atlas', email: 'a@example.com' },
    lines: [{ description: 'x', quantity: 1, unitPrice: 10000, taxRate: 20 }],
  };
}

beforeAll(async () => {
  tenant = await service.tenant(SPECIMEN_SELLER);
});

const stored = (name: string) => service.app.store.db.collection(name).countDocuments({ tenantId: tenant.id });

describe('an API key', () => {
  it('that is revoked changes nothing by REST or GraphQL', async () => {
    const { token } = await service.app.manageKeys.create(tenant.id, 'secret', 'test');
    const client = new Client(service.url, token);
    const made = await client.post('/v1/webhook_endpoints', {
      url: 'https://example.com/x',
      events: ['invoice.accepted'],
    });
    const headers = bearer(token);
    const bodies: Readonly<Record<string, object>> = {
      createInvoice: invoiceBody(),
      createWebhookEndpoint: { url: 'https://example.com/y', events: ['invoice.accepted'] },
      updateWebhookEndpoint: { description: 'changed' },
    };
    const rest = ROUTES.filter(({ body }) => body).map(({ method, path, operation }): Sent => {
      const body = bodies[operation];
      if (!body) throw new Error(`the test has no body for ${operation}`);
      return { method, path: path.replace(':id', made.body.id), headers, body: JSON.stringify(body) };
    });
    const calls = [
      ...rest,
      { method: 'PUT', path: '/graphql/stream', headers, body: 'xx' },
      {
        method: 'DELETE',
        path: '/graphql/stream?operationId=x',
        body: 'xx',
        headers: { ...headers, 'X-GraphQL-Event-Stream-Token': await reserve(headers) },
      },
      { method: 'POST', path: '/graphql', headers, body: createInvoice },
      ...mutations(headers, await reserve(headers)),
    ];
    expect(rest.length).toBeGreaterThan(2);
    const before = [await stored('invoices'), await stored('webhook_endpoints')];
    const id = (await service.app.tenants.keysOf(tenant.id)).at(-1)?.id ?? '';
    const seen = await outcomes(calls, () => service.app.tenants.revokeKey(id, new Date()));
    expect(seen).toEqual(expected(calls, '401 api_key_revoked'));
    expect([await stored('invoices'), await stored('webhook_endpoints')]).toEqual(before);
  });

  it('of a tenant that is suspended changes nothing, from the moment of the answer', async () => {
    const headers = bearer(tenant.secretKey);
    const calls: Sent[] = [
      { method: 'POST', path: '/v1/invoices', headers, body: JSON.stringify(invoiceBody()) },
      { method: 'POST', path: '/graphql', headers, body: createInvoice },
      {
        method: 'POST',
        path: '/graphql/stream',
        headers: { ...headers, Accept: 'text/event-stream' },
        body: createInvoice,
      },
    ];
    const before = await stored('invoices');
    const seen = await outcomes(calls, () => service.app.tenants.setSuspended(tenant.id, new Date()));
    expect(seen[0]).toContain('403 tenant_suspended');
    for (const each of seen) expect(each).toContain('tenant_suspended');
    // The same on a connection that sends it in one piece.
    const whole = await new Client(service.url, tenant.secretKey).post('/v1/invoices', invoiceBody());
    expect([whole.status, whole.body.error.code]).toEqual([403, 'tenant_suspended']);
    expect(await stored('invoices')).toBe(before);
    await service.app.tenants.setSuspended(tenant.id, null);
    expect((await new Client(service.url, tenant.secretKey).post('/v1/invoices', invoiceBody())).status).toBe(201);
  });
});

describe('a member', () => {
  const grants = () => service.app.store.db.collection<{ _id: string }>('person_grants');
  async function member() {
    const { browser, id } = await signedIn(service, { memberships: [{ tenantId: tenant.id, role: 'owner' }] });
    const headers = browser.credential(tenant.id);
    const calls: Sent[] = [
      { method: 'POST', path: '/graphql', headers, body: createInvoice },
      ...mutations(headers, await reserve(headers)),
    ];
    return { browser, id, headers, calls };
  }

  it('who is removed changes nothing', async () => {
    const { calls, id } = await member();
    const before = await stored('invoices');
    const remove = () => grants().updateOne({ _id: id }, { $set: { memberships: [] } });
    expect(await outcomes(calls, remove)).toEqual(expected(calls, '404 resource_not_found'));
    expect(await stored('invoices')).toBe(before);
  });

  it('who has signed out changes nothing', async () => {
    const { calls, browser } = await member();
    const before = await stored('invoices');
    expect(await outcomes(calls, () => browser.post('/auth/sign-out'))).toEqual(expected(calls, '401 not_signed_in'));
    expect(await stored('invoices')).toBe(before);
  });

  it('who has another role by then acts with that role', async () => {
    const { id, headers } = await member();
    const calls: Sent[] = ['/graphql', '/graphql/stream'].map((path) => ({
      method: 'POST',
      path,
      body: createInvoice,
      headers: path === '/graphql' ? headers : { ...headers, Accept: 'text/event-stream' },
    }));
    const before = await stored('invoices');
    const memberships = [{ tenantId: tenant.id, role: 'viewer' }];
    const seen = await outcomes(calls, () => grants().updateOne({ _id: id }, { $set: { memberships } }));
    for (const each of seen) expect(each).toContain('insufficient_scope');
    expect(await stored('invoices')).toBe(before);
  });
});

/** A body for each path that changes something; the rest take none. */
const OPERATOR_BODIES: Readonly<Record<string, object>> = {
  '/ops/api/tenants': { name: 'Made too late' },
  '/ops/api/tenants/:id/profile': { cnss: '1' },
  '/ops/api/tenants/:id/keys': { kind: 'secret', environment: 'test' },
  '/ops/api/tenants/:id/invitations': { role: 'owner' },
  '/ops/api/authority/pause': { reason: 'maintenance' },
};
const OPERATOR_PATHS = operatorRoutes({} as OperatorRouteParts).flatMap(([method, path]) =>
  method === 'POST' ? [path] : [],
);
it('bodies are of paths that operators have', () => {
  expect(OPERATOR_PATHS).toEqual(expect.arrayContaining(Object.keys(OPERATOR_BODIES)));
});
const JOB_CHANGES = ['requeue', 'retry', 'delete', 'pause', 'resume'];

describe('an operator', () => {
  const jobs = (headers: Record<string, string>): Sent[] =>
    JOB_CHANGES.map((what) => ({
      method: 'POST',
      path: `/ops/jobs/api/jobs/${what}`,
      headers,
      body: JSON.stringify({ jobIds: [] }),
    }));

  it.each<[string, (browser: Browser, id: string) => Promise<unknown>]>([
    ['signed out', (browser) => browser.post('/auth/sign-out')],
    [
      'lost the grant',
      (_browser, id) =>
        service.app.store.db
          .collection<{ _id: string }>('person_grants')
          .updateOne({ _id: id }, { $set: { isOperator: false } }),
    ],
  ])('who has %s changes nothing', async (_name, end) => {
    const { browser, id } = await signedIn(service, { isOperator: true });
    const {
      'Fatoura-Tenant': _tenant,
      'Fatoura-Environment': _environment,
      ...headers
    } = browser.credential(tenant.id);
    const calls: Sent[] = [
      ...OPERATOR_PATHS.map((path) => ({
        method: 'POST',
        path: path.replace(':id', path.includes('/tenants/') ? tenant.id : 'x'),
        headers,
        body: JSON.stringify(OPERATOR_BODIES[path] ?? {}),
      })),
      ...jobs(headers),
    ];
    const audited = () => service.app.store.db.collection('audit_log').countDocuments({ 'actor.id': id });
    const before = await audited();
    expect(await outcomes(calls, () => end(browser, id))).toEqual(expected(calls, '401 not_signed_in'));
    expect(await audited()).toBe(before);
    const { suspendedAt } = (await service.app.tenants.find(tenant.id)) ?? {};
    expect(suspendedAt).toBeNull();
  });

  it('whose password was reset changes no job', async () => {
    const password = service.app.firstStart.operatorPassword;
    const calls = jobs({ Authorization: `Basic ${btoa(`operator:${password}`)}` });
    const reset = () => resetOperator(createInstallationRepository(service.app.store.db));
    expect(await outcomes(calls, reset)).toEqual(expected(calls, '401 not_signed_in'));
  });
});

describe('an account', () => {
  /** What a path does not need a session for is in its body: another test ends it while the body arrives. */
  const WITHOUT_SESSION = [
    '/auth/sign-in',
    '/auth/sign-in/code',
    '/auth/accept-invitation',
    '/auth/invitation',
    '/auth/reset-password',
    // Nothing that could end.
    '/auth/sign-out',
    '/auth/request-password-reset',
    '/auth/sign-in/passkey/begin',
    // Its challenge is used up by the answer (test/storage/sign-in-under-way.test.ts).
    '/auth/sign-in/passkey',
  ];
  const paths = accountRoutes({} as AccountRouteParts).flatMap(([method, path]) => (method === 'POST' ? [path] : []));
  const post = (path: string, headers: Record<string, string>, body: object): Sent => ({
    method: 'POST',
    path,
    headers,
    body: JSON.stringify(body),
  });
  const headersOf = (browser: Browser) => {
    const {
      'Fatoura-Tenant': _tenant,
      'Fatoura-Environment': _environment,
      ...headers
    } = browser.credential(tenant.id);
    return headers;
  };

  it('of a person who has signed out is changed by no path', async () => {
    const { browser, password } = await signedIn(service);
    const bodies: Readonly<Record<string, object>> = {
      '/auth/change-password': { currentPassword: password, newPassword: 'another good one 77' },
      '/auth/change-name': { name: 'Somebody else' },
      '/auth/new-address': { email: 'else@example.com', password },
      '/auth/new-address/confirm': { token: 'x' },
      '/auth/sessions/end': { id: 'x' },
      '/auth/sessions/end-others': {},
      '/auth/confirm': { password },
      '/auth/codes/begin': { password },
      '/auth/codes/confirm': { code: '123456' },
      '/auth/codes/remove': { password },
      '/auth/codes/recovery': { password },
      '/auth/passkeys/begin': { password },
      '/auth/passkeys/add': { name: 'X', response: { id: 'x' } },
      '/auth/passkeys/remove': { id: 'x', password },
    };
    expect(paths.toSorted()).toEqual([...WITHOUT_SESSION, ...Object.keys(bodies)].toSorted());
    const calls = Object.entries(bodies).map(([path, body]) => post(path, headersOf(browser), body));
    const end = () => browser.post('/auth/sign-out');
    expect(await outcomes(calls, end)).toEqual(expected(calls, '401 not_signed_in'));
  });

  it('is opened by no password, link, code or invitation that has ended', async () => {
    const { browser, email, password, id } = await signedIn(service);
    const { uri } = (await browser.post('/auth/codes/begin', { password })).body;
    expect((await browser.post('/auth/codes/confirm', { code: await earlierCode(uri) })).status).toBe(204);
    const waiting = new Browser(service.url);
    expect((await waiting.post('/auth/sign-in', { email, password })).body).toEqual({ secondFactorRequired: true });
    await browser.post('/auth/request-password-reset', { email });
    let link = '';
    await expect.poll(async () => (link = (await mailedToken(service, email)) ?? '')).not.toBe('');
    const grants = { memberships: [{ tenantId: tenant.id, role: 'viewer' }] } as const;
    const token = await invite(service, grants);
    const anybody = headersOf(new Browser(service.url));
    const calls = [
      post('/auth/sign-in', anybody, { email, password }),
      post('/auth/sign-in/code', headersOf(waiting), { code: codeAt(uri) }),
      post('/auth/reset-password', anybody, { token: link, newPassword: 'violet anchor seven drums' }),
      post('/auth/accept-invitation', anybody, { token, email, name: 'X', password }),
      post('/auth/invitation', anybody, { token }),
    ];
    const seen = await outcomes(calls, async () => {
      const change = { currentPassword: password, newPassword: 'another good one 77' };
      expect((await browser.post('/auth/change-password', change)).status).toBe(204);
      const people = createPeopleRepository(service.app.store.db);
      expect(await people.revokeInvitation(tenant.id, invitationId(token), new Date())).toBe(true);
    });
    expect(seen.map((each) => each.replace(/^POST (\S+) .*: /, '$1: '))).toEqual([
      '/auth/sign-in: 401 invalid_credentials',
      '/auth/sign-in/code: 401 not_signed_in',
      '/auth/reset-password: 404 resource_not_found',
      '/auth/accept-invitation: 404 resource_not_found',
      '/auth/invitation: 200 {"state":"revoked"}',
    ]);
    expect(await service.app.store.db.collection('person_sessions').countDocuments({ userId: id })).toBe(1);
  });
});
