import { beforeAll, expect, it } from 'vitest';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { beginRequest, type Sent } from '../support/slow-request.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  return () => service.close();
});

const MIB = 1024 * 1024;
const query = JSON.stringify({ query: '{ __typename }' });

/** A valid request of 1 MiB. */
const large = (token: string): Sent => ({
  ...{ method: 'POST', path: '/graphql', body: query.padEnd(MIB) },
  headers: { Authorization: `Bearer ${token}` },
});

it('large bodies that do not arrive are limited for a credential and for all; what is full goes on for the others', async () => {
  const own = await service.tenant(SPECIMEN_SELLER);
  const client = new Client(service.url, own.secretKey);
  const secrets: string[] = [];
  for (let i = 0; i < 3; i++) secrets.push((await client.post('/v1/invoices', invoiceBody())).body.client_secret);
  const begin = (token: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => beginRequest(service.url, large(token))));

  const first = await begin(secrets[0] as string, 32);
  const whole = async (sent: Sent) => (await beginRequest(service.url, sent)).finish();
  const statusOf = async (token: string | undefined) => (await whole(large(String(token)))).status;
  await expect.poll(() => statusOf(secrets[0])).toBe(503);
  const refused = await whole(large(secrets[0] as string));
  expect([refused.status, JSON.parse(refused.text)]).toEqual([
    503,
    { error: { code: 'internal_error', message: expect.stringContaining('bodies'), param: null, status: 503 } },
  ]);
  expect(refused.headers).toMatch(/^Retry-After: \d+$/im);

  // The holders of client_secrets together have half of the place.
  const second = await begin(secrets[1] as string, 32);
  await expect.poll(() => statusOf(secrets[2])).toBe(503);
  // Small requests of theirs, and large ones of the tenants, are answered.
  const small = { method: 'POST', path: '/graphql', headers: { Authorization: `Bearer ${secrets[2]}` }, body: query };
  expect((await whole(small)).status).toBe(200);
  expect(await statusOf(own.secretKey)).toBe(200);

  // What was admitted is answered; what is abandoned leaves its place to others.
  expect((await first[0]?.finish())?.status).toBe(200);
  for (const each of [...first.slice(1), ...second]) each.abandon();
  await expect.poll(() => statusOf(secrets[2])).toBe(200);
});
