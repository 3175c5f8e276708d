import { expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import type { InvoiceStatus } from '../../src/domain/invoice/lifecycle.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { invoicesOf, pendingInvoice } from '../support/invoices.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;
const ICES = ['001234567000011', '001234567000022', '009999999000033'];

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
  const names = ['Société Atlas', 'SOCIETE  ATLAS', 'Société Bleue'];
  for (const [i, name] of names.entries()) await store(name, ICES[i] ?? '', 1000 + (i % 2));
  await store('Autre maison', ICES[0] ?? '', 1000);
  await store('Société Atlas', ICES[0] ?? '', 1000, (await service.tenant()).id);
});

async function store(
  name: string,
  ice: string,
  amount: number,
  tenantId = tenant.id,
  status: InvoiceStatus = 'accepted',
) {
  const { createdAt, order } = newCreationMoment();
  const base = pendingInvoice({ tenantId, status, createdAt, amount, work: null });
  const invoice = { ...base, customer: { ...base.customer, name, ice } };
  await invoicesOf(service.app.store.db).insert(invoice, order, null);
  return invoice.id;
}

async function askWith(by: Client, query: string, variables: Record<string, unknown> = {}) {
  return (await by.graphql(query, variables)).body;
}
const ask = (query: string, variables: Record<string, unknown> = {}) => askWith(client, query, variables);

async function names(args: string): Promise<string[]> {
  const { data } = await ask(`{ invoices(${args}) { nodes { customer { name } } } }`);
  return data.invoices.nodes.map((each: { customer: { name: string } }) => each.customer.name);
}

async function customers(beginning: string) {
  const { data } = await ask('query ($b: String!) { customers(beginning: $b) { name ice } }', { b: beginning });
  return data.customers.map(({ name, ice }: { name: string; ice: string }) => `${name} ${ice}`);
}

it('invoices are listed by their customer’s name, without regard to case, accents and spaces', async () => {
  expect(await names('customerName: "societe atlas"')).toEqual(['SOCIETE  ATLAS', 'Société Atlas']);
  expect(await names('customerName: "societe"')).toEqual([]);
});

it('invoices are listed by ICE and by amount, and by pages', async () => {
  expect(await names(`customerIce: "${ICES[0]}"`)).toEqual(['Autre maison', 'Société Atlas']);
  expect(await names('amount: 1001')).toEqual(['SOCIETE  ATLAS']);
  const first = await ask(
    '{ invoices(amount: 1000, first: 2) { nodes { customer { name } } pageInfo { hasNextPage endCursor } } }',
  );
  const { endCursor, hasNextPage } = first.data.invoices.pageInfo;
  expect([first.data.invoices.nodes.length, hasNextPage]).toEqual([2, true]);
  expect(await names(`amount: 1000, first: 2, after: "${endCursor}"`)).toEqual(['Société Atlas']);
});

it('filters that no index combines are refused', async () => {
  for (const [args, param] of [
    ['customerName: "a", status: accepted', 'customerName'],
    ['customerIce: "1", amount: 5', 'amount'],
    ['customerName: "a", customerIce: "1"', 'customerIce'],
  ]) {
    const { errors } = await ask(`{ invoices(${args}) { nodes { id } } }`);
    expect(errors[0].extensions).toMatchObject({ code: 'invalid_request', param });
  }
});

it('customers are found by the beginning of their name or ICE, each once, also beyond its other invoices', async () => {
  for (let i = 0; i < 5; i++) await store('Société Atlas', ICES[0] ?? '', 7);
  expect(await customers('Socié')).toEqual([`Société Atlas ${ICES[0]}`, `Société Bleue ${ICES[2]}`]);
  expect(await customers('0012')).toEqual([`Société Atlas ${ICES[0]}`, `SOCIETE  ATLAS ${ICES[1]}`]);
  expect(await customers('atlas')).toEqual([]);
  expect(await customers('$where')).toEqual([]);
});

it('at most ten customers are found; a text without letters is refused', async () => {
  for (let i = 0; i < 12; i++) await store(`Zone ${i}`, ICES[0] ?? '', 7);
  expect(await customers('zone')).toHaveLength(10);
  for (const beginning of ['', '  ', '…', '\u0301']) {
    const { errors } = await ask('query ($b: String!) { customers(beginning: $b) { name } }', { b: beginning });
    expect(errors[0].extensions).toMatchObject({ code: 'invalid_request', param: 'beginning' });
  }
});

it('the days count what the tenant created, by status', async () => {
  const other = await service.tenant();
  const own = new Client(service.url, other.secretKey);
  const today = async () =>
    (await askWith(own, '{ invoiceDays(days: 3) { accepted rejected pending } }')).data.invoiceDays;
  const none = { accepted: 0, rejected: 0, pending: 0 };
  expect(await today()).toEqual([none, none, none]);
  for (const status of ['accepted', 'accepted', 'rejected', 'pending'] as const)
    await store('A', '1', 1, other.id, status);
  expect((await today())[0]).toEqual({ accepted: 2, rejected: 1, pending: 1 });
});

it('a credit note is in no list, no count and no search of invoices, and its id is no place in a list of them', async () => {
  const other = await service.tenant();
  const own = new Client(service.url, other.secretKey);
  const invoiceId = await store('Atlas', ICES[0] ?? '', 100, other.id, 'pending');
  const { createdAt, order } = newCreationMoment();
  const number = 'AV 1';
  const of = { tenantId: other.id, status: 'pending', createdAt, work: null, ownNumber: number, number } as const;
  const base = pendingInvoice({ ...of, id: newId('crn'), kind: 'credit_note', amount: 100 });
  const note = { ...base, customer: { ...base.customer, name: 'Boréal', ice: ICES[2] ?? '' } };
  await invoicesOf(service.app.store.db).insert(note, order, null);
  const { body: listed } = await own.get('/v1/invoices');
  expect(listed.data.map(({ id }: { id: string }) => id)).toEqual([invoiceId]);
  const { data } = await askWith(
    own,
    `{ all: invoices { nodes { id } } matching: invoices(amount: 100) { nodes { id } } invoiceDays(days: 1) { pending }
      name: customers(beginning: "b") { name } ice: customers(beginning: "0099") { name } }`,
  );
  expect(data).toEqual({
    all: { nodes: [{ id: invoiceId }] },
    matching: { nodes: [{ id: invoiceId }] },
    invoiceDays: [{ pending: 1 }],
    name: [],
    ice: [],
  });
  expect((await own.get(`/v1/invoices?starting_after=${note.id}`)).status).toBe(400);
  const { errors } = await askWith(own, 'query ($n: String!) { invoiceByNumber(number: $n) { id } }', { n: number });
  expect(errors[0].extensions.code).toBe('resource_not_found');
});

it('any part of a document finds it: what it states, its number and the id of the authority', async () => {
  const own = await service.tenant();
  const asked = new Client(service.url, own.secretKey);
  const body = { customer: { ice: ICES[0], name: 'Coopérative Zâafrane du Souss' }, metadata: { order: 'web_88012' } };
  const { body: invoice } = await asked.post('/v1/invoices', invoiceBody(body));
  const ids = async (search: string, more = '') =>
    (await askWith(asked, `query($search: String) { invoices(search: $search${more}) { nodes { id } } }`, { search }))
      .data.invoices.nodes;
  const done = await asked.settled(invoice.id);
  await asked.found(invoice.id, done.dgi_id);
  for (const text of ['zaaf', 'SOUSS coop', 'web_88', '001234567', 'souss 88012'])
    expect(await ids(text)).toEqual([{ id: invoice.id }]);
  const { number } = (await askWith(asked, `{ invoice(id: "${invoice.id}") { number } }`)).data.invoice;
  for (const text of [number, number.slice(-4), done.dgi_id, done.dgi_id.slice(-6), `souss ${number}`])
    expect(await ids(text)).toEqual([{ id: invoice.id }]);
  expect(await ids('souss', ', status: accepted')).toEqual([{ id: invoice.id }]);
  expect(await ids('souss', ', status: rejected')).toEqual([]);
  expect(await ids('souss absent')).toEqual([]);
  const other = new Client(service.url, (await service.tenant()).secretKey);
  expect(
    (await askWith(other, `{ fiscalDocuments(search: "souss") { nodes { id } } }`)).data.fiscalDocuments.nodes,
  ).toEqual([]);
});

it.each([
  ['search: ""', 'search'],
  ['search: "a", customerName: "a"', 'customerName'],
])('a search that cannot be read is refused: %s', async (filter, param) => {
  const { errors } = await askWith(client, `{ fiscalDocuments(${filter}) { nodes { id } } }`);
  expect(errors[0].extensions).toMatchObject({ code: 'invalid_request', param });
});
