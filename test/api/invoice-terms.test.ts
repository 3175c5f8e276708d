import { expect, it } from 'vitest';
import { addDays } from '../../src/domain/calendar-date.ts';
import { moroccanDate } from '../../src/domain/morocco/time.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { type TestService, withSharedService } from '../support/service.ts';

let service: TestService;
let client: Client;
const [RIB, OTHER_RIB] = ['999780000128473900001726', '999780000000000000000008'];

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  client = new Client(service.url, (await service.tenant(SPECIMEN_SELLER)).secretKey);
});

const TERMS = 'terms { operationDate dueDate paymentMode paymentMeans paymentReference bankAccount }';
const CREATE = `mutation ($input: CreateInvoiceInput!, $key: String) { createInvoice(input: $input, idempotencyKey: $key) {
  ... on CreateInvoicePayload { replayed invoice { id number ${TERMS} warnings { code } } }
  ... on Error { code param status } ... on InvalidInputError { problems { code param status } }
} }`;
const VALIDATE = `mutation ($input: InvoiceDraft!) { validateInvoice(input: $input) {
  valid problems { code param status } warnings { code path } } }`;
const UPDATE = `mutation ($input: SellerProfileInput!) { updateSellerProfile(input: $input) {
  ... on UpdateSellerProfilePayload { tenant { seller { paymentMode paymentMeans paymentTermDays bankAccount operationDateIsIssueDate } } }
  ... on InvalidInputError { problems { param } } } }`;

const draft = (terms?: object) => ({
  amount: 12000,
  currency: 'MAD',
  customer: { ice: '001525713000000', name: 'Atlas', address: '1, rue des Orangers' },
  lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10000 }],
  ...(terms && { terms }),
});

async function create(input: object, key: string | null = null) {
  const { body } = await client.graphql(CREATE, { input, key });
  expect(body.errors).toBeUndefined();
  return body.data.createInvoice;
}

/** The signed XML of an invoice, after acceptance. */
async function xmlOf(id: string): Promise<string> {
  const { xml_url } = await client.settled(id);
  return (await (await fetch(xml_url)).text()).replaceAll(/ xmlns(:\w+)?="[^"]*"/g, '');
}

const today = () => moroccanDate(new Date());

it('the terms of an invoice are stored and stated in its XML, and a replay does not change them', async () => {
  const terms = {
    // In the month of the invoice, on whichever day the test runs.
    operationDate: `${today().slice(0, 7)}-01`,
    dueDate: addDays(today(), 60),
    paymentMode: 'Chèque barré',
    paymentMeans: 'cheque',
    paymentReference: 'CMD 4711',
    bankAccount: OTHER_RIB,
  };
  const { replayed, invoice } = await create(draft(terms), 'terms');
  expect(replayed).toBe(false);
  expect(invoice.terms).toEqual(terms);
  expect(invoice.warnings).toEqual([]);
  const xml = await xmlOf(invoice.id);
  expect(xml).toContain(`<cbc:DueDate>${terms.dueDate}</cbc:DueDate>`);
  expect(xml).toContain(`<cbc:ActualDeliveryDate>${terms.operationDate}</cbc:ActualDeliveryDate>`);
  expect(xml).toContain(
    `<cbc:PaymentMeansCode name="Chèque barré">20</cbc:PaymentMeansCode><cbc:PaymentID>CMD 4711</cbc:PaymentID>` +
      `<cac:PayeeFinancialAccount><cbc:ID>${OTHER_RIB}</cbc:ID></cac:PayeeFinancialAccount>`,
  );
  expect(await create(draft(terms), 'terms')).toMatchObject({ replayed: true, invoice: { id: invoice.id, terms } });
  expect(await create(draft({ ...terms, dueDate: addDays(today(), 61) }), 'terms')).toMatchObject({
    code: 'idempotency_conflict',
  });
});

it('REST uses the terms of the profile, and a later change of the profile changes no invoice', async () => {
  const tenant = await service.tenant(SPECIMEN_SELLER);
  const own = new Client(service.url, tenant.secretKey);
  const profile = {
    paymentMode: 'Virement à 45 jours',
    paymentMeans: 'transfer',
    paymentTermDays: 45,
    bankAccount: RIB,
    operationDateIsIssueDate: true,
  };
  const changed = await own.graphql(UPDATE, { input: profile });
  expect(changed.body.data.updateSellerProfile.tenant.seller).toEqual(profile);
  const { id, created_at } = (await own.post('/v1/invoices', invoiceBody())).body;
  await own.graphql(UPDATE, { input: { paymentMeans: null, paymentTermDays: null, bankAccount: null } });
  await own.settled(id);
  const issued = moroccanDate(new Date(created_at));
  const { invoice } = (await own.graphql(`{ invoice(id: "${id}") { number ${TERMS} } }`)).body.data;
  expect(invoice.terms).toEqual({
    operationDate: issued,
    dueDate: addDays(issued, 45),
    paymentMode: 'Virement à 45 jours',
    paymentMeans: 'transfer',
    paymentReference: invoice.number,
    bankAccount: RIB,
  });
  const { xml_url } = (await own.get(`/v1/invoices/${id}`)).body;
  const xml = (await (await fetch(xml_url)).text()).replaceAll(/ xmlns(:\w+)?="[^"]*"/g, '');
  expect(xml).toContain(
    `<cbc:PaymentMeansCode name="Virement à 45 jours">30</cbc:PaymentMeansCode><cbc:PaymentID>${invoice.number}</cbc:PaymentID>` +
      `<cac:PayeeFinancialAccount><cbc:ID>${RIB}</cbc:ID></cac:PayeeFinancialAccount>`,
  );
  const without = (await own.post('/v1/invoices', invoiceBody())).body;
  await own.settled(without.id);
  const { invoice: next } = (await own.graphql(`{ invoice(id: "${without.id}") { ${TERMS} } }`)).body.data;
  expect(next.terms).toMatchObject({ dueDate: null, paymentMeans: null, paymentReference: null, bankAccount: null });
});

it('structural problems are 400, business rules are 422, and validateInvoice reports the same', async () => {
  for (const [terms, ...problems] of [
    [
      { operationDate: '2026-02-30', dueDate: 'demain', bankAccount: '1', paymentReference: '\u0007' },
      '400 terms.operationDate',
      '400 terms.dueDate',
      '400 terms.paymentReference',
      '400 terms.bankAccount',
    ],
    [{ dueDate: addDays(today(), -2) }, '422 terms.dueDate'],
    [
      { operationDate: '1999-12-31', dueDate: '2999-01-01', bankAccount: `${RIB.slice(0, -1)}7` },
      '422 terms.operationDate',
      '422 terms.dueDate',
      '422 terms.bankAccount',
    ],
  ] as const) {
    const told = (each: { status: number; param: string }) => `${each.status} ${each.param}`;
    expect((await create(draft(terms))).problems.map(told)).toEqual(problems);
    const { body } = await client.graphql(VALIDATE, { input: draft(terms) });
    expect(body.data.validateInvoice.problems.map(told)).toEqual(problems);
  }
  const wrongKind = await client.graphql(CREATE, { input: draft({ paymentMeans: 'gold' }) });
  expect(wrongKind.body.errors[0].extensions).toMatchObject({ code: 'invalid_request', status: 400 });
});

it('validateInvoice warns of missing information and of terms that are too long', async () => {
  const warnings = async (terms?: object) => {
    const { body } = await client.graphql(VALIDATE, { input: draft(terms) });
    expect(body.data.validateInvoice).toMatchObject({ valid: true, problems: [] });
    return body.data.validateInvoice.warnings.map(({ code }: { code: string }) => code);
  };
  expect(await warnings()).toEqual([
    'operation_date_missing',
    'due_date_missing',
    'payment_means_missing',
    'payment_reference_missing',
  ]);
  const dates = { operationDate: today(), dueDate: addDays(today(), 121) };
  expect(await warnings({ ...dates, paymentMeans: 'transfer' })).toEqual(['due_date_late', 'bank_account_missing']);
});

it('validateInvoice does not warn of a field that it reports as a problem', async () => {
  const customer = { ...draft().customer, address: 'x'.repeat(501) };
  for (const [terms, ...paths] of [
    [{ operationDate: 'hier' }, 'terms.dueDate', 'terms.paymentMeans', 'terms.paymentReference'],
    [{ dueDate: '2999-01-01' }, 'terms.operationDate', 'terms.paymentMeans', 'terms.paymentReference'],
    [{ bankAccount: '1', paymentMeans: 'transfer' }, 'terms.operationDate', 'terms.dueDate'],
  ] as const) {
    const { body } = await client.graphql(VALIDATE, { input: { ...draft(terms), customer } });
    expect(body.data.validateInvoice.warnings.map(({ path }: { path: string }) => path)).toEqual(paths);
  }
});
