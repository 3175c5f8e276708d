import { afterAll, beforeAll, expect, it } from 'vitest';
import { PLACEMENTS } from '../../src/storage/collection-rules.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { STAND_IN_RENDERER, startService, type TestService } from '../support/service.ts';
import { type Routed, watchRoutes } from '../support/shard-routing.ts';
import type { Case } from '../support/sharding/cases.ts';
import { invoiceCases } from '../support/sharding/invoice-cases.ts';
import { otherCases } from '../support/sharding/other-cases.ts';
import { webhookCases } from '../support/sharding/webhook-cases.ts';

let service: TestService;
let routes: () => Routed[];

beforeAll(async () => {
  service = await startService({ ALLOW_INSECURE_WEBHOOKS: 'true' }, STAND_IN_RENDERER, true);
  routes = watchRoutes(service.app.store, PLACEMENTS);
});
afterAll(() => service.close());

/** What the cases of the repositories name as sent to every shard. */
function declared(): Set<string> {
  const { store } = service.app;
  const subjects = { ...invoiceCases(store), ...webhookCases(store), ...otherCases(store) };
  const cases = Object.values(subjects).flatMap((each) => Object.values(each.cases).flat() as Case[]);
  return new Set(cases.flatMap((each) => (typeof each === 'object' ? each.scatters : [])));
}

it('a service sends nothing that a cluster refuses, and to every shard only what the repositories name', async () => {
  const client = new Client(service.url, (await service.tenant()).secretKey);
  const endpoint = { url: 'http://127.0.0.1:9/', events: ['invoice.accepted'] };
  expect((await client.post('/v1/webhook_endpoints', endpoint)).status).toBe(201);
  const ids: string[] = [];
  for (const key of ['a', 'b', 'a']) {
    ids.push((await client.post('/v1/invoices', invoiceBody(), { 'Idempotency-Key': key })).body.id);
  }
  expect(new Set(ids).size).toBe(2);
  for (const id of new Set(ids)) expect((await client.settled(id)).status).toBe('accepted');
  expect((await client.get('/v1/invoices?limit=5')).body.data).toHaveLength(2);
  const seen: Routed[] = [];
  const hasDelivered = () => {
    seen.push(...routes());
    return seen.some(({ statement }) => statement === 'insert webhook_attempts');
  };
  await expect.poll(hasDelivered).toBe(true);

  const sent = (route: Routed['route']) =>
    new Set(seen.filter((each) => each.route === route).map(({ statement }) => statement));
  expect([...sent('refused')]).toEqual([]);
  // Proves that the watch sees the worker and the clients.
  expect([...sent('targeted')]).toContain('updateOne invoices by _id, status, work.token');
  expect([...sent('scattered')]).toContain('find invoices by environment, kind, tenantId');
  const named = declared();
  expect([...sent('scattered')].filter((statement) => !named.has(statement))).toEqual([]);
});
