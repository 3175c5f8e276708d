import { expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { type TestTenant, withSharedService } from '../support/service.ts';

let tenant: TestTenant;
let client: Client;

withSharedService.beforeAll(async ({ service }) => {
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});

const ICE = '001234567000062';
const PERSON = { kind: 'person', name: 'Amina Alaoui', address: '3, rue des Lilas, Rabat', email: 'amina@example.com' };
const ABROAD = { kind: 'foreign', name: 'Lyon Textiles SAS', country: 'FR', taxNumber: 'FR40303265045' };
const CUSTOMER = '{ kind ice name address email country taxNumber }';
const PROBLEMS = '... on InvalidInputError { problems { code message param status } }';

const inputOf = (customer: object) => ({
  amount: 12_000,
  currency: 'MAD',
  customer,
  lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10_000 }],
});

async function create(customer: object, idempotencyKey: string | null = null) {
  const { body } = await client.graphql(
    `mutation ($input: CreateInvoiceInput!, $key: String) { createInvoice(input: $input, idempotencyKey: $key) {
      ... on CreateInvoicePayload { replayed invoice { id customer ${CUSTOMER} warnings { code } } }
      ... on Error { code } ${PROBLEMS} } }`,
    { input: inputOf(customer), key: idempotencyKey },
  );
  expect(body.errors).toBeUndefined();
  return body.data.createInvoice;
}

const xmlOf = async (url: string) => (await (await fetch(url)).text()).replaceAll(/ xmlns:\w+="[^"]*"/g, '');

it('a private person is invoiced without any identifier, and REST shows it with ice null', async () => {
  const { invoice } = await create(PERSON);
  expect(invoice.customer).toEqual({ ...PERSON, ice: null, country: null, taxNumber: null });
  const settled = await client.settled(invoice.id);
  expect(settled).toMatchObject({ status: 'accepted', customer: { ice: null, name: PERSON.name } });
  expect(Object.keys(settled.customer)).toEqual(['ice', 'name']);
  const buyer = /<cac:AccountingCustomerParty>.*?<\/cac:AccountingCustomerParty>/.exec(
    await xmlOf(settled.xml_url),
  )?.[0];
  expect(buyer).toContain('<cbc:IdentificationCode>MA<');
  expect(buyer).not.toMatch(/PartyIdentification|PartyTaxScheme/);
  const codes = invoice.warnings.map(({ code }: { code: string }) => code);
  expect(codes.filter((code: string) => /ice|customer/.test(code))).toEqual([]);
});

it('a customer abroad is stated with its country and tax number, and include=customer shows them', async () => {
  const { invoice } = await create(ABROAD);
  expect(invoice.customer).toEqual({ ...ABROAD, ice: null, address: null, email: null });
  const settled = await client.settled(invoice.id);
  expect(settled.status).toBe('accepted');
  expect(await xmlOf(settled.xml_url)).toContain(
    '<cac:Country><cbc:IdentificationCode>FR</cbc:IdentificationCode></cac:Country></cac:PostalAddress>' +
      '<cac:PartyTaxScheme><cbc:CompanyID>FR40303265045</cbc:CompanyID><cac:TaxScheme><cbc:ID>VAT</cbc:ID>',
  );
  const { body } = await client.get(`/v1/invoices/${invoice.id}?include=customer`);
  const { customer, ...others } = settled;
  expect(body).toEqual({
    ...others,
    customer: { ...customer, kind: 'foreign', country: 'FR', tax_number: ABROAD.taxNumber },
  });
  expect(Object.keys(body)).toEqual(Object.keys(settled));
});

it('a company is answered as before, and with include=customer as a company', async () => {
  const { body: made } = await client.post('/v1/invoices', invoiceBody());
  expect(Object.keys(made.customer)).toEqual(['ice', 'name']);
  const { body } = await client.get(`/v1/invoices/${made.id}?include=customer`);
  expect(body.customer).toEqual({ ...made.customer, kind: 'company', country: null, tax_number: null });
});

it.each([
  ['a company without an ICE', { name: 'N' }, 'customer.ice', 400],
  ['a company with ICE null', { kind: 'company', ice: null, name: 'N' }, 'customer.ice', 400],
  ['a company with a wrong ICE', { ice: '123', name: 'N' }, 'customer.ice', 422],
  ['a company abroad by mistake', { ice: ICE, name: 'N', country: 'FR' }, 'customer.country', 400],
  ['a person with an ICE', { ...PERSON, ice: ICE }, 'customer.ice', 400],
  ['a person with an empty ICE', { ...PERSON, ice: '' }, 'customer.ice', 400],
  ['a person with a country', { ...PERSON, country: 'FR' }, 'customer.country', 400],
  ['a person with a tax number', { ...PERSON, taxNumber: '1' }, 'customer.taxNumber', 400],
  ['a customer abroad with an ICE', { ...ABROAD, ice: ICE }, 'customer.ice', 400],
  ['a customer abroad without a country', { ...ABROAD, country: null }, 'customer.country', 400],
  ['a customer abroad in Morocco', { ...ABROAD, country: 'MA' }, 'customer.country', 400],
  ['an unknown country', { ...ABROAD, country: 'XX' }, 'customer.country', 400],
  ['a country in small letters', { ...ABROAD, country: 'fr' }, 'customer.country', 400],
  ['a long country', { ...ABROAD, country: 'F'.repeat(10_000) }, 'customer.country', 400],
  ['a long tax number', { ...ABROAD, taxNumber: '1'.repeat(51) }, 'customer.taxNumber', 400],
  ['a tax number of two lines', { ...ABROAD, taxNumber: '1\n2' }, 'customer.taxNumber', 400],
])('%s is refused', async (_what, customer, param, status) => {
  const { problems } = await create(customer);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({ param, status });
  expect(problems[0].message.length).toBeLessThan(400);
  const { body } = await client.graphql(
    'mutation ($input: InvoiceDraft!) { validateInvoice(input: $input) { problems { param } } }',
    { input: inputOf(customer) },
  );
  expect(body.data.validateInvoice.problems).toEqual([{ param }]);
});

it('REST asks for the ICE, and knows no kind', async () => {
  for (const [customer, param] of [
    [{ name: 'N' }, 'customer.ice'],
    [{ ice: null, name: 'N' }, 'customer.ice'],
    [{ ice: ICE, name: 'N', kind: 'company' }, 'customer.kind'],
    [{ ice: ICE, name: 'N', country: 'FR' }, 'customer.country'],
  ] as const) {
    const { status, body } = await client.post('/v1/invoices', invoiceBody({ customer }));
    expect([status, body.error.param]).toEqual([400, param]);
  }
});

it('a repeated request may state that a company is one, and no other kind', async () => {
  const made = await create({ ice: ICE, name: 'N' }, 'customers-1');
  const repeated = await create({ kind: 'company', ice: ICE, name: 'N', country: null }, 'customers-1');
  expect(repeated).toMatchObject({ replayed: true, invoice: { id: made.invoice.id } });
  expect((await create(PERSON, 'customers-1')).code).toBe('idempotency_conflict');
});

it('persons with one name are different customers unless all that is stated of them is the same', async () => {
  const named = (changes: object) => create({ ...PERSON, name: 'Nadia Bennani', ...changes });
  await named({});
  await named({ email: 'AMINA@example.com', address: '3 rue des Lilas  RABAT' });
  await named({ email: 'other@example.com' });
  await named({ address: null });
  await create({ ...ABROAD, name: 'NADIA  BENNANI' });
  await create({ ice: ICE, name: 'Nadia Bennani' });
  await create({ ice: '001234567000089', name: 'Nadia Bennani' });
  const { body } = await client.graphql(`{ customers(beginning: "nadia") ${CUSTOMER} }`);
  const found = body.data.customers.map(({ kind, ice, email, address, country }: Record<string, unknown>) => [
    kind,
    ice,
    email,
    address,
    country,
  ]);
  expect(found).toEqual([
    ['company', '001234567000089', null, null, null],
    ['foreign', null, null, null, 'FR'],
    ['person', null, PERSON.email, null, null],
    ['person', null, 'other@example.com', PERSON.address, null],
    ['person', null, 'AMINA@example.com', '3 rue des Lilas  RABAT', null],
  ]);
  const { body: listed } = await client.graphql(
    `{ invoices(customerName: "nadia bennani") { nodes { id } } none: invoices(customerIce: "") { nodes { id } } }`,
  );
  expect(listed.data.invoices.nodes).toHaveLength(7);
  expect(listed.data.none.nodes).toEqual([]);
});

it('a credit note, a replacement and the credit of an earlier invoice keep who the customer is', async () => {
  const { invoice } = await create(ABROAD);
  await client.settled(invoice.id);
  const { body: replaced } = await client.graphql(
    `mutation ($id: ID!, $input: CreateInvoiceInput!) { replaceInvoice(invoiceId: $id, reason: error, input: $input) {
      ... on ReplaceInvoicePayload { invoice { id customer ${CUSTOMER} } creditNote { id customer ${CUSTOMER} } } ${PROBLEMS} } }`,
    { id: invoice.id, input: inputOf(PERSON) },
  );
  const { invoice: corrected, creditNote } = replaced.data.replaceInvoice;
  expect(creditNote.customer).toEqual(invoice.customer);
  expect(corrected.customer).toMatchObject(PERSON);
  expect((await client.settled(corrected.id)).status).toBe('accepted');
  const credit = (customer: object) =>
    client.graphql(
      `mutation ($input: CreditEarlierInvoiceInput!) { creditEarlierInvoice(input: $input) {
        ... on CreditEarlierInvoicePayload { creditNote { customer { kind ice } } } ${PROBLEMS} } }`,
      {
        input: {
          number: 'OLD-1',
          issueDate: '2026-01-31',
          reason: 'return',
          customer,
          lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10_000 }],
        },
      },
    );
  const earlier = await credit(PERSON);
  expect(earlier.body.data.creditEarlierInvoice.creditNote.customer).toEqual({ kind: 'person', ice: null });
  const refused = await credit({ name: 'N' });
  expect(refused.body.data.creditEarlierInvoice.problems).toMatchObject([{ param: 'customer.ice' }]);
});

it('a draft is checked by the kind of its customer, and issued', async () => {
  const { body: kept } = await client.graphql(
    `mutation ($content: DraftContent!) { createDraft(content: $content) {
      ... on CreateDraftPayload { draft { id version validation { problems { param } } } } } }`,
    { content: inputOf({ ...PERSON, kind: undefined }) },
  );
  const { id, version, validation } = kept.data.createDraft.draft;
  expect(validation.problems).toEqual([{ param: 'customer.ice' }]);
  const { body: changed } = await client.graphql(
    `mutation ($id: ID!, $version: Int!, $content: DraftContent!) { updateDraft(id: $id, version: $version, content: $content) {
      ... on UpdateDraftPayload { draft { version validation { problems { param } } } } } }`,
    { id, version, content: inputOf(PERSON) },
  );
  const { draft } = changed.data.updateDraft;
  expect(draft.validation.problems).toEqual([]);
  const { body: issued } = await client.graphql(
    `mutation ($id: ID!, $version: Int!) { issueDraft(id: $id, version: $version) {
      ... on IssueDraftPayload { invoice { customer ${CUSTOMER} } } } }`,
    { id, version: draft.version },
  );
  expect(issued.data.issueDraft.invoice.customer).toMatchObject({ ...PERSON, ice: null });
});

it('the event of an invoice to a person has ice null', async () => {
  const { invoice } = await create(PERSON);
  await client.settled(invoice.id);
  const { body } = await client.graphql(`{ invoice(id: "${invoice.id}") { events { body } } }`);
  for (const { body: sent } of body.data.invoice.events) {
    expect(JSON.parse(sent).data.customer).toEqual({ ice: null, name: PERSON.name });
  }
});
