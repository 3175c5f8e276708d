import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { READ_BYTES } from '../../src/domain/answer-bounds.ts';
import { newId } from '../../src/domain/ids.ts';
import { LIMITS } from '../../src/graphql/limits.ts';
import { type Answer, Client, invoiceBody } from '../support/client.ts';
import { copiedInvoice } from '../support/large-invoices.ts';
import { firstOf } from '../support/samples.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';
import { WORST_DOCUMENTS } from '../support/worst-documents.ts';

// An answer is bounded in fields and bytes while it is made, for every credential and transport.

let service: TestService;
let wholesaler: TestTenant;
let shop: TestTenant;
let large: Awaited<ReturnType<typeof copiedInvoice>>;

beforeAll(async () => {
  service = await startService();
  [wholesaler, shop] = [await service.tenant(), await service.tenant()];
  large = await copiedInvoice(service, wholesaler, 1000, 12);
  await copiedInvoice(service, shop, 20, 99, 'Conseil et accompagnement');
});
afterAll(() => service.close());

const times = (count: number, field: string) => Array.from({ length: count }, (_, i) => `a${i}: ${field}`).join(' ');
const oneInvoice = (lines: string, more = '') => `{ invoice(id: "${large.id}"${more}) { id lines { ${lines} } } }`;
const TOO_MANY_FIELDS = 'more than 30,000 fields. Ask for less at once: shorter pages (first, last), fewer fields';
const TOO_MANY_BYTES = 'more than 2,097,152 bytes. Ask for less at once';

/** The response of each transport: twice as JSON, because the first one is never prepared, then as event streams. */
async function answers(token: string, query: string): Promise<{ status: number; text: string }[]> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const found: { status: number; text: string }[] = [];
  for (const [path, Accept] of [
    ['/graphql', 'application/graphql-response+json'],
    ['/graphql', 'application/graphql-response+json'],
    ['/graphql', 'application/graphql-response+json'],
    ['/graphql/stream', 'text/event-stream'],
  ] as const) {
    const body = JSON.stringify({ query });
    const response = await fetch(service.url + path, { method: 'POST', headers: { ...headers, Accept }, body });
    const text = await response.text();
    found.push({ status: response.status, text: /^data: (\{.*)$/m.exec(text)?.[1] ?? text });
  }
  return found;
}

async function refused(token: string, ...queries: readonly string[]): Promise<void> {
  for (const query of queries) {
    const found = await answers(token, query);
    expect(found.map(({ status }) => status)).toEqual([400, 400, 400, 200]);
    for (const { text } of found) expect(text).toContain(TOO_MANY_FIELDS);
  }
}

/** What is rejected without a handler, which ends a process that runs for itself. */
async function unhandledAfter(work: () => Promise<void>): Promise<unknown[]> {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  await work().finally(async () => {
    // Some come after the answer.
    await new Promise((resolve) => setTimeout(resolve, 50));
    process.off('unhandledRejection', note);
  });
  return unhandled;
}

const CREDENTIALS: readonly (readonly [string, () => string, () => string])[] = [
  ['a secret key', () => wholesaler.secretKey, () => ''],
  ['a client_secret', () => large.client_secret, () => ''],
  ['a publishable key with one', () => wholesaler.publishableKey, () => `, clientSecret: "${large.client_secret}"`],
];

it.each(CREDENTIALS)('an answer of too many fields is refused with %s', (_name, token, argument) =>
  refused(token(), oneInvoice(times(30, 'quantity'), argument())),
);

describe.each(firstOf(CREDENTIALS))('with %s', (_name, token, argument) => {
  const query = (lines: string) => oneInvoice(lines, argument());

  it.each([
    ['an answer of too many fields', () => query(times(30, 'quantity')), TOO_MANY_FIELDS],
    ['an answer of too many bytes', () => query(times(5, 'description')), TOO_MANY_BYTES],
    ['too much of the schema', () => WORST_DOCUMENTS['the schema four times'] ?? '', TOO_MANY_FIELDS],
    ['the schema too often', () => WORST_DOCUMENTS['the schema at each root field'] ?? '', TOO_MANY_FIELDS],
  ])('%s is refused without data, and the message says what to do', async (_what, text, message) => {
    const found = await answers(token(), text());
    expect(found.map(({ status }) => status)).toEqual([400, 400, 400, 200]);
    for (const { text } of found) {
      const { errors, data } = JSON.parse(text);
      expect([data, errors.length]).toEqual([undefined, 1]);
      expect(errors[0].message).toContain(message);
      expect(errors[0].extensions).toMatchObject({ code: 'invalid_request', param: null, status: 400 });
    }
  });

  it('an answer that passes the limit in lists of lists is refused, and leaves no promise without a handler', async () => {
    const args = ['a', 'b', 'c'].map((alias) => `${alias}: args { name }`).join(' ');
    const ofSchema = `{ __schema { types { ...A } } } fragment A on __Type { ${times(12, `fields { ${args} }`)} }`;
    const ofInvoice = query(`${times(3, 'amount')} } timeline { status at } more: lines { ${times(27, 'quantity')}`);
    expect(await unhandledAfter(() => refused(token(), ...firstOf([ofInvoice, ofSchema])))).toEqual([]);
  });

  it('an answer just within both limits is the same on every transport', async () => {
    const within = [times(28, 'quantity'), times(4, 'description'), 'description quantity unitPrice taxRate amount'];
    for (const lines of firstOf(within, 2)) {
      const found = await answers(token(), query(lines));
      const [first] = found;
      for (const { text } of found) {
        expect(Buffer.byteLength(text)).toBeLessThan(LIMITS.answerBytes + 1000);
        expect(text === first?.text).toBe(true);
      }
      const { data } = JSON.parse(first?.text ?? '');
      expect(data.invoice.lines).toHaveLength(1000);
      expect(Object.keys(data.invoice.lines[999])).toHaveLength(lines.includes(':') ? lines.split(':').length - 1 : 5);
    }
  });
});

it('the query of the attack is refused: lines are counted by their actual number', async () => {
  for (const { text } of await answers(
    wholesaler.secretKey,
    `{ invoices(first: 60) { nodes { lines { ${times(45, 'description')} } } } }`,
  ))
    expect(text).toContain(TOO_MANY_FIELDS);
});

it('a page of lists beyond the limit is refused, and leaves no promise without a handler', async () => {
  const page = `{ invoices(first: 10) { nodes { timeline { status at } lines { ${times(12, 'quantity')} } } } }`;
  expect(await unhandledAfter(() => refused(wholesaler.secretKey, page))).toEqual([]);
});

it('an ordinary page is answered: 100 invoices of 20 lines each, with all their fields', async () => {
  const query = `{ invoices(first: 100) {
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    edges { cursor node {
      id status amount environment currency number customer { ice name address email } metadata dgiId rejectionReason
      createdAt updatedAt lines { description quantity unitPrice taxRate amount } totals { subtotal taxTotal total taxTotals { rate base tax } }
      roundingAmount timeline { status at eventId } warnings { code path message } seller { legalName ice missingFields }
      documents { pdf { url ready sha256 size } xml { url ready } } deliveries { state endpoint { url } }
    } }
  } }`;
  for (const { text } of await answers(shop.secretKey, query)) {
    const { edges } = JSON.parse(text).data.invoices;
    expect([edges.length, edges[99].node.lines.length]).toEqual([100, 20]);
  }
});

it('a page of large invoices is cut, and the following pages return each invoice once', async () => {
  const client = new Client(service.url, wholesaler.secretKey);
  const seen: string[] = [];
  let after: string | null = null;
  for (let more = true; more; ) {
    const query =
      'query ($after: String) { invoices(first: 100, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }';
    const answer: Answer = await client.graphql(query, { after });
    const { nodes, pageInfo } = answer.body.data.invoices;
    expect(nodes.length).toBeLessThan(10);
    seen.push(...nodes.map(({ id }: { id: string }) => id));
    more = pageInfo.hasNextPage;
    after = pageInfo.endCursor;
  }
  expect(seen).toEqual([...large.ids].reverse());
});

it('a page of large invoices over REST is cut in the same way, towards older and towards newer ones', async () => {
  const client = new Client(service.url, wholesaler.secretKey);
  const newestFirst = [...large.ids].reverse();
  for (const parameter of ['starting_after', 'ending_before']) {
    const older = parameter === 'starting_after';
    const seen: string[] = [];
    let cursor = older ? null : large.id;
    for (let more = true; more; ) {
      const query = cursor === null ? '' : `&${parameter}=${cursor}`;
      const { status, body }: Answer = await client.get(`/v1/invoices?limit=100${query}`);
      expect([status, body.next_cursor]).toEqual([200, body.data.at(-1).id]);
      expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(READ_BYTES);
      const page = body.data.map(({ id }: { id: string }) => id);
      seen.splice(older ? seen.length : 0, 0, ...page);
      more = body.has_more;
      cursor = older ? body.next_cursor : page[0];
    }
    expect(seen).toEqual(older ? newestFirst : newestFirst.slice(0, -1));
  }
});

it('several pages of large invoices share the limit of bytes that one operation may read', async () => {
  const client = new Client(service.url, wholesaler.secretKey);
  const pages = (count: number) => `{ ${times(count, 'invoices(first: 100) { nodes { id } }')} }`;
  expect((await client.graphql(pages(10))).body.errors[0].message).toContain(
    'more than 4 MiB of stored data behind it',
  );
  const { data } = (await new Client(service.url, shop.secretKey).graphql(pages(10))).body;
  expect(data.a9.nodes).toHaveLength(100);
});

it('the totals of a search share the limit of bytes that one operation may read', async () => {
  const client = new Client(service.url, wholesaler.secretKey);
  await client.found(large.id, 'atlas');
  // biome-ignore lint/suspicious/noExplicitAny: any stored document
  const invoices = service.app.store.db.collection<any>('invoices');
  const { searchTerms } = (await invoices.findOne({ _id: large.id })) ?? {};
  await invoices.updateMany({ _id: { $in: large.ids } }, { $set: { searchTerms } });
  const totals = (count: number, search: string) =>
    client.graphql(`{ ${times(count, `fiscalDocumentTotals${search} { count hasMore }`)} }`);
  const { count, hasMore } = (await totals(1, '(search: "atlas")')).body.data.a0;
  expect(hasMore).toBe(true);
  expect(count).toBeGreaterThan(0);
  expect(count).toBeLessThan(large.ids.length);
  expect((await totals(10, '(search: "atlas")')).body.errors[0].message).toContain(
    'more than 4 MiB of stored data behind it',
  );
  // The sums of days read none.
  expect(Object.keys((await totals(10, '')).body.data)).toHaveLength(10);
});

it('pages of attempts share the limit of bytes that one operation may read', async () => {
  const client = new Client(service.url, shop.secretKey);
  const attempt = {
    at: new Date(),
    url: 'https://example.com/',
    requestHeaders: {},
    status: 500,
    headers: [],
    truncated: true,
    body: 'x'.repeat(16 * 1024),
    latencyMs: 1,
    failure: null,
  };
  // biome-ignore lint/suspicious/noExplicitAny: the stored form
  const stored = (name: string) => service.app.store.db.collection<any>(name);
  for (let n = 0; n < 20; n++) {
    const attempts = Array.from({ length: 25 }, (_, i) => ({ _id: `${n} ${i}`, ...attempt }));
    await stored('webhook_attempts').insertMany(attempts);
    await stored('webhook_deliveries').insertOne({
      _id: `dlv_${newId('evt').slice(4)}_${n}`,
      tenantId: shop.id,
      environment: 'test',
      endpointId: 'we_1',
      eventId: newId('evt'),
      eventType: 'invoice.accepted',
      invoiceId: 'inv_1',
      state: 'failed',
      createdAt: new Date(),
      order: `0000000000000000000000${String(n).padStart(2, '0')}`,
      attempts: attempts.map(({ _id }) => _id),
      storedAt: new Date(),
    });
  }
  const page = (first: number) => `webhookDeliveries(first: ${first}) { nodes { attempts { status responseBody } } }`;
  const pages = ['a', 'b', 'c', 'd', 'e'].map((alias) => `${alias}: ${page(20)}`);
  expect((await client.graphql(`{ ${pages.join(' ')} }`)).body.errors[0]).toMatchObject({
    message: expect.stringContaining('more than 4 MiB of stored data behind it'),
    extensions: { code: 'invalid_request', status: 400 },
  });
  expect((await client.graphql(`{ ${page(4)} }`)).body.data.webhookDeliveries.nodes[3].attempts).toHaveLength(25);
});

it('pages of events are cut by size, and share the limit with events and invoices that other rows refer to', async () => {
  const merchant = await service.tenant();
  const client = new Client(service.url, merchant.secretKey);
  const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, '界'.repeat(500)]));
  const line = { description: 'x', quantity: 1, unit_price: 100, tax_rate: 20 };
  const { id } = (await client.post('/v1/invoices', invoiceBody({ amount: 120, lines: [line], metadata }))).body;
  await client.settled(id);
  // biome-ignore lint/suspicious/noExplicitAny: the stored form
  const stored = (name: string) => service.app.store.db.collection<any>(name);
  const [invoices, events] = [stored('invoices'), stored('webhook_events')];
  const kept = () => events.find({ invoiceId: id }).toArray();
  await expect.poll(async () => (await kept()).length).toBe(3);
  const [{ place: _place, ...event }] = (await kept()) as [{ place: string }];
  const own = await invoices.findOne({ _id: id });
  const { idempotency: _key, series: _number, outbox: _outbox, work: _work, ...invoice } = own;
  // 60 events of 76 KB each, of as many invoices.
  for (let n = 0; n < 60; n++) {
    const [invoiceId, eventId] = [newId('inv'), newId('evt')];
    const order = `0000000000000000000000${String(n).padStart(2, '0')}`;
    await invoices.insertOne({ ...invoice, _id: invoiceId, order, events: [{ ...own.events[0], id: eventId }] });
    await events.insertOne({ ...event, _id: eventId, invoiceId, order, place: `${order}p` });
  }
  const page = 'webhookEvents(first: 100) { nodes { id } pageInfo { hasNextPage endCursor } }';
  const first = (await client.graphql(`{ ${page} }`)).body.data.webhookEvents;
  expect(first.nodes.length).toBeLessThan(57);
  const after = first.pageInfo.endCursor;
  const rest = await client.graphql(`{ ${page.replace('100', `100, after: "${after}"`)} }`);
  const all = [...first.nodes, ...rest.body.data.webhookEvents.nodes].map((node: { id: string }) => node.id);
  expect([all.length, new Set(all).size, rest.body.data.webhookEvents.pageInfo.hasNextPage]).toEqual([63, 63, false]);
  for (const query of [
    `{ a: ${page} b: ${page} c: ${page} }`,
    '{ invoices(first: 40) { nodes { events { id } } } }',
    '{ webhookEvents(first: 40) { nodes { invoice { id } } } }',
  ])
    expect((await client.graphql(query)).body.errors[0].message).toContain('more than 4 MiB of stored data behind it');
  const ordinary = await client.graphql('{ webhookEvents { nodes { body invoice { id } } } }');
  expect(ordinary.body.data.webhookEvents.nodes).toHaveLength(20);
});

it('a mutation whose answer may be too large does not run', async () => {
  const client = new Client(service.url, shop.secretKey);
  const count = async () => service.app.store.db.collection('invoices').countDocuments({ tenantId: shop.id });
  const input = {
    amount: 120,
    currency: 'MAD',
    customer: { ice: '001234567000089', name: 'Atlas' },
    lines: [{ description: 'Conseil', quantity: 1, unitPrice: 100 }],
  };
  const create = (lines: string) =>
    `mutation ($input: CreateInvoiceInput!) { createInvoice(input: $input) { ... on CreateInvoicePayload { invoice { id lines { ${lines} } } } } }`;
  const before = await count();
  const refused = await client.graphql(create(times(12, 'description')), { input });
  expect(refused.body.errors[0]).toMatchObject({
    message: expect.stringContaining('may select the same list, or text in a list, at most 10 times'),
    extensions: { code: 'invalid_request', param: null, status: 400 },
  });
  const answered = await client.graphql(create(times(45, 'amount')), { input });
  expect(answered.body.data.createInvoice.invoice.lines).toHaveLength(1);
  expect(await count()).toBe(before + 1);
});

it('the result of each event of a subscription is bounded', async () => {
  const query = `subscription { invoiceEvents { event { invoice { id lines { ${times(30, 'quantity')} } } } } }`;
  const client = new Client(service.url, wholesaler.secretKey);
  const abort = new AbortController();
  for (const path of firstOf(['/graphql/stream', '/graphql'])) {
    const response = await fetch(service.url + path, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${wholesaler.secretKey}`,
        'Content-Type': 'application/json',
        Accept: 'text/event-stream',
      },
      body: JSON.stringify({ query }),
      signal: abort.signal,
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const line = { description: 'x', quantity: 1, unit_price: 100, tax_rate: 20 };
    await client.post('/v1/invoices', {
      amount: 120_000,
      currency: 'MAD',
      customer: { ice: '001234567000089', name: 'Atlas' },
      lines: Array.from({ length: 1000 }, () => line),
    });
    let text = '';
    while (!text.includes('"errors"')) text += (await reader?.read())?.value ?? '';
    expect(text).toContain(TOO_MANY_FIELDS);
  }
  abort.abort();
});
