import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';
import { Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { randomQueries } from '../support/random-operations.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';

// The prepared path answers what Yoga answers, byte for byte. A request with `extensions`, even empty ones, is Yoga's.

/** FUZZ_RUNS asks for more. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 150);

let service: TestService;
let tenant: TestTenant;
let client: Client;
let invoices: { id: string; client_secret: string }[];
let ids: Record<string, string[]>;

beforeAll(async () => {
  // Every delivery fails at once and for good, so that nothing changes any more.
  service = await startService({ ALLOW_INSECURE_WEBHOOKS: 'true', WEBHOOK_RETRY_SCHEDULE: '0s' });
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
  const endpoint = await client.post('/v1/webhook_endpoints', {
    url: 'http://127.0.0.1:9/',
    events: ['invoice.accepted', 'invoice.rejected'],
  });
  invoices = [];
  for (const body of [invoiceBody({ metadata: { a: 'é"\u2028' } }), invoiceFor('999000000000102', 'a@example.com')]) {
    invoices.push((await client.post('/v1/invoices', body)).body);
  }
  for (const { id } of invoices) await client.settled(id);
  const LOG = '{ webhookDeliveries { edges { node { id state eventId } } } }';
  const deliveries = async (): Promise<{ id: string; state: string; eventId: string }[]> =>
    (await client.graphql(LOG)).body.data.webhookDeliveries.edges.map(({ node }: { node: unknown }) => node);
  await expect
    .poll(async () => (await deliveries()).map(({ state }) => state), { timeout: 20_000 })
    .toEqual(['failed', 'failed']);
  const sent = invoices.map(({ id }) => service.app.store.db.collection('invoices').findOne({ _id: id as never }));
  await expect
    .poll(async () => (await Promise.all(sent)).every((each) => each?.work == null), { timeout: 20_000 })
    .toBe(true);
  const found = await deliveries();
  ids = {
    inv: invoices.map(({ id }) => id),
    evt: found.map(({ eventId }) => eventId),
    dlv: found.map(({ id }) => id),
    we: [endpoint.body.id],
  };
});
afterAll(() => service.close());

interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
}

/** The answer, but for what is each request's own. */
async function ask(body: string, headers: Record<string, string>): Promise<Reply> {
  const response = await fetch(`${service.url}/graphql`, { method: 'POST', headers, body });
  const shown = [...response.headers].filter(([name]) => !/^(date|request-id|x-ratelimit.*|ratelimit)$/.test(name));
  const text = (await response.text()).replaceAll(/req_[0-9a-f-]{36}/g, 'req_…');
  return { status: response.status, headers: Object.fromEntries(shown), text };
}

const headersOf = (token: string, others: Record<string, string> = {}) => ({
  Authorization: `Bearer ${token}`,
  'Content-Type': 'application/json',
  ...others,
});

/** Asks until the document is known, and expects every answer to be Yoga's. */
async function expectYogasAnswer(request: object, headers = headersOf(tenant.secretKey)): Promise<Reply> {
  const yogas = await ask(JSON.stringify({ ...request, extensions: {} }), headers);
  for (let time = 0; time < 2; time++) expect(await ask(JSON.stringify(request), headers)).toEqual(yogas);
  return yogas;
}

/** How many requests ran on the prepared path meanwhile. */
async function preparedDuring(act: () => Promise<unknown>): Promise<number> {
  const count = async () => {
    const credential = Buffer.from(`operator:${service.app.firstStart.operatorPassword}`).toString('base64');
    const text = await (
      await fetch(`${service.url}/metrics`, { headers: { Authorization: `Basic ${credential}` } })
    ).text();
    return Number(/graphql_requests_total\{path="prepared"\} (\d+)/.exec(text)?.[1] ?? 0);
  };
  const before = await count();
  await act();
  return (await count()) - before;
}

const READ =
  'query Read($id: ID!, $with: Boolean = true) { invoice(id: $id) { id lines @include(if: $with) { amount } } }';

it('a query that was asked before runs on the prepared path', async () => {
  const variables = { id: invoices[0]?.id };
  const ran = await preparedDuring(() => expectYogasAnswer({ query: READ, variables }));
  expect(ran).toBe(2);
});

describe('the same answer', () => {
  it('to random queries', { timeout: 120_000 }, async () => {
    const texts = (path: string): string[] => {
      if (/invoice\.id|node\.id/.test(path)) return ids.inv ?? [];
      if (/event/i.test(path)) return [...(ids.evt ?? []), 'invoice.accepted'];
      if (/delivery/i.test(path)) return ids.dlv ?? [];
      if (/endpoint/i.test(path)) return ids.we ?? [];
      return /after|before/.test(path) ? [...(ids.inv ?? []), ...(ids.evt ?? []), ...(ids.dlv ?? [])] : ['x'];
    };
    let answered = 0;
    const ran = await preparedDuring(() =>
      fc.assert(
        fc.asyncProperty(randomQueries(schema, { texts, without: ['verifyDocument'] }), async (request) => {
          const { text } = await expectYogasAnswer(request);
          if (!text.includes('"errors"')) answered++;
        }),
        { numRuns: RUNS },
      ),
    );
    // Most of them are answered without errors, twice on the prepared path each.
    expect(answered).toBeGreaterThan(RUNS / 2);
    expect(ran).toBeGreaterThan(RUNS / 2);
  });
});
