import { beforeAll, expect, it, vi } from 'vitest';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { BodyPool } from '../../src/transport/unfinished-bodies.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { beginRequest, type Sent } from '../support/slow-request.ts';

let service: TestService;
const places = vi.spyOn(BodyPool.prototype, 'take');
beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  return () => {
    places.mockRestore();
    return service.close();
  };
});

const MIB = 1024 * 1024;
const query = JSON.stringify({ query: '{ __typename }' });

/** A valid request of 1 MiB. */
const large = (token: string): Sent => ({
  method: 'POST',
  path: '/graphql',
  body: query.padEnd(MIB),
  headers: { Authorization: `Bearer ${token}` },
});

/** Begins so many requests. @returns them when the service has given or refused a place to each */
async function begin(token: string, count: number) {
  const before = places.mock.calls.length;
  const requests = await Promise.all(Array.from({ length: count }, () => beginRequest(service.url, large(token))));
  await expect.poll(() => places.mock.calls.length).toBeGreaterThanOrEqual(before + count);
  return requests;
}
const whole = async (sent: Sent) => (await beginRequest(service.url, sent)).finish();
const statusOf = async (token: string | undefined) => (await whole(large(String(token)))).status;

it('bodies by credentials that anybody may have take no place of secret keys, whatever their tenant', async () => {
  const [own, other, third] = [
    await service.tenant(SPECIMEN_SELLER),
    await service.tenant(),
    await service.tenant(),
  ] as const;
  const client = new Client(service.url, own.secretKey);
  const secrets: string[] = [];
  for (let i = 0; i < 3; i++) secrets.push((await client.post('/v1/invoices', invoiceBody())).body.client_secret);
  const held = [];
  for (const token of [...secrets, own.publishableKey, other.publishableKey]) held.push(...(await begin(token, 32)));
  for (const each of [own, other, third]) expect(await statusOf(each.secretKey)).toBe(200);
  // Small requests by them are answered.
  const small = { method: 'POST', path: '/graphql', headers: { Authorization: `Bearer ${secrets[2]}` }, body: query };
  expect((await whole(small)).status).toBe(200);
  for (const each of held) each.abandon();
  await expect.poll(() => statusOf(secrets[0])).toBe(200);
});

it('a tenant always finds place beside tenants that hold more, whose oldest bodies end', async () => {
  const [one, two, third] = [await service.tenant(), await service.tenant(), await service.tenant()] as const;
  const second = async ({ id }: { id: string }) => (await service.app.manageKeys.create(id, 'secret', 'test')).token;
  const hostile = [one.secretKey, await second(one), two.secretKey, await second(two)];
  const held = [];
  for (const token of hostile) held.push(...(await begin(token, 32)));
  expect(await statusOf(third.secretKey)).toBe(200);
  const place = await begin(third.secretKey, 16);
  // What it has begun goes on.
  for (const each of place) expect((await each.finish()).status).toBe(200);
  const ended = await held[0]?.finish();
  expect([ended?.status, ended?.headers]).toEqual([503, expect.stringMatching(/^Retry-After: \d+$/im)]);
  for (const each of held) each.abandon();
});

it('a credential whose bodies fill the place is refused; what is full goes on for the others', async () => {
  const own = await service.tenant(SPECIMEN_SELLER);
  const client = new Client(service.url, own.secretKey);
  const secrets: string[] = [];
  for (let i = 0; i < 2; i++) secrets.push((await client.post('/v1/invoices', invoiceBody())).body.client_secret);

  const first = await begin(secrets[0] as string, 32);
  await expect.poll(() => statusOf(secrets[0])).toBe(503);
  const refused = await whole(large(secrets[0] as string));
  expect([refused.status, JSON.parse(refused.text)]).toEqual([
    503,
    { error: { code: 'internal_error', message: expect.stringContaining('bodies'), param: null, status: 503 } },
  ]);
  expect(refused.headers).toMatch(/^Retry-After: \d+$/im);
  const small = { method: 'POST', path: '/graphql', headers: { Authorization: `Bearer ${secrets[0]}` }, body: query };
  expect((await whole(small)).status).toBe(200);

  // Another one, of the same tenant or of none, has place.
  expect(await statusOf(secrets[1])).toBe(200);

  // The other bodies that were admitted are answered; what is abandoned leaves its place to others.
  expect((await first.at(-1)?.finish())?.status).toBe(200);
  for (const each of first) each.abandon();
  const again = await begin(secrets[1] as string, 31);
  expect(await statusOf(secrets[0])).toBe(200);
  for (const each of again) expect((await each.finish()).status).toBe(200);
});
