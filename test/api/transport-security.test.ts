import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';

const [LIVE_SITE, TEST_SITE] = ['https://api.example.com', 'https://sandbox.example.com'];

let service: TestService;
let tenant: TestTenant;
let liveKey: string;

beforeAll(async () => {
  service = await startService({ TRUST_PROXY: 'true', PUBLIC_URL: LIVE_SITE, SANDBOX_URL: TEST_SITE });
  tenant = await service.tenant();
  liveKey = await service.liveKey(tenant.id);
});
afterAll(() => service.close());

/** The headers that a proxy would forward. */
function through(proto: string, host: string, clients = '203.0.113.9') {
  return { 'X-Forwarded-Proto': proto, 'X-Forwarded-Host': host, 'X-Forwarded-For': clients };
}
const list = async (key: string, headers: Record<string, string>) => {
  const { status, body } = await new Client(service.url, key).get('/v1/invoices', headers);
  return status === 200 ? 200 : [status, body.error.code, body.error.message];
};

describe('live keys', () => {
  it('401 over plain HTTP except from loopback, whatever address the client claims', async () => {
    const host = new URL(LIVE_SITE).host;
    for (const clients of ['203.0.113.9', '127.0.0.1, 203.0.113.9']) {
      expect(await list(liveKey, through('http', host, clients))).toEqual([
        401,
        'invalid_api_key',
        expect.stringContaining('HTTPS'),
      ]);
    }
    expect(await list(liveKey, through('https', host))).toBe(200);
    expect(await list(liveKey, {})).toBe(200);
  });
});

describe('SANDBOX_URL', () => {
  it('401 for keys of the other environment, with the right address', async () => {
    const [live, test] = [new URL(LIVE_SITE).host, new URL(TEST_SITE).host];
    expect(await list(tenant.secretKey, through('https', test))).toBe(200);
    expect(await list(tenant.secretKey, through('https', live))).toEqual([
      401,
      'invalid_api_key',
      expect.stringContaining(TEST_SITE),
    ]);
    expect(await list(liveKey, through('https', test))).toEqual([
      401,
      'invalid_api_key',
      expect.stringContaining(LIVE_SITE),
    ]);
    expect(await list(tenant.publishableKey, through('https', live))).toEqual([
      401,
      'invalid_api_key',
      expect.stringContaining(TEST_SITE),
    ]);
  });
});

describe('Strict-Transport-Security', () => {
  it('is on every answer over HTTPS, and on none over HTTP', async () => {
    const anyone = new Client(service.url, null);
    for (const path of ['/v1/invoices', '/nothing', '/healthz']) {
      expect((await anyone.get(path, through('https', 'x'))).headers.get('strict-transport-security')).toMatch(
        /^max-age=\d+/,
      );
      expect((await anyone.get(path, through('http', 'x'))).headers.get('strict-transport-security')).toBeNull();
    }
  });
});

describe('every answer', () => {
  it('has a request id, sends no referrer to other sites, and disables content sniffing', async () => {
    for (const [path, token] of [
      ['/v1/invoices', null],
      ['/v1/invoices', tenant.secretKey],
      ['/nothing', null],
      ['/healthz', null],
      ['/graphql', null],
    ] as const) {
      const { headers } = await new Client(service.url, token).get(path, through('https', new URL(TEST_SITE).host));
      expect(headers.get('request-id')).toMatch(/^req_/);
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});

describe('X-Forwarded-* without TRUST_PROXY', () => {
  let direct: TestService;
  let key: string;
  beforeAll(async () => {
    direct = await startService();
    key = await direct.liveKey((await direct.tenant()).id);
  });
  afterAll(() => direct.close());

  it('are ignored', async () => {
    const answer = await new Client(direct.url, null).get('/healthz', through('https', 'x'));
    expect(answer.headers.get('strict-transport-security')).toBeNull();
  });

  it.each(['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'Forwarded', 'X-Real-IP'])(
    'a live key with %s came through a proxy: 401, although the proxy is on loopback',
    async (name) => {
      const client = new Client(direct.url, key);
      expect((await client.get('/v1/invoices')).status).toBe(200);
      const { status, body } = await client.get('/v1/invoices', { [name]: 'https' });
      expect([status, body.error.code, body.error.message]).toEqual([
        401,
        'invalid_api_key',
        expect.stringContaining('TRUST_PROXY'),
      ]);
    },
  );
});

describe('duplicate headers', () => {
  /** The status and code of the response to a raw request. */
  async function raw(method: string, headers: string[], body = ''): Promise<[number, string | undefined]> {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    const lines = [
      `${method} /v1/invoices HTTP/1.1`,
      `Host: ${new URL(TEST_SITE).host}`,
      'Connection: close',
      ...headers,
    ];
    socket.write(`${[...lines, `Content-Length: ${Buffer.byteLength(body)}`].join('\r\n')}\r\n\r\n${body}`);
    const text = Buffer.concat(await Array.fromAsync(socket)).toString();
    return [Number(text.split(' ')[1]), /"code":"(\w+)"/.exec(text)?.[1]];
  }
  const bearer = (key: string) => `Authorization: Bearer ${key}`;
  const body = JSON.stringify(invoiceBody());

  it('401: two credentials, even if they are equal', async () => {
    const key = bearer(tenant.secretKey);
    expect(await raw('GET', [key])).toEqual([200, undefined]);
    expect(await raw('GET', [key, bearer(liveKey)])).toEqual([401, 'invalid_api_key']);
    expect(await raw('GET', [key, key])).toEqual([401, 'invalid_api_key']);
  });

  it('415: two media types', async () => {
    const types = ['Content-Type: application/json', 'Content-Type: text/plain'];
    expect(await raw('POST', [bearer(tenant.secretKey), ...types], body)).toEqual([415, 'invalid_request']);
    expect(await raw('POST', [bearer(tenant.secretKey), ...types.reverse()], body)).toEqual([415, 'invalid_request']);
  });

  it('400: two idempotency keys', async () => {
    const keys = ['Content-Type: application/json', 'Idempotency-Key: a', 'Idempotency-Key: b'];
    expect(await raw('POST', [bearer(tenant.secretKey), ...keys], body)).toEqual([400, 'invalid_request']);
  });
});
