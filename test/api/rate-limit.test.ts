import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, Client, invoiceBody } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
const LIMITS = { secret: 5, publishable: 7, address: 9 };

beforeAll(async () => {
  service = await startService({
    RATE_LIMIT_SECRET: String(LIMITS.secret),
    RATE_LIMIT_PUBLISHABLE: String(LIMITS.publishable),
    RATE_LIMIT_ADDRESS: String(LIMITS.address),
  });
});
afterAll(() => service.close());

const as = (token: string | null, at = service) => new Client(at.url, token);

function limitsOf({ status, headers }: Pick<Answer, 'status' | 'headers'>) {
  return [status, headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')];
}

describe('429', () => {
  it('follows when the limit of a secret key is exceeded; every kind of request counts, and every response has the headers', async () => {
    const tenant = await service.tenant();
    const client = as(tenant.secretKey);
    const answers = [];
    for (const path of ['/v1/invoices', '/v1/nothing', '/v1/invoices?limit=0', '/v1/webhook_endpoints'])
      answers.push(limitsOf(await client.get(path)));
    answers.push(limitsOf(await client.request('PUT', '/v1/invoices')));
    for (let i = 0; i < 2; i++) answers.push(limitsOf(await client.post('/v1/invoices', invoiceBody())));
    expect(answers).toEqual([
      [200, '5', '4'],
      [404, '5', '3'],
      [400, '5', '2'],
      [200, '5', '1'],
      [405, '5', '0'],
      [429, '5', '0'],
      [429, '5', '0'],
    ]);
    const another = (await service.app.manageKeys.create(tenant.id, 'secret', 'test')).token;
    const { status, body } = await as(another).get('/v1/invoices');
    // Each key has its own window, and refused requests created nothing.
    expect([status, body.data]).toEqual([200, []]);
  });

  it('follows when all keys of a tenant together exceed its limit, also one that an operator has set', async () => {
    const tenant = await service.tenant();
    const keys = [tenant.secretKey];
    while (keys.length < 12) keys.push((await service.app.manageKeys.create(tenant.id, 'secret', 'test')).token);
    const ask = async (key: string) => limitsOf(await as(key).get('/v1/invoices'));
    // Ten keys send all that they may; then the tenant has sent as much as ten keys.
    for (const key of keys.slice(0, 10)) for (let nth = 0; nth < LIMITS.secret; nth++) await ask(key);
    expect(await ask(keys[10] ?? '')).toEqual([429, '50', '0']);
    // Another tenant and the other environment have their own.
    expect(await ask((await service.tenant()).secretKey)).toEqual([200, '5', '4']);
    expect(await ask(await service.liveKey(tenant.id))).toEqual([200, '5', '4']);
    await service.app.tenants.limitRequests(tenant.id, 60);
    await expect.poll(() => ask(keys[11] ?? '')).toEqual([200, '5', expect.any(String)]);
    await service.app.tenants.limitRequests(tenant.id, null);
    await expect.poll(async () => (await ask(keys[11] ?? ''))[0]).toBe(429);
    const publishable = as(tenant.publishableKey);
    expect(limitsOf(await publishable.get('/v1/invoices/inv_x?client_secret=x'))[1]).toBe('7');
  });

  it('counts each root field of a mutation as a request, and a query as one', async () => {
    const resend = (count: number) =>
      `mutation { ${Array.from({ length: count }, (_, i) => `a${i}: deleteWebhookEndpoint(id: "we_1") { __typename }`).join(' ')} }`;
    for (const [path, Accept] of [
      ['/graphql', 'application/json'],
      ['/graphql/stream', 'text/event-stream'],
    ] as const) {
      const client = as((await service.tenant()).secretKey);
      const post = (query: string) => client.post(path, { query }, { Accept });
      expect(limitsOf(await post('{ a: __typename b: __typename c: __typename }'))).toEqual([200, '5', '4']);
      expect(limitsOf(await post(resend(3)))).toEqual([200, '5', '1']);
      const refused = await post(resend(2));
      expect(limitsOf(refused)).toEqual([429, '5', '0']);
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(refused.body.errors[0].extensions).toMatchObject({ code: 'rate_limit_exceeded', status: 429 });
    }
  });

  it('says when to retry: whole seconds in Retry-After, the UNIX second of the window’s end in X-RateLimit-Reset', async () => {
    const client = as((await service.tenant()).secretKey);
    for (let i = 0; i < LIMITS.secret; i++) await client.get('/v1/invoices');
    const { status, headers, body } = await client.get('/v1/invoices');
    expect([status, body]).toEqual([
      429,
      { error: { code: 'rate_limit_exceeded', message: expect.any(String), param: null, status: 429 } },
    ]);
    const now = Date.now() / 1000;
    expect(headers.get('x-ratelimit-reset')).toMatch(/^\d{10}$/);
    const reset = Number(headers.get('x-ratelimit-reset'));
    expect(reset).toBeGreaterThan(now);
    expect(reset).toBeLessThanOrEqual(now + 61);
    expect(headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/);
    expect(body.error.message).toContain(`${headers.get('retry-after')} s`);
  });

  it('a publishable key and each client_secret have a publishable limit of their own', async () => {
    const tenant = await service.tenant();
    const create = async () => (await as(tenant.secretKey).post('/v1/invoices', invoiceBody())).body;
    const [first, second] = [await create(), await create()];
    for (let i = LIMITS.publishable - 1; i >= -1; i--) {
      const expected = [i < 0 ? 429 : 200, '7', String(Math.max(0, i))];
      expect(limitsOf(await as(first.client_secret).get(`/v1/invoices/${first.id}`))).toEqual(expected);
    }
    expect(limitsOf(await as(second.client_secret).get(`/v1/invoices/${second.id}`))).toEqual([200, '7', '6']);
    const query = `?client_secret=${first.client_secret}`;
    expect(limitsOf(await as(tenant.publishableKey).get(`/v1/invoices/${first.id}${query}`))).toEqual([200, '7', '6']);
    expect(limitsOf(await as(tenant.publishableKey).post('/v1/invoices', {}))).toEqual([403, '7', '5']);
  });

  it('applies per address to requests without a credential, including documents and unknown paths', async () => {
    const own = await startService({ RATE_LIMIT_ADDRESS: '6' });
    try {
      const client = as((await own.tenant()).secretKey, own);
      const { xml_url } = await client.settled((await client.post('/v1/invoices', invoiceBody())).body.id);
      const nobody = as(null, own);
      const answers = [
        await fetch(xml_url),
        await nobody.get('/v1/invoices'),
        await nobody.get('/v2/invoices'),
        await nobody.get(`/files/x/${'A'.repeat(32)}.pdf`),
        await as('sk_test_unknown', own).get('/v1/invoices'),
        await nobody.request('POST', '/nothing'),
        await fetch(xml_url),
        await nobody.get('/v1/invoices'),
      ];
      expect(answers.map(limitsOf)).toEqual([
        [200, '6', '5'],
        [401, '6', '4'],
        [404, '6', '3'],
        [404, '6', '2'],
        [401, '6', '1'],
        [404, '6', '0'],
        [429, '6', '0'],
        [429, '6', '0'],
      ]);
      expect(answers.at(-1)?.headers.get('retry-after')).toMatch(/^\d+$/);
      // Requests with a credential are not limited by others from the same address.
      expect((await client.get('/v1/invoices')).status).toBe(200);
    } finally {
      await own.close();
    }
  });
});

it('reading the documentation, or the element on pages of other sites, leaves an address all of its requests', async () => {
  const own = await startService({ RATE_LIMIT_ADDRESS: '2' });
  try {
    const ask = async (path: string) => limitsOf(await as(null, own).get(path));
    const COMMON = [
      '/docs',
      '/docs/fr',
      '/docs/errors/amount_mismatch.md',
      '/llms.txt',
      '/live/v1.js',
      '/live/v1.json',
    ];
    for (const [nth, path] of COMMON.entries())
      expect([path, ...(await ask(path)).slice(1)]).toEqual([path, '20', String(19 - nth)]);
    expect(await ask('/auth/session')).toEqual([401, '2', '1']);
    expect(await ask('/docsearch')).toEqual([404, '2', '0']);
    expect((await ask('/live'))[1]).toBe('20');
    // They are bounded, too.
    for (let nth = COMMON.length + 1; nth < 20; nth++) await ask('/docs/nothing');
    expect(await ask('/docs')).toEqual([429, '20', '0']);
  } finally {
    await own.close();
  }
});

describe('an address', () => {
  it('is a /64 network in IPv6, and the same IPv4 address in every notation', async () => {
    const own = await startService({ RATE_LIMIT_ADDRESS: '2', TRUST_PROXY: '1' });
    try {
      const from = async (address: string) =>
        limitsOf(await as(null, own).get('/nothing', { 'X-Forwarded-For': address })).join(' ');
      expect(await from('2001:db8:0:1::1')).toBe('404 2 1');
      expect(await from('2001:db8:0:1:a:b:c:d')).toBe('404 2 0');
      expect(await from('2001:db8:0:1::2')).toBe('429 2 0');
      expect(await from('2001:db8:0:2::1')).toBe('404 2 1');
      expect(await from('192.0.2.1')).toBe('404 2 1');
      expect(await from('::ffff:192.0.2.1')).toBe('404 2 0');
      expect(await from('::ffff:192.0.2.2')).toBe('404 2 1');
      // Some proxies write the port, which differs with each connection.
      expect(await from('203.0.113.7:51034')).toBe('404 2 1');
      expect(await from('203.0.113.7:51035')).toBe('404 2 0');
      expect(await from('[2001:db8:0:9::1]:51036')).toBe('404 2 1');
      expect(await from('"[2001:db8:0:9::2]:51037"')).toBe('404 2 0');
    } finally {
      await own.close();
    }
  });
});

describe('X-RateLimit headers', () => {
  it('are also on health checks, which are not counted and never refused', async () => {
    const own = await startService({ RATE_LIMIT_ADDRESS: '2' });
    try {
      const nobody = as(null, own);
      for (const path of ['/healthz', '/readyz', '/healthz', '/readyz', '/healthz']) {
        const { status, headers } = await nobody.get(path);
        expect(limitsOf({ status, headers })).toEqual([200, '2', '2']);
        expect(headers.get('x-ratelimit-reset')).toMatch(/^\d{10}$/);
      }
      expect(limitsOf(await nobody.get('/nothing'))).toEqual([404, '2', '1']);
      for (let i = 0; i < 3; i++) await nobody.get('/nothing');
      expect(limitsOf(await nobody.get('/healthz'))).toEqual([200, '2', '2']);
    } finally {
      await own.close();
    }
  });

  it('are also on streams', async () => {
    const { body } = await as((await service.tenant()).secretKey).post('/v1/invoices', invoiceBody());
    const stream = await fetch(`${service.url}/v1/invoices/${body.id}/stream`, {
      headers: { Authorization: `Bearer ${body.client_secret}` },
    });
    await stream.body?.cancel();
    expect(limitsOf(stream)).toEqual([200, '7', '6']);
    expect(stream.headers.get('x-ratelimit-reset')).toMatch(/^\d{10}$/);
  });

  it('have the default limits: 100 for a secret key, 300 for a publishable key or client_secret, 100 for an address', async () => {
    const plain = await startService({ RATE_LIMIT_SECRET: '', RATE_LIMIT_PUBLISHABLE: '', RATE_LIMIT_ADDRESS: '' });
    try {
      const tenant = await plain.tenant();
      const { headers, body } = await as(tenant.secretKey, plain).post('/v1/invoices', invoiceBody());
      expect(headers.get('x-ratelimit-limit')).toBe('100');
      for (const token of [tenant.publishableKey, body.client_secret]) {
        expect((await as(token, plain).get('/v1/invoices')).headers.get('x-ratelimit-limit')).toBe('300');
      }
      expect((await as(null, plain).get('/nothing')).headers.get('x-ratelimit-limit')).toBe('100');
    } finally {
      await plain.close();
    }
  });
});
