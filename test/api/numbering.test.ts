import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client, invoiceFor } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const NUMBERS = `query ($after: String) { invoices(first: 100, after: $after) { edges { node { number } } } }`;

it('100 concurrent creations of one tenant get the numbers 1 to 100', async () => {
  const tenant = await service.tenant();
  const client = new Client(service.url, tenant.secretKey);
  // Every tenth is rejected by the mock authority: it keeps its number.
  const bodies = Array.from({ length: 100 }, (_, index) =>
    invoiceFor(index % 10 === 0 ? '999000000000102' : '001525713000085'),
  );
  const created = await Promise.all(bodies.map((body) => client.post('/v1/invoices', body)));
  expect(created.map(({ status }) => status)).toEqual(bodies.map(() => 201));

  type Edge = { node: { number: string | null } };
  const invoices = async () =>
    ((await client.graphql(NUMBERS)).body.data.invoices.edges as Edge[]).map(({ node }) => node);
  await expect
    .poll(async () => (await invoices()).filter(({ number }) => number !== null).length, {
      timeout: 60_000,
      interval: 250,
    })
    .toBe(100);
  const found = await invoices();
  const year = new Intl.DateTimeFormat('en-CA', { timeZone: 'Africa/Casablanca', year: 'numeric' }).format(new Date());
  const expected = Array.from({ length: 100 }, (_, index) => `${year}-${String(index + 1).padStart(6, '0')}`);
  expect(found.map(({ number }) => number).sort()).toEqual(expected);
}, 90_000);
