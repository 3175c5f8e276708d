import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startService({ RATE_LIMIT_SECRET: '5', RATE_LIMIT_PUBLISHABLE: '7' });
  tenant = await service.tenant();
});
afterAll(() => service.close());

it('429 after the limit, with the headers on every answer; each credential has its own window', async () => {
  const client = new Client(service.url, tenant.secretKey);
  const created = await client.post('/v1/invoices', invoiceBody());
  const limits = [];
  for (const path of [
    '/v1/invoices',
    '/v1/nothing',
    '/v1/invoices?limit=0',
    '/v1/invoices',
    '/v1/invoices',
    '/v1/invoices',
  ]) {
    const { status, headers } = await client.get(path);
    limits.push([status, headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]);
  }
  expect(limits).toEqual([
    [200, '5', '3'],
    [404, '5', '2'],
    [400, '5', '1'],
    [200, '5', '0'],
    [429, '5', '0'],
    [429, '5', '0'],
  ]);
  const refused = await client.get('/v1/invoices');
  expect(refused.body.error).toMatchObject({ code: 'rate_limit_exceeded', param: null, status: 429 });
  const reset = Number(refused.headers.get('x-ratelimit-reset'));
  expect(reset - Date.now() / 1000).toBeGreaterThan(0);
  expect(reset - Date.now() / 1000).toBeLessThanOrEqual(61);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);

  const byClientSecret = await new Client(service.url, created.body.client_secret).get(
    `/v1/invoices/${created.body.id}`,
  );
  expect([byClientSecret.status, byClientSecret.headers.get('x-ratelimit-limit')]).toEqual([200, '7']);
  const nobody = await new Client(service.url, null).get('/v1/invoices');
  expect([nobody.status, nobody.headers.get('x-ratelimit-limit')]).toEqual([401, '100']);
});
