import { describe, expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { rawRequest, sendRaw } from '../support/raw-http.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;
let invoice: { id: string; client_secret: string };

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
  invoice = (await client.post('/v1/invoices', invoiceBody())).body;
  await client.settled(invoice.id);
});

const bearer = () => `Authorization: Bearer ${tenant.secretKey}`;

describe('pages of other origins', () => {
  const preflight = (path: string) =>
    client.request('OPTIONS', path, undefined, {
      Authorization: '',
      Origin: 'https://shop.example',
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'authorization,content-type,last-event-id,idempotency-key,if-none-match',
    });

  it.each(['/v1/invoices', '/v1/invoices/x/stream', '/graphql', '/graphql/stream', '/files/x/y.xml'])(
    'OPTIONS %s: a preflight needs no credential, does not count for the rate limit, and is cached for two hours',
    async (path) => {
      const before = await preflight(path);
      const { status, headers, body } = await preflight(path);
      expect([status, body]).toEqual([204, '']);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-max-age')).toBe('7200');
      const allowed = headers.get('access-control-allow-headers')?.toLowerCase().split(',');
      for (const name of [
        'authorization',
        'content-type',
        'idempotency-key',
        'last-event-id',
        'if-none-match',
        'range',
        'traceparent',
        'tracestate',
        'baggage',
        'sentry-trace',
        'apollographql-client-name',
        'apollographql-client-version',
      ])
        expect(allowed).toContain(name);
      expect(headers.get('access-control-allow-credentials')).toBeNull();
      expect(headers.get('x-ratelimit-remaining')).toBe(before.headers.get('x-ratelimit-remaining'));
    },
  );

  it('may read responses and errors with the exposed headers', async () => {
    for (const [path, token, status] of [
      [`/v1/invoices/${invoice.id}`, invoice.client_secret, 200],
      [`/v1/invoices/${invoice.id}`, 'nothing', 401],
      ['/v1/invoices', tenant.publishableKey, 403],
      ['/graphql?query={__typename}', tenant.secretKey, 200],
      ['/graphql/stream?query={__typename}', tenant.secretKey, 200],
    ] as const) {
      const answer = await new Client(service.url, token).get(path, {
        Origin: 'https://shop.example',
        Accept: path.includes('stream') ? 'text/event-stream' : 'application/json',
      });
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      const exposed = answer.headers.get('access-control-expose-headers');
      for (const name of [
        'Request-Id',
        'ETag',
        'Retry-After',
        'X-RateLimit-Remaining',
        'RateLimit',
        'Content-Range',
        'Fatoura-Warnings',
      ])
        expect(exposed).toContain(name);
    }
  });

  it('may follow a stream', async () => {
    const { status, headers } = await new Client(service.url, invoice.client_secret).get(
      `/v1/invoices/${invoice.id}/stream`,
      { Origin: 'https://shop.example' },
    );
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, '*']);
  });

  it("have no access to the operators' pages", async () => {
    const { headers } = await client.get('/ops/jobs', { Origin: 'https://shop.example' });
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('conditional reads', () => {
  it.each(['/v1/invoices/ID', '/v1/invoices?limit=3', '/v1/webhook_endpoints'])(
    'GET %s: 304 without a body if nothing has changed',
    async (path) => {
      path = path.replace('ID', invoice.id);
      const first = await client.get(path);
      const etag = first.headers.get('etag') ?? '';
      expect(etag).toMatch(/^W\/"[\w-]{20,}"$/);
      expect(first.headers.get('cache-control')).toBe('private, no-cache');
      expect(first.headers.get('vary')).toContain('Authorization');
      const again = await client.get(path, { 'If-None-Match': `"x", ${etag}` });
      expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, '', etag]);
      expect(again.headers.get('x-ratelimit-limit')).not.toBeNull();
      expect((await client.get(path, { 'If-None-Match': '"x"' })).status).toBe(200);
    },
  );

  it.each(['xml_url', 'pdf_url', '/docs/interactive', '/docs/docs.css', '/graphql', '/v1/openapi.json'])(
    '%s: 304 for fetch(), which adds Cache-Control: no-cache to a conditional request, and for the strong form of a weak ETag',
    async (what) => {
      const path = what.endsWith('_url') ? new URL((await client.settled(invoice.id))[what]).pathname : what;
      const get = (condition?: string) =>
        fetch(service.url + path, {
          headers: { Accept: 'text/html, */*;q=0.1', ...(condition !== undefined && { 'If-None-Match': condition }) },
        });
      const first = await get();
      await first.arrayBuffer();
      const etag = first.headers.get('etag') ?? '';
      expect([first.status, etag]).toEqual([200, expect.stringMatching(/^(W\/)?"[\w-]{20,}"$/)]);
      for (const condition of [etag, etag.replace('W/', ''), `"x", W/"y" ,${etag}`, ' * ']) {
        const again = await get(condition);
        expect([condition, again.status, await again.text()]).toEqual([condition, 304, '']);
        expect(again.headers.get('etag')).toBe(etag);
        expect(again.headers.get('vary')).toBe(first.headers.get('vary'));
      }
      for (const condition of ['"x"', etag.slice(0, -2), etag.replaceAll('"', '')]) {
        const again = await get(condition);
        await again.arrayBuffer();
        expect([condition, again.status]).toEqual([condition, 200]);
      }
    },
  );

  it("an invoice's ETag changes with its status", async () => {
    const { body } = await client.post('/v1/invoices', invoiceBody());
    const path = `/v1/invoices/${body.id}`;
    const tags = new Map<string, string>();
    await expect
      .poll(async () => {
        const answer = await client.get(path);
        tags.set(answer.body.status, answer.headers.get('etag') ?? '');
        return answer.body.status;
      })
      .toBe('accepted');
    const accepted = (await client.get(path)).headers.get('etag');
    for (const [status, tag] of tags) expect(tag === accepted, status).toBe(status === 'accepted');
  });

  it('responses that must not be cached say so', async () => {
    const { headers } = await client.post('/v1/invoices', invoiceBody());
    expect([headers.get('cache-control'), headers.get('etag')]).toEqual(['no-store', null]);
    expect((await client.get('/v1/invoices/x')).headers.get('cache-control')).toBe('no-store');
  });
});

describe('content codings', () => {
  const read = async (path: string, coding: string) => {
    const answer = await sendRaw(service.url, rawRequest(`GET ${path}`, [bearer(), `Accept-Encoding: ${coding}`]));
    return { ...answer, coding: answer.headers['content-encoding'] };
  };
  const many = { lines: Array.from({ length: 30 }, () => ({ description: 'Conseil', quantity: 1, unit_price: 1000 })) };

  it.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['identity', undefined],
    ['br;q=0, gzip;q=0.1', 'gzip'],
    ['identity;q=0, gzip', 'gzip'],
    // No coding that there is is acceptable: RFC 9110, section 12.5.3.
    ['identity;q=0', undefined],
    ['*;q=0', undefined],
    ['gzip;q=0, br;q=0, identity;q=0, zstd', undefined],
  ])('Accept-Encoding: %s is answered with %s, with the same ETag', async (accepted, coding) => {
    const created = await client.post('/v1/invoices', invoiceBody({ amount: 36000, ...many }));
    await client.settled(created.body.id);
    const path = `/v1/invoices/${created.body.id}`;
    const plain = await client.get(path, { 'Accept-Encoding': 'identity' });
    const { hostname, port } = new URL(service.url);
    const answer = await fetch(`http://${hostname}:${port}${path}`, {
      headers: { Authorization: `Bearer ${tenant.secretKey}`, 'Accept-Encoding': accepted },
    });
    expect(answer.headers.get('content-encoding') ?? undefined).toBe(coding);
    expect(answer.headers.get('vary')).toContain('Accept-Encoding');
    expect(answer.headers.get('etag')).toBe(plain.headers.get('etag'));
    expect(await answer.json()).toEqual(plain.body);
  });

  it.each(['/docs/interactive', '/docs/docs.css', '/v1/openapi.json', '/graphql'])(
    '%s is answered to a client that accepts nothing, too',
    async (path) => {
      const headers = ['Accept: text/html, */*;q=0.1', 'Accept-Encoding: identity;q=0'];
      const answer = await sendRaw(service.url, rawRequest(`GET ${path}`, headers));
      expect([answer.status, answer.headers['content-encoding']]).toEqual([200, undefined]);
    },
  );

  it('does not compress small responses, creations and streams', async () => {
    expect((await read(`/v1/invoices/${invoice.id}`, 'gzip')).coding).toBeUndefined();
    expect((await read(`/v1/invoices/${invoice.id}/stream`, 'gzip')).coding).toBeUndefined();
    const body = JSON.stringify(invoiceBody({ amount: 36000, ...many }));
    const headers = [bearer(), 'Accept-Encoding: gzip', `Content-Length: ${body.length}`];
    const created = await sendRaw(
      service.url,
      rawRequest('POST /v1/invoices', [...headers, 'Content-Type: application/json'], body),
    );
    expect([created.status, created.headers['content-encoding']]).toEqual([201, undefined]);
  });
});

describe('methods', () => {
  it('HEAD is GET without the body, streams included', async () => {
    const get = await client.get(`/v1/invoices/${invoice.id}`);
    const head = await client.request('HEAD', `/v1/invoices/${invoice.id}`);
    expect([head.status, head.headers.get('etag')]).toEqual([200, get.headers.get('etag')]);
    expect(Number(head.headers.get('content-length'))).toBe(Buffer.byteLength(JSON.stringify(get.body)));
    const stream = await client.request('HEAD', `/v1/invoices/${invoice.id}/stream`);
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect((await client.request('HEAD', '/v1/invoices/x')).status).toBe(404);
  });

  it.each([
    ['/v1/invoices', 'GET, HEAD, POST'],
    ['/v1/invoices/x', 'GET, HEAD'],
    ['/v1/webhook_endpoints/x', 'DELETE, PATCH'],
  ])('OPTIONS %s lists the methods; any other method is 405 with the same Allow', async (path, methods) => {
    const sorted = (value: string | null) => value?.split(', ').sort().join(', ');
    const options = await client.request('OPTIONS', path);
    expect([options.status, sorted(options.headers.get('allow'))]).toEqual([204, methods]);
    const other = await client.request('PUT', path, {});
    expect([other.status, sorted(other.headers.get('allow'))]).toEqual([405, methods]);
    expect(other.body.error).toMatchObject({ code: 'invalid_request', param: null, status: 405 });
  });

  it('the OpenAPI document is read-only and public', async () => {
    const nobody = new Client(service.url, null);
    for (const method of ['POST', 'PUT', 'DELETE'])
      expect([method, (await nobody.request(method, '/v1/openapi.json')).status]).toEqual([method, 405]);
    const options = await nobody.request('OPTIONS', '/v1/openapi.json');
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'HEAD, GET']);
  });

  it.each(['/v1/invoices', '/v1/x', '/graphql', '/graphql/stream'])(
    'OPTIONS %s with an empty Access-Control-Request-Method or Origin is not a preflight: 401',
    async (path) => {
      for (const empty of [
        'Origin: https://x\r\nAccess-Control-Request-Method:',
        'Origin:\r\nAccess-Control-Request-Method: GET',
      ]) {
        const answer = await sendRaw(service.url, rawRequest(`OPTIONS ${path}`, [empty]));
        expect([empty, answer.status]).toEqual([empty, 401]);
      }
    },
  );

  it.each([
    ['PUT', '/graphql', 405],
    ['DELETE', '/graphql', 405],
    ['PATCH', '/graphql/stream', 405],
  ])('%s %s: %i with an error body', async (method, path, status) => {
    const answer = await client.request(method, path, {});
    expect(answer.status).toBe(status);
    expect(answer.body.error ?? answer.body.errors[0]).toMatchObject({ message: expect.stringMatching(/\.$/) });
    expect(answer.headers.get('allow')).toContain('POST');
  });

  it.each([
    ['/graphql', { Accept: 'image/png' }, 406],
    ['/graphql', { 'Content-Type': 'text/plain' }, 415],
  ])('POST %s with %j: %i with an error body', async (path, headers, status) => {
    const answer = await client.post(path, { query: '{ invoice(id: "x") { id } }' }, headers);
    expect([answer.status, answer.body.error?.code, answer.body.error?.status]).toEqual([
      status,
      'invalid_request',
      status,
    ]);
  });
});

describe('malformed requests', () => {
  const shaped = (answer: Awaited<ReturnType<typeof sendRaw>>) => {
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers['request-id']).toMatch(/^req_/);
    expect(answer.headers['x-ratelimit-limit']).toMatch(/^\d+$/);
    const { error } = JSON.parse(answer.body);
    expect(error.status).toBe(answer.status);
    expect(error.message).toMatch(/\.$/);
    return [answer.status, error.code, error.param];
  };

  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['a NUL byte in the path', rawRequest('GET /v1/invoices/\0', []), 400],
    ['a NUL byte in a header', rawRequest('GET /v1/invoices', ['X: \0']), 400],
    ['two lengths', rawRequest('POST /v1/invoices', ['Content-Length: 1', 'Content-Length: 2'], 'xx'), 400],
    [
      'a Content-Length and chunks',
      rawRequest('POST /v1/invoices', ['Content-Length: 1', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
      400,
    ],
    ['a length that is none', rawRequest('POST /v1/invoices', ['Content-Length: -1']), 400],
    ['a target of 17 KiB', rawRequest(`GET /v1/invoices?status=${'x'.repeat(17_000)}`, []), 414],
    ['a path of 40 KiB', rawRequest(`GET /v1/invoices/${'x'.repeat(40_000)}`, []), 414],
    ['101 headers', rawRequest('GET /v1/invoices', Array(99).fill('X: y')), 431],
    ['headers of 20 KiB', rawRequest('GET /v1/invoices', [`X: ${'x'.repeat(20_000)}`]), 431],
  ])('%s', async (_name, bytes, status) => {
    expect(shaped(await sendRaw(service.url, bytes))).toEqual([status, 'invalid_request', null]);
  });

  it('a malformed chunk inside a body: 400', async () => {
    const headers = [bearer(), 'Content-Type: application/json', 'Transfer-Encoding: chunked'];
    const answer = await sendRaw(service.url, rawRequest('POST /v1/invoices', headers, '5\r\n{"a":\r\nzz\r\n'));
    expect(shaped(answer)).toEqual([400, 'invalid_request', null]);
  });

  it('more than 100 headers, on any path: 431, whatever they say', async () => {
    // Two of them are those of every raw request.
    const headers = Array.from({ length: 97 }, (_, index) => `x${index}: y`);
    const most = await sendRaw(service.url, rawRequest('GET /v1/invoices', [...headers, bearer()]));
    expect(most.status).toBe(200);
    for (const path of ['/v1/invoices', '/graphql', '/healthz', '/nowhere', '/authority/callback']) {
      for (const count of [1, 1500]) {
        const more = [bearer(), ...Array(count).fill('a:b'), 'Content-Type: text/plain'];
        const answer = await sendRaw(service.url, rawRequest(`POST ${path}`, [...headers, ...more]));
        expect(shaped(answer)).toEqual([431, 'invalid_request', null]);
      }
    }
  });

  it('no Host header, or two: 400', async () => {
    for (const hosts of ['', 'Host: a\r\nHost: b\r\n']) {
      const bytes = `GET /v1/invoices HTTP/1.1\r\n${hosts}${bearer()}\r\nConnection: close\r\n\r\n`;
      expect(shaped(await sendRaw(service.url, bytes))).toEqual([400, 'invalid_request', 'Host']);
    }
  });

  it.each(['[', 'a b', '%', 'a:99999999', '<script>', 'a/b', 'a@b'])('the Host header %s: 400', async (host) => {
    const body = '{"query":"{ __typename }"}';
    const headers = [bearer(), 'Content-Type: application/json', `Content-Length: ${body.length}`, 'Connection: close'];
    const bytes = `POST /graphql HTTP/1.1\r\n${[`Host: ${host}`, ...headers].join('\r\n')}\r\n\r\n${body}`;
    expect(shaped(await sendRaw(service.url, bytes))).toEqual([400, 'invalid_request', 'Host']);
  });

  it.each(['localhost', '127.0.0.1:3000', '[::1]:3000', 'invoices_1.bücher.example', ''])(
    'the Host header %j is none of them',
    async (host) => {
      const bytes = `GET /graphql?query={__typename} HTTP/1.1\r\nHost: ${host}\r\n${bearer()}\r\nConnection: close\r\n\r\n`;
      expect((await sendRaw(service.url, bytes)).status).toBe(200);
    },
  );

  it('more than 100 parameters, on any path: 400', async () => {
    // No credential is needed. Koa's parser takes 0.8 s for each of these.
    for (const path of ['/verify/inv_x', '/graphql', '/v1/invoices', '/embed/api/deliveries', '/nowhere']) {
      const answer = await sendRaw(service.url, rawRequest(`GET ${path}?${'a&'.repeat(7900)}`, []));
      expect(shaped(answer)).toEqual([400, 'invalid_request', null]);
    }
    const most = Array.from({ length: 100 }, (_, index) => `p${index}=1`).join('&');
    const { status, body } = await client.get(`/v1/invoices?${most}`);
    expect([status, body.error.param]).toEqual([400, 'p0']);
  });

  it.each(['http://', 'http://[', 'http://[/v1/invoices'])('the target %s: 400', async (target) => {
    expect(shaped(await sendRaw(service.url, rawRequest(`GET ${target}`, [])))).toEqual([400, 'invalid_request', null]);
  });

  it('an unknown expectation: 417', async () => {
    const answer = await sendRaw(service.url, rawRequest('GET /v1/invoices', [bearer(), 'Expect: a miracle']));
    expect(shaped(answer)).toEqual([417, 'invalid_request', 'Expect']);
  });

  it('a single-value header sent twice: 401, 415 or 400; neither value is used', async () => {
    const both = await sendRaw(service.url, rawRequest('GET /v1/invoices', [bearer(), bearer()]));
    expect(shaped(both)).toEqual([401, 'invalid_api_key', null]);
    expect(both.headers['www-authenticate']).toBe('Bearer realm="fatoura", error="invalid_token"');
    const body = JSON.stringify(invoiceBody());
    const headers = [bearer(), `Content-Length: ${Buffer.byteLength(body)}`, 'Content-Type: application/json'];
    for (const [header, expected] of [
      ['Content-Type: application/json', [415, 'invalid_request', null]],
      ['Content-Type: application/json; charset=utf-8', [415, 'invalid_request', null]],
      ['Idempotency-Key: a\r\nIdempotency-Key: a', [400, 'invalid_request', 'Idempotency-Key']],
    ] as const) {
      const answer = await sendRaw(service.url, rawRequest('POST /v1/invoices', [...headers, header], body));
      expect(shaped(answer)).toEqual(expected);
    }
  });

  it.each(['%00', '%', '%zz', '%E0%A4%A', '%ff', '%2e%2e', '%2F', '..%5c', 'x'.repeat(8000)])(
    'GET /v1/invoices/%s: 404',
    async (id) => {
      const answer = await sendRaw(service.url, rawRequest(`GET /v1/invoices/${id}`, [bearer()]));
      expect(shaped(answer)).toEqual([404, 'resource_not_found', 'id']);
    },
  );

  it('a query that cannot be decoded is refused or used undecoded, never a 500', async () => {
    for (const query of ['%', 'limit=%', '%00=1', 'status=%ff', '&&&', 'limit=1&limit=2', 'a[b]=1', '__proto__=1']) {
      const answer = await sendRaw(service.url, rawRequest(`GET /v1/invoices?${query}`, [bearer()]));
      expect([query, answer.status === 200 ? 200 : shaped(answer)[0]]).toEqual([query, query === '&&&' ? 200 : 400]);
    }
  });
});

it('every response has the rate limits in the form of the IETF draft, too', async () => {
  const { headers } = await client.get('/v1/invoices/x');
  expect(headers.get('ratelimit-policy')).toBe('"minute";q=1000000;w=60');
  expect(headers.get('ratelimit')).toBe(`"minute";r=${headers.get('x-ratelimit-remaining')};t=${untilReset(headers)}`);
});

function untilReset(headers: Headers): string {
  return /t=(\d+)$/.exec(headers.get('ratelimit') ?? '')?.[1] ?? 'nothing';
}
