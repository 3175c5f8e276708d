import { expect, it, vi } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;
let invoice: { readonly id: string; readonly client_secret: string };
let creditNoteId: string;

const ALL = 'number,totals,terms,warnings,credits';

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
  // The check key of this ICE is wrong, which is a warning.
  invoice = (await client.post('/v1/invoices', invoiceBody({ customer: { ice: '001234567000080', name: 'N' } }))).body;
  expect((await client.settled(invoice.id)).status).toBe('accepted');
  const { body } = await client.graphql(
    `mutation { creditInvoice(invoiceId: "${invoice.id}", input: { reason: discount, amounts: [{ taxRate: 20, net: 1000 }] }) {
      ... on CreditInvoicePayload { creditNote { id } } } }`,
  );
  creditNoteId = body.data.creditInvoice.creditNote.id;
  const shown = `{ creditNote(id: "${creditNoteId}") { status } }`;
  await vi.waitFor(async () => expect((await client.graphql(shown)).body.data.creditNote.status).toBe('accepted'), {
    timeout: 30_000,
    interval: 100,
  });
});

const textOf = async (path: string, key: string = tenant.secretKey) =>
  (await fetch(`${service.url}${path}`, { headers: { Authorization: `Bearer ${key}` } })).text();

it('adds the members that GraphQL has, after those of the contract, in a fixed order', async () => {
  const { body } = await client.graphql(`{ invoice(id: "${invoice.id}") { number
    totals { subtotal tax_total: taxTotal tax_totals: taxTotals { rate base tax } total }
    terms { operation_date: operationDate due_date: dueDate payment_mode: paymentMode payment_means: paymentMeans
      payment_reference: paymentReference bank_account: bankAccount }
    warnings { code path message } } }`);
  const credits = {
    credited_amount: 1200,
    credit_notes: [{ id: creditNoteId, number: expect.stringMatching(/^AV-/), status: 'accepted', amount: 1200 }],
    replaces: null,
    replaced_by: null,
  };
  const expected = { ...body.data.invoice, credits };
  expect(expected.warnings.length).toBeGreaterThan(0);
  const plain = (await client.get(`/v1/invoices/${invoice.id}`)).body;
  const { body: read } = await client.get(`/v1/invoices/${invoice.id}?include=credits,warnings,terms,totals,number`);
  expect(read).toEqual({ ...plain, ...expected });
  expect(Object.keys(read)).toEqual([...Object.keys(plain), ...ALL.split(',')]);
  const { body: list } = await client.get(`/v1/invoices?include=${ALL}`);
  expect(list.data.find(({ id }: { id: string }) => id === invoice.id)).toEqual(read);
  const one = (await client.get(`/v1/invoices/${invoice.id}?include=number`)).body;
  expect(one).toEqual({ ...plain, number: read.number });
});

it('adds them to the answer of a creation and of its repetition', async () => {
  const headers = { 'Idempotency-Key': 'include-1' };
  const made = await client.post(`/v1/invoices?include=${ALL}`, invoiceBody(), headers);
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ number: null, warnings: expect.any(Array), totals: { total: made.body.amount } });
  expect(made.body.credits).toEqual({ credited_amount: 0, credit_notes: [], replaces: null, replaced_by: null });
  const again = await client.post('/v1/invoices', invoiceBody(), headers);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.body.id).toBe(made.body.id);
  expect(again.body).not.toHaveProperty('number');
});

it('changes no byte of an answer that does not ask for it', async () => {
  const plain = await textOf(`/v1/invoices/${invoice.id}`);
  const included = await textOf(`/v1/invoices/${invoice.id}?include=number,credits`);
  expect(included.startsWith(plain.slice(0, -1))).toBe(true);
  expect(plain).not.toContain('"number"');
  // Without `include`, the answer after one with it is the same as before it.
  expect(await textOf(`/v1/invoices/${invoice.id}`)).toBe(plain);
  expect(JSON.parse(await textOf('/v1/invoices')).data[0]).not.toHaveProperty('number');
});

it('changes no byte of the events of an invoice', async () => {
  /** The bodies of an invoice's events, without what differs from one invoice to another. */
  async function bodiesOf(query: string): Promise<string[]> {
    const { body } = await client.post(`/v1/invoices${query}`, invoiceBody({ number: `N${query.length}` }));
    await client.settled(body.id);
    const ofInvoice = async () => {
      const read = await client.graphql('{ webhookEvents(first: 20) { nodes { invoiceId body } } }');
      const nodes: { invoiceId: string; body: string }[] = read.body.data.webhookEvents.nodes;
      return nodes.filter(({ invoiceId }) => invoiceId === body.id).map((each) => each.body);
    };
    await expect.poll(async () => (await ofInvoice()).length).toBe(3);
    return (await ofInvoice()).map((text) => withoutOwn(text));
  }
  const plain = await bodiesOf('');
  expect(plain.at(0)).toContain('"type":"invoice.accepted"');
  expect(await bodiesOf(`?include=${ALL}`)).toEqual(plain);
});

/** Replaces ids, times and addresses of documents. */
function withoutOwn(text: string): string {
  return text
    .replace(/(evt|inv)_[\da-f-]{36}/g, '$1_…')
    .replace(/"(created|created_at|updated_at)":[^,}]+/g, '"$1":…')
    .replace(/"(dgi_id|xml_url|pdf_url)":"[^"]+"/g, '"$1":"…"');
}

const NONE = { credited_amount: null, credit_notes: [], replaces: null, replaced_by: null };

it('shows a reader with a client_secret what GraphQL shows it', async () => {
  const read = JSON.parse(await textOf(`/v1/invoices/${invoice.id}?include=${ALL}`, invoice.client_secret));
  expect(read).toMatchObject({ number: expect.any(String), warnings: [], credits: NONE });
  const path = `/v1/invoices/${invoice.id}?client_secret=${invoice.client_secret}&include=credits`;
  expect(JSON.parse(await textOf(path, tenant.publishableKey))).toHaveProperty('credits', NONE);
});

it.each(['', 'numbers', 'number,', 'number,number', 'Number', ' number', 'toString', 'number'.repeat(20), 'number%00'])(
  'refuses include=%s with the names that it knows',
  async (names) => {
    for (const path of [`/v1/invoices/${invoice.id}`, '/v1/invoices']) {
      const { status, body } = await client.get(`${path}?include=${names}`);
      expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request', 'include']);
      expect(body.error.message).toContain(ALL.replaceAll(',', ', '));
    }
    const before = (await client.get('/v1/invoices?limit=1')).body.data[0].id;
    expect((await client.post(`/v1/invoices?include=${names}`, invoiceBody())).status).toBe(400);
    expect((await client.get('/v1/invoices?limit=1')).body.data[0].id).toBe(before);
  },
);

it('refuses include twice', async () => {
  const { status, body } = await client.get(`/v1/invoices/${invoice.id}?include=number&include=terms`);
  expect([status, body.error.param]).toEqual([400, 'include']);
});

const NUMBERED = {
  number: 'FA 2026/7',
  terms: { due_date: '2027-01-31', payment_means: 'transfer', bank_account: null },
};

it('takes number and terms with the rules and errors of GraphQL', async () => {
  const { status, body } = await client.post('/v1/invoices?include=number,terms', invoiceBody(NUMBERED));
  expect([status, body.number]).toEqual([201, 'FA 2026/7']);
  expect(body.terms).toMatchObject({ due_date: '2027-01-31', payment_means: 'transfer', operation_date: null });
  const { body: shown } = await client.graphql(
    `{ invoice(id: "${body.id}") { number terms { dueDate paymentMeans } } }`,
  );
  expect(shown.data.invoice).toEqual({
    number: 'FA 2026/7',
    terms: { dueDate: '2027-01-31', paymentMeans: 'transfer' },
  });
  const refused = async (changes: Record<string, unknown>) => {
    const { status, body } = await client.post('/v1/invoices', invoiceBody(changes));
    return [status, body.error?.code, body.error?.param];
  };
  expect(await refused(NUMBERED)).toEqual([422, 'duplicate_number', 'number']);
  expect(await refused({ number: 'AV-2026-000001' })).toEqual([400, 'invalid_request', 'number']);
  expect(await refused({ number: ' ' })).toEqual([400, 'invalid_request', 'number']);
  expect(await refused({ terms: { due_date: '2026-02-30' } })).toEqual([400, 'invalid_request', 'terms.due_date']);
  expect(await refused({ terms: { due_date: '1999-01-31' } })).toEqual([422, 'invalid_date', 'terms.due_date']);
  const { body: late } = await client.post('/v1/invoices', invoiceBody({ terms: { due_date: '1999-01-31' } }));
  expect(late.error.message).toMatch(/^due_date is 1999-01-31; for an invoice of /);
  expect(await refused({ terms: { dueDate: '2027-01-31' } })).toEqual([400, 'invalid_request', 'terms.dueDate']);
  expect(await refused({ terms: { bank_account: '123456789012345678901235' } })).toEqual([
    422,
    'invalid_bank_account',
    'terms.bank_account',
  ]);
});

it('makes number and terms part of what a repetition must repeat, in REST as in GraphQL', async () => {
  const headers = { 'Idempotency-Key': 'include-2' };
  const own = { ...NUMBERED, number: 'FA 2026/8' };
  const made = (await client.post('/v1/invoices', invoiceBody(own), headers)).body;
  expect((await client.post('/v1/invoices', invoiceBody(own), headers)).body.id).toBe(made.id);
  for (const changes of [{}, { ...own, number: 'FA 2026/9' }, { ...own, terms: { due_date: '2027-02-01' } }]) {
    const { status, body } = await client.post('/v1/invoices', invoiceBody(changes), headers);
    expect([status, body.error.code]).toEqual([409, 'idempotency_conflict']);
  }
  // Absent members and null are the same, so a client of before is unaffected.
  const old = { 'Idempotency-Key': 'include-3' };
  const plain = (await client.post('/v1/invoices', invoiceBody(), old)).body;
  const again = await client.post('/v1/invoices', invoiceBody({ number: null, terms: null }), old);
  expect([again.status, again.body.id]).toEqual([201, plain.id]);
});

it('credits has the links between a replaced invoice and its correction', async () => {
  const input = {
    amount: 12_000,
    currency: 'MAD',
    customer: { ice: '001234567000089', name: 'N' },
    lines: [{ description: 'x', quantity: 1, unitPrice: 10_000, taxRate: 20 }],
  };
  const rejected = invoiceBody({ customer: { ice: '999000000000102', name: 'N' } });
  const { body: created } = await client.post('/v1/invoices', rejected);
  await client.settled(created.id);
  const { body } = await client.graphql(
    `mutation ($id: ID!, $input: CreateInvoiceInput!) { replaceInvoice(invoiceId: $id, input: $input, reason: error) {
      ... on ReplaceInvoicePayload { invoice { id } } } }`,
    { id: created.id, input },
  );
  const { id } = body.data.replaceInvoice.invoice;
  const { body: before } = await client.get(`/v1/invoices/${created.id}?include=credits`);
  const { body: after } = await client.get(`/v1/invoices/${id}?include=credits`);
  expect(before.credits).toMatchObject({ replaces: null, replaced_by: id });
  expect(after.credits).toMatchObject({ replaces: created.id, replaced_by: null });
});

it('the list has the invoice of a number, or the invoices of a customer', async () => {
  const ice = '002222222000061';
  const own = await client.post('/v1/invoices', invoiceBody({ number: 'LISTED 7', customer: { ice, name: 'Listed' } }));
  const other = await client.post('/v1/invoices', invoiceBody({ customer: { ice, name: 'Listed' } }));
  const ids = async (query: string) => {
    const { status, body } = await client.get(`/v1/invoices?${query}`);
    expect([status, body.object, body.has_more]).toEqual([200, 'list', false]);
    return body.data.map((each: { id: string }) => each.id);
  };
  expect(await ids('number=LISTED%207')).toEqual([own.body.id]);
  expect(await ids('number=LISTED%208')).toEqual([]);
  expect(await ids(`customer_ice=${ice}`)).toEqual([other.body.id, own.body.id]);
  expect(await ids(`customer_ice=${ice}&starting_after=${other.body.id}`)).toEqual([own.body.id]);
  const { body } = await client.get('/v1/invoices?number=LISTED%207&include=number');
  expect(body).toMatchObject({ data: [{ number: 'LISTED 7' }], next_cursor: own.body.id });
  const stranger = new Client(service.url, (await service.tenant()).secretKey);
  expect((await stranger.get('/v1/invoices?number=LISTED%207')).body.data).toEqual([]);
  for (const [query, param] of [
    ['number=1&status=accepted', 'number'],
    ['number=1&customer_ice=002222222000061', 'number'],
    [`number=${'x'.repeat(51)}`, 'number'],
    ['customer_ice=12', 'customer_ice'],
    ['customer_ice=002222222000061&status=accepted', 'customer_ice'],
  ] as const) {
    const { status, body: refused } = await client.get(`/v1/invoices?${query}`);
    expect([status, refused.error.code, refused.error.param], query).toEqual([400, 'invalid_request', param]);
  }
});
