import { expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { KINDS, type Kind } from '../../src/domain/invoice/kinds.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import { seriesKey } from '../../src/storage/invoice-numbers.ts';
import { Client } from '../support/client.ts';
import { invoicesOf, pendingInvoice } from '../support/invoices.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;
/** Ids, newest first. */
const made: string[] = [];
const KINDS_MADE: readonly Kind[] = ['invoice', 'credit_note', 'invoice', 'credit_note', 'credit_note'];
const CREDIT = {
  original: { id: 'inv_original', number: '2026-000001', issueDate: '2026-01-31', dgiId: null },
  reason: 'error',
  note: null,
  rates: [{ rate: 20, base: 1000, tax: 200 }],
  amount: 1200,
} as const;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
  for (const [nth, kind] of KINDS_MADE.entries()) made.unshift(await store(kind, tenant.id, 1200 + (nth % 2)));
  await store('credit_note', (await service.tenant()).id, 1200);
});

async function store(kind: Kind, tenantId: string, amount: number): Promise<string> {
  const { createdAt, order } = newCreationMoment();
  const id = newId(KINDS[kind].idPrefix);
  const changes = { ...(kind === 'credit_note' && { credit: CREDIT }), status: 'accepted', work: null } as const;
  await invoicesOf(service.app.store.db).insert(
    pendingInvoice({ id, kind, tenantId, amount, createdAt, ...changes }),
    order,
    null,
  );
  return id;
}

async function list(args = '') {
  const query = `{ fiscalDocuments${args} {
    nodes { __typename id amount ... on CreditNote { invoice { number } } ... on Invoice { roundingAmount } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
  const { body } = await client.graphql(query);
  return body.data?.fiscalDocuments ?? body.errors[0].extensions;
}
const idsOf = (page: { nodes: { id: string }[] }) => page.nodes.map(({ id }) => id);

it('lists the tenant’s documents of all kinds newest first, each as its own type', async () => {
  const page = await list();
  expect(idsOf(page)).toEqual(made);
  expect(page.nodes.map((each: { __typename: string }) => each.__typename)).toEqual(
    KINDS_MADE.map((kind) => (kind === 'invoice' ? 'Invoice' : 'CreditNote')).reverse(),
  );
  expect(page.nodes[0]).toMatchObject({ invoice: { number: '2026-000001' } });
});

it('lists one kind, and filters all kinds as one list', async () => {
  const ofKind = (kind: Kind) => made.filter((id) => id.startsWith(KINDS[kind].idPrefix));
  expect(idsOf(await list('(kind: credit_note)'))).toEqual(ofKind('credit_note'));
  expect(idsOf(await list('(kind: invoice)'))).toEqual(ofKind('invoice'));
  expect(idsOf(await list('(amount: 1201)'))).toEqual([made[1], made[3]]);
  expect(idsOf(await list('(status: rejected)'))).toEqual([]);
  expect(await list('(status: accepted, amount: 1200)')).toMatchObject({ code: 'invalid_request', param: 'amount' });
});

/** Reads all pages, two documents each: to the end by `after`, and back by `before`. */
async function read(args: string): Promise<[down: string[], up: string[]]> {
  let page = await list(`(${args}, first: 2)`);
  const down = idsOf(page);
  expect(page.pageInfo.hasPreviousPage).toBe(false);
  while (page.pageInfo.hasNextPage) {
    page = await list(`(${args}, first: 2, after: "${page.pageInfo.endCursor}")`);
    expect(page.pageInfo.hasPreviousPage).toBe(true);
    down.push(...idsOf(page));
  }
  const up: string[] = idsOf(page);
  while (page.pageInfo.hasPreviousPage) {
    page = await list(`(${args}, last: 2, before: "${page.pageInfo.startCursor}")`);
    expect(page.pageInfo.hasNextPage).toBe(true);
    up.unshift(...idsOf(page));
  }
  return [down, up];
}

it('is sorted by date, amount and customer, in both directions and over pages of all kinds', async () => {
  const [fifth, fourth, third, second, first] = made;
  const oldest = made.toReversed();
  // The amounts are 1200, 1201, 1200, 1201, 1200, from the first on; the name is the same.
  const byAmount = [fifth, third, first, fourth, second];
  for (const [sort, expected] of Object.entries({
    newest: made,
    oldest,
    amount: byAmount,
    amount_descending: byAmount.toReversed(),
    customer: made,
    customer_descending: oldest,
  })) {
    expect([sort, ...(await read(`sort: ${sort}`))]).toEqual([sort, expected, expected]);
    const notes = expected.filter((id) => id?.startsWith('crn_'));
    expect(await read(`sort: ${sort}, kind: credit_note`)).toEqual([notes, notes]);
  }
  expect(await read('sort: oldest, status: accepted')).toEqual([oldest, oldest]);
});

it('is sorted by number, series by series, without what has no number', async () => {
  const owner = { tenantId: tenant.id, environment: 'test' as const };
  const { db } = service.app.store;
  const series = (of: string) => (of.startsWith('crn_') ? 'AV-2026' : '2026');
  const [fifth, fourth, third, second, first] = made as [string, string, string, string, string];
  // In another order than they were made, and one without a number.
  const numbered = [third, fourth, fifth, first].map((id, n) => ({ id, name: series(id), serial: n + 1 }));
  for (const { id, name, serial } of numbered) {
    const set = { $set: { series: { name, serial } } };
    await db.collection<{ _id: string }>('invoices').updateOne({ _id: id }, set);
    const number = { _id: seriesKey(owner, { name, serial }), invoiceId: id };
    await db.collection<{ _id: string; invoiceId: string }>('invoice_numbers').insertOne(number);
  }
  const lost = { _id: seriesKey(owner, { name: '2026', serial: 9 }), invoiceId: 'lost', lostFrom: 5 };
  await db.collection<{ _id: string }>('invoice_numbers').insertOne(lost);
  const inOrder = numbered.toSorted((a, b) => a.name.length - b.name.length || a.serial - b.serial).map(({ id }) => id);
  expect(inOrder).not.toContain(second);
  for (const [sort, all] of [
    ['number', inOrder],
    ['number_descending', inOrder.toReversed()],
  ] as const) {
    expect([sort, ...(await read(`sort: ${sort}`))]).toEqual([sort, all, all]);
    for (const [kind, prefix] of [
      ['credit_note', 'crn_'],
      ['invoice', 'inv_'],
    ] as const) {
      const expected = all.filter((id) => id.startsWith(prefix));
      expect([kind, ...(await read(`sort: ${sort}, kind: ${kind}`))]).toEqual([kind, expected, expected]);
    }
  }
  expect(await list(`(sort: number, after: "${second}")`)).toMatchObject({ code: 'invalid_request', param: 'after' });
  expect(await list('(sort: number, status: accepted)')).toMatchObject({ code: 'invalid_request', param: 'sort' });
});

it('refuses orders and filters for which no index is, and cursors of others', async () => {
  const [id] = made;
  for (const [args, param] of [
    ['sort: amount, status: accepted', 'sort'],
    ['sort: customer, amount: 1200', 'sort'],
    ['sort: amount_descending, createdAfter: "2026-01-01T00:00:00Z"', 'sort'],
    ['sort: customer, first: 101', 'first'],
    [`sort: amount, kind: invoice, after: "${id}"`, 'after'],
    [`sort: amount, after: "${newId('inv')}"`, 'after'],
  ])
    expect(await list(`(${args})`)).toMatchObject({ code: 'invalid_request', param });
  const other = new Client(service.url, (await service.tenant()).secretKey);
  const { body } = await other.graphql(`{ fiscalDocuments(sort: amount, after: "${id}") { nodes { id } } }`);
  expect(body.errors[0].extensions).toMatchObject({ code: 'invalid_request', param: 'after' });
});

it('pages in both directions, with the ids of both kinds as cursors', async () => {
  const first = await list('(first: 2)');
  expect(idsOf(first)).toEqual(made.slice(0, 2));
  expect(first.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false, endCursor: made[1] });
  const second = await list(`(first: 2, after: "${made[1]}")`);
  expect(idsOf(second)).toEqual(made.slice(2, 4));
  expect(second.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
  expect(idsOf(await list(`(last: 2, before: "${made[3]}")`))).toEqual(made.slice(1, 3));
});

it('refuses the cursor of a document of the other kind', async () => {
  const [note] = made;
  expect(await list(`(kind: invoice, after: "${note}")`)).toMatchObject({ code: 'invalid_request', param: 'after' });
  expect(await list('(after: "we_1")')).toMatchObject({ code: 'invalid_request', param: 'after' });
});

it('finds a document of any kind by its number, and invoiceByNumber only invoices', async () => {
  const lines = [{ description: 'Conseil', quantity: 1, unit_price: 10_000 }];
  const customer = { ice: '001234567000062', name: 'Atlas' };
  const { body } = await client.post('/v1/invoices', { amount: 12_000, currency: 'MAD', customer, lines });
  await client.settled(body.id);
  const credited = await client.graphql(
    `mutation { creditInvoice(invoiceId: "${body.id}", input: { reason: error }) {
      ... on CreditInvoicePayload { creditNote { id } } } }`,
  );
  const { id } = credited.body.data.creditInvoice.creditNote;
  const numberOf = async () =>
    (await client.graphql(`{ creditNote(id: "${id}") { number } }`)).body.data.creditNote.number;
  await expect.poll(numberOf, { timeout: 20_000 }).toMatch(/^AV-/);
  const number = await numberOf();
  const found = await client.graphql(`{ fiscalDocumentByNumber(number: "${number}") { __typename id } }`);
  expect(found.body.data.fiscalDocumentByNumber).toEqual({ __typename: 'CreditNote', id });
  for (const [query, by] of [
    ['invoiceByNumber', client],
    ['fiscalDocumentByNumber', new Client(service.url, (await service.tenant()).secretKey)],
  ] as const) {
    const { errors } = (await by.graphql(`{ ${query}(number: "${number}") { id } }`)).body;
    expect(errors[0].extensions).toMatchObject({ code: 'resource_not_found', param: 'number' });
  }
});
