import { expect, it } from 'vitest';
import { moroccanDate } from '../../src/domain/morocco/time.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { type TestTenant, withSharedService } from '../support/service.ts';

let tenant: TestTenant;
let client: Client;

withSharedService.beforeAll(async ({ service }) => {
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});

const today = moroccanDate(new Date());
const PARTICULARS = {
  references: { order: 'BC-4711', contract: 'C-2026/9' },
  servicePeriod: { from: '2026-01-01', to: '2026-01-31' },
  foreignValue: { currency: 'EUR', amount: 100_000, rate: 10.8345, rateDate: today },
};
const INPUT = {
  amount: 1_083_450,
  currency: 'MAD',
  customer: { ice: '001234567000062', name: 'Atlas Distribution SARL' },
  lines: [{ description: 'Conseil', quantity: 1, unitPrice: 902_875 }],
  ...PARTICULARS,
};
const SELECTED =
  'references { order contract } servicePeriod { from to } foreignValue { currency amount rate rateDate }';

const create = async (input: object, idempotencyKey: string | null = null) => {
  const { body } = await client.graphql(
    `mutation ($input: CreateInvoiceInput!, $key: String) { createInvoice(input: $input, idempotencyKey: $key) {
      ... on CreateInvoicePayload { replayed invoice { id ${SELECTED} terms { operationDate } warnings { code path } } }
      ... on InvalidInputError { code status param problems { param } } ... on IdempotencyConflictError { code } } }`,
    { input, key: idempotencyKey },
  );
  expect(body.errors).toBeUndefined();
  return body.data.createInvoice;
};
const xmlOf = async (id: string) => (await fetch((await client.settled(id)).xml_url)).text();

it('an invoice states its order, contract, period and foreign value; REST shows what it always did', async () => {
  const { invoice } = await create(INPUT);
  const { id, warnings, terms, ...stated } = invoice;
  expect(stated).toEqual(PARTICULARS);
  expect(terms.operationDate).toBeNull();
  // The period's end counts as the date of the operation.
  expect(warnings).toContainEqual({ code: 'invoiced_after_month_end', path: 'servicePeriod.to' });
  expect(warnings).not.toContainEqual(expect.objectContaining({ code: 'operation_date_missing' }));
  const xml = await xmlOf(id);
  for (const text of ['>BC-4711<', '>C-2026/9<', '>2026-01-31<', 'Valeur convenue : 1000,00 EUR', '>10.8345<'])
    expect(xml).toContain(text);
  const shown = (await client.get(`/v1/invoices/${id}`)).body;
  const plain = (await client.post('/v1/invoices', invoiceBody())).body;
  expect(Object.keys(shown)).toEqual(Object.keys(plain).filter((name) => name !== 'client_secret'));
  expect(shown).toMatchObject({ status: 'accepted', amount: 1_083_450, currency: 'MAD' });
});

it('an invoice without them answers null', async () => {
  const { references: _r, servicePeriod: _s, foreignValue: _f, ...plain } = INPUT;
  expect((await create(plain)).invoice).toMatchObject({ references: null, servicePeriod: null, foreignValue: null });
});

it('a repeated creation is known by them', async () => {
  const first = await create(INPUT, 'particulars');
  expect(await create(INPUT, 'particulars')).toMatchObject({ replayed: true, invoice: { id: first.invoice.id } });
  const other = { ...INPUT, references: { ...PARTICULARS.references, order: 'BC-4712' } };
  expect(await create(other, 'particulars')).toEqual({ code: 'idempotency_conflict' });
});

it('a repeated creation may say that there is nothing, or leave it out', async () => {
  const { references: _references, ...plain } = INPUT;
  const nothing = { ...plain, isDeposit: false, references: {}, terms: {}, withholding: null };
  const lines = INPUT.lines.map((line) => ({ ...line, taxIncluded: false }));
  const first = await create({ ...nothing, lines }, 'nothing');
  expect(first.invoice.references).toBeNull();
  for (const same of [plain, { ...plain, references: { order: null } }, { ...plain, lines, isDeposit: null }])
    expect(await create(same, 'nothing')).toMatchObject({ replayed: true, invoice: { id: first.invoice.id } });
  for (const other of [{ isDeposit: true }, { references: { order: 'BC' } }, { terms: { paymentMode: 'Chèque' } }])
    expect(await create({ ...plain, ...other }, 'nothing')).toEqual({ code: 'idempotency_conflict' });
  const discount = { percent: 5, reason: 'Remise' };
  const sold = { ...plain, amount: 1_029_277, foreignValue: null };
  const discounted = await create({ ...sold, discount }, 'discounted');
  expect(await create({ ...sold, discount: { ...discount, taxIncluded: false } }, 'discounted')).toMatchObject({
    replayed: true,
    invoice: { id: discounted.invoice.id },
  });
});

it('REST does not take them', async () => {
  for (const name of ['references', 'service_period', 'servicePeriod', 'foreignValue', 'foreign_value']) {
    const { status, body } = await client.post('/v1/invoices', invoiceBody({ [name]: {} }));
    expect([status, body.error.param]).toEqual([400, name]);
  }
});

it('a value that is not the amount is refused, and a draft says so', async () => {
  const wrong = { ...INPUT, foreignValue: { ...PARTICULARS.foreignValue, amount: 110_000 } };
  expect(await create(wrong)).toMatchObject({ code: 'amount_mismatch', status: 422, param: 'foreignValue.amount' });
  const { body } = await client.graphql(
    `mutation ($input: InvoiceDraft!) { validateInvoice(input: $input) { valid problems { param } } }`,
    { input: { ...wrong, servicePeriod: { from: '2026-02-01', to: '2026-01-31' } } },
  );
  expect(body.data.validateInvoice).toEqual({
    valid: false,
    problems: [{ param: 'servicePeriod.to' }, { param: 'foreignValue.amount' }],
  });
});

it('a draft is issued with them, and a corrected invoice states its own; the credit note states none', async () => {
  const { body } = await client.graphql(
    `mutation ($content: DraftContent!) { createDraft(content: $content) {
      ... on CreateDraftPayload { draft { id version validation { valid } } } } }`,
    { content: INPUT },
  );
  const { draft } = body.data.createDraft;
  expect(draft.validation.valid).toBe(true);
  const issued = await client.graphql(
    `mutation { issueDraft(id: "${draft.id}", version: ${draft.version}) {
      ... on IssueDraftPayload { invoice { id ${SELECTED} } } } }`,
  );
  const { id, ...stated } = issued.body.data.issueDraft.invoice;
  expect(stated).toEqual(PARTICULARS);
  await client.settled(id);
  const replaced = await client.graphql(
    `mutation ($input: CreateInvoiceInput!) { replaceInvoice(invoiceId: "${id}", input: $input, reason: other) {
      ... on ReplaceInvoicePayload { invoice { id ${SELECTED} } creditNote { id } } } }`,
    { input: { ...INPUT, references: { order: 'BC-4712' }, servicePeriod: null } },
  );
  const { invoice, creditNote } = replaced.body.data.replaceInvoice;
  expect(invoice).toMatchObject({
    ...PARTICULARS,
    references: { order: 'BC-4712', contract: null },
    servicePeriod: null,
  });
  await client.settled(invoice.id);
  const note = await client.graphql(`{ creditNote(id: "${creditNote.id}") { documents { xml { url } } } }`);
  const xml = await (await fetch(note.body.data.creditNote.documents.xml.url)).text();
  expect(xml).toContain('<CreditNote');
  expect(xml).not.toMatch(/InvoicePeriod|OrderReference|ContractDocumentReference|ExchangeRate|Valeur convenue/);
});
