import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import type { Principal } from '../../src/domain/principal.ts';
import { enterLarge } from '../../src/graphql/large-operations.ts';
import { type Answer, Client, invoiceBody } from '../support/client.ts';
import { copiedInvoice } from '../support/large-invoices.ts';
import { longestTurn } from '../support/longest-turn.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';

// Operations that read or return much: which of them wait for a place, and when they are given up.

let service: TestService;
let wholesaler: TestTenant;
let shop: TestTenant;
let large: Awaited<ReturnType<typeof copiedInvoice>>;

beforeAll(async () => {
  service = await startService();
  [wholesaler, shop] = [await service.tenant(), await service.tenant()];
  large = await copiedInvoice(service, wholesaler, 1000, 4);
});
afterAll(() => service.close());

const times = (count: number, field: string) => Array.from({ length: count }, (_, i) => `a${i}: ${field}`).join(' ');
const oneInvoice = (lines: string) => `{ invoice(id: "${large.id}") { id lines { ${lines} } } }`;
const TOO_MANY_FIELDS = 'more than 30,000 fields. Ask for less at once: shorter pages (first, last), fewer fields';

it('over REST a list of one invoice waits for no large operation, and a longer list does', async () => {
  const client = new Client(service.url, wholesaler.secretKey);
  // The service runs in this process, so that these are its places.
  const held = await Promise.all(
    ['ten_1', 'ten_2'].map((id) => enterLarge({ kind: 'secret', tenant: { id } } as Principal)),
  );
  let waits = true;
  const long = client.get('/v1/invoices?limit=100').finally(() => {
    waits = false;
  });
  for (const cursor of ['', `&starting_after=${large.ids.at(-1)}`, `&ending_before=${large.id}`]) {
    const { status, body }: Answer = await client.get(`/v1/invoices?limit=1${cursor}`);
    expect([status, body.data.length]).toEqual([200, 1]);
  }
  expect(waits).toBe(true);
  for (const leave of held) leave();
  expect((await long).status).toBe(200);
});

it('only what may read or return much waits for a place among the large operations', async () => {
  const held = await Promise.all(
    ['ten_1', 'ten_2'].map((id) => enterLarge({ kind: 'secret', tenant: { id } } as Principal)),
  );
  const [merchant, trader] = [new Client(service.url, shop.secretKey), new Client(service.url, wholesaler.secretKey)];
  const byId = (count: number) => `{ ${times(count, `invoice(id: "${large.id}") { id }`)} }`;
  const drafts = (count: number) =>
    `mutation { ${times(count, 'validateInvoice(input: {}) { valid problems { code } }')} }`;
  let done = 0;
  const waiting = [
    trader.graphql('{ invoices(first: 100) { nodes { id } } }'),
    trader.graphql('{ webhookEvents(first: 100) { nodes { id } } }'),
    trader.graphql(byId(10)),
    trader.graphql(oneInvoice(times(3, 'description'))),
    trader.graphql(oneInvoice(times(18, 'amount'))),
    merchant.graphql(drafts(4)),
  ].map((answer) => answer.finally(() => done++));
  const answered = await Promise.all([
    merchant.graphql(drafts(3)),
    merchant.graphql(`mutation { ${times(10, 'validateInvoice(input: {}) { valid }')} }`),
    trader.graphql(byId(3)),
    trader.graphql(oneInvoice('description')),
    trader.graphql('{ invoices(first: 1) { nodes { id lines { description } } } }'),
  ]);
  expect(answered.map(({ body }) => body.errors)).toEqual(Array(5).fill(undefined));
  expect(done).toBe(0);
  // What became large as it ran holds memory, so that only 16 of these wait. At first Yoga answers, then the prepared
  // path.
  const grown = oneInvoice(`${times(12, 'amount')} } more: lines { ${times(8, 'amount')}`);
  const refused: Answer[] = [];
  const many = Array.from({ length: 20 }, async () => {
    const answer = await trader.graphql(grown);
    if (answer.body.errors) refused.push(answer);
  });
  await expect.poll(() => refused.length).toBe(4);
  for (const { headers, body } of refused) {
    expect(body.errors[0].extensions).toMatchObject({ code: 'internal_error', status: 503 });
    expect(headers.get('retry-after')).toBe('2');
  }
  expect(done).toBe(0);
  for (const leave of held) leave();
  for (const { body } of await Promise.all(waiting)) expect(body.errors).toBeUndefined();
  await Promise.all(many);
  expect(refused).toHaveLength(4);
});

describe('lists that refer to one another', () => {
  let client: Client;
  const query = `query ($first: Int) {
    webhookEvents(first: $first) { edges { node { deliveries { event { deliveries { event { id } } } } } } }
  }`;

  beforeAll(async () => {
    const merchant = await service.tenant();
    client = new Client(service.url, merchant.secretKey);
    const { id } = (await client.post('/v1/invoices', invoiceBody())).body;
    await client.settled(id);
    // biome-ignore lint/suspicious/noExplicitAny: the stored form
    const stored = (name: string) => service.app.store.db.collection<any>(name);
    const { place: _place, ...event } = await vi.waitFor(async () => {
      const found = await stored('webhook_events').find({ invoiceId: id }).toArray();
      expect(found).toHaveLength(3);
      return found[0];
    });
    const [events, deliveries]: [object[], object[]] = [[], []];
    for (let n = 0; n < 60; n++) {
      const eventId = newId('evt');
      const order = `0000000000000000000000${String(n).padStart(2, '0')}`;
      events.push({ ...event, _id: eventId, order, place: `${order}p` });
      const ofEvent = Array.from({ length: 16 }, (_, endpoint) => ({
        _id: `dlv_${eventId.slice(4)}_${endpoint}`,
        tenantId: merchant.id,
        environment: 'test',
        endpointId: `we_${endpoint}`,
        eventId,
        eventType: 'invoice.accepted',
        invoiceId: id,
        state: 'delivered',
        createdAt: new Date(),
        order: `${order}-${endpoint}`,
        attempts: [],
        storedAt: new Date(),
      }));
      deliveries.push(...ofEvent);
    }
    await stored('webhook_events').insertMany(events);
    await stored('webhook_deliveries').insertMany(deliveries);
  });

  it('are resolved in turns, and given up as soon as the answer is refused', async () => {
    const event = 'event { id deliveries { endpoint { id } event { id type } invoice { id status } } }';
    const page = 'webhookEvents(first: 100) { nodes { deliveries { invoice { id } ' + event + ' } } }';
    const held: number[] = [];
    // The least of several tries.
    for (let n = 0; n < 4 && !(Math.min(...held) < 60); n++)
      held.push(
        await longestTurn(async () => {
          const { body } = await client.graphql(`{ ${times(10, page)} }`);
          expect(body.errors[0].message).toContain(TOO_MANY_FIELDS);
        }),
      );
    expect(Math.min(...held)).toBeLessThan(60);
  });

  it('are refused while they are read, by the page length of the request, on every transport', async () => {
    const ask = async (first: number) => {
      const posted = await client.post(
        '/graphql',
        { query, variables: { first } },
        { Accept: 'application/graphql-response+json' },
      );
      const events = { Accept: 'text/event-stream' };
      const streamed = await client.post('/graphql/stream', { query, variables: { first } }, events);
      const ofStream = JSON.parse(/^data: (\{.*)$/m.exec(streamed.body)?.[1] ?? '');
      return [[posted.status, posted.body] as const, [200, ofStream] as const] as const;
    };
    // Often enough for the query to be compiled.
    for (const first of [7, 100, 8, 100, 9]) {
      const found = await ask(first);
      for (const [status, body] of found) {
        const [newest, oldest] = [body.data?.webhookEvents.edges[3], body.data?.webhookEvents.edges.at(-1)];
        if (first === 100) {
          expect(body.data).toBeUndefined();
          expect(body.errors[0].message).toContain(TOO_MANY_FIELDS);
          expect(body.errors[0].extensions).toMatchObject({ code: 'invalid_request', param: null, status: 400 });
        } else expect([status, newest.node.deliveries.length]).toEqual([200, 16]);
        if (first !== 100) expect(oldest.node.deliveries[15].event.deliveries).toHaveLength(16);
      }
      if (first === 100) expect(found.map(([status]) => status)).toEqual([400, 200]);
    }
  });
});
