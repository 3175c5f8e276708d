import { expect, it } from 'vitest';
import { addDays } from '../../src/domain/calendar-date.ts';
import { moroccanDate } from '../../src/domain/morocco/time.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});

const today = moroccanDate(new Date());
const certificate = { number: 'ARF 117', date: today };
const WITHHOLDING = { percent: 75, certificate };
/** 10,000.00 at 20 %: of 2,000.00 VAT the buyer withholds 1,500.00. */
const INPUT = {
  amount: 1_200_000,
  currency: 'MAD',
  customer: { ice: '001234567000062', name: 'Atlas Distribution SARL' },
  lines: [{ description: 'Conseil', quantity: 1, unitPrice: 1_000_000 }],
  withholding: WITHHOLDING,
};
const SELECTED =
  'amount netToPay withholding { percent amount certificate { number date ageInMonths } } totals { total taxTotal }';
const SHOWN = {
  amount: 1_200_000,
  netToPay: 1_050_000,
  withholding: { percent: 75, amount: 150_000, certificate: { ...certificate, ageInMonths: 0 } },
  totals: { total: 1_200_000, taxTotal: 200_000 },
};

const create = async (input: object, idempotencyKey: string | null = null) => {
  const { body } = await client.graphql(
    `mutation ($input: CreateInvoiceInput!, $key: String) { createInvoice(input: $input, idempotencyKey: $key) {
      ... on CreateInvoicePayload { replayed invoice { id ${SELECTED} warnings { code path } } }
      ... on InvalidInputError { code status param message } ... on IdempotencyConflictError { code } } }`,
    { input, key: idempotencyKey },
  );
  expect(body.errors).toBeUndefined();
  return body.data.createInvoice;
};
const warned = ({ warnings }: { readonly warnings: readonly { readonly code: string }[] }) =>
  warnings.map(({ code }) => code).filter((code) => code.startsWith('withholding_'));
const xmlOf = async (id: string) => (await fetch((await client.settled(id)).xml_url)).text();

it('an invoice states what its buyer withholds and pays; its amounts, and what REST shows, stay', async () => {
  const { id, warnings, ...shown } = (await create(INPUT)).invoice;
  expect(shown).toEqual(SHOWN);
  expect(warned({ warnings })).toEqual([]);
  const xml = await xmlOf(id);
  expect(xml).toContain('soit 1500,00 MAD. Net à payer : 10500,00 MAD. Attestation de régularité fiscale n° ARF 117');
  expect(xml).toMatch(/<cbc:PayableAmount[^>]*>12000\.00</);
  const read = (await client.get(`/v1/invoices/${id}`)).body;
  const plain = (await client.post('/v1/invoices', invoiceBody())).body;
  expect(Object.keys(read)).toEqual(Object.keys(plain).filter((name) => name !== 'client_secret'));
  expect(read).toMatchObject({ status: 'accepted', amount: 1_200_000 });
  const totals = (await client.get(`/v1/invoices/${id}?include=totals`)).body.totals;
  expect(Object.keys(totals)).toEqual(['subtotal', 'tax_total', 'tax_totals', 'total']);
  const page = await (await fetch(`${service.url}/verify/${id}?lang=en`)).text();
  expect(page.replaceAll(/<[^>]*>|\s+/g, ' ').replaceAll(/ +/g, ' ')).toContain(
    'Total incl. VAT 12,000.00 MAD VAT withheld by the buyer −1,500.00 MAD Amount due 10,500.00 MAD',
  );
});

it('without it the net to pay is the amount, also if that is rounded', async () => {
  const { withholding: _stated, ...plain } = INPUT;
  expect((await create(plain)).invoice).toMatchObject({ withholding: null, netToPay: 1_200_000 });
  // VAT of 66.666 on each line, which this amount rounds by itself: of 133.33 in the document, 100.00 is withheld.
  const line = { ...INPUT.lines[0], unitPrice: 33_333 };
  const rounded = { ...INPUT, lines: [line, line], amount: 80_000 };
  expect((await create(rounded)).invoice).toMatchObject({ totals: { total: 79_999 }, netToPay: 70_000 });
});

it('warns by the rules of the date, and refuses nothing for them', async () => {
  const of = async (changes: object) => warned((await create({ ...INPUT, ...changes })).invoice);
  expect(await of({ withholding: { percent: 75 } })).toEqual(['withholding_certificate_missing']);
  expect(await of({ withholding: { percent: 80, certificate } })).toEqual(['withholding_percent_unknown']);
  expect(await of({ withholding: { percent: 100, certificate: null } })).toEqual([]);
  const old = { ...certificate, date: addDays(today, -190) };
  expect(await of({ withholding: { percent: 75, certificate: old } })).toEqual(['withholding_certificate_old']);
  const small = { amount: 12_000, lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10_000 }] };
  expect(await of(small)).toEqual(['withholding_below_minimum']);
  expect(await of({ customer: { kind: 'person', name: 'Amina' } })).toEqual(['withholding_by_no_company']);
});

it('refuses a certificate of a later day, and what is no percentage', async () => {
  const later = { percent: 75, certificate: { ...certificate, date: addDays(today, 1) } };
  expect(await create({ ...INPUT, withholding: later })).toMatchObject({
    code: 'invalid_date',
    status: 422,
    param: 'withholding.certificate.date',
  });
  expect(await create({ ...INPUT, withholding: { percent: 101 } })).toMatchObject({
    status: 400,
    param: 'withholding.percent',
    message: 'withholding.percent must be a whole number from 1 to 100; 101 was sent.',
  });
});

it('a repeated creation is known by it; REST does not take it', async () => {
  const first = await create(INPUT, 'withholding');
  expect(await create(INPUT, 'withholding')).toMatchObject({ replayed: true, invoice: { id: first.invoice.id } });
  expect(await create({ ...INPUT, withholding: { percent: 75 } }, 'withholding')).toEqual({
    code: 'idempotency_conflict',
  });
  const { status, body } = await client.post('/v1/invoices', invoiceBody({ withholding: WITHHOLDING }));
  expect([status, body.error.param]).toEqual([400, 'withholding']);
});

it('validation warns of it, and of a part of a certificate only says what is missing', async () => {
  const validate = async (withholding: object, changes: object = {}) => {
    const { body } = await client.graphql(
      `mutation ($input: InvoiceDraft!) { validateInvoice(input: $input) { valid netToPay problems { param } warnings { code } } }`,
      { input: { ...INPUT, withholding, ...changes } },
    );
    const { valid, netToPay, problems, warnings } = body.data.validateInvoice;
    return { valid, netToPay, problems, warned: warned({ warnings }) };
  };
  expect(await validate({ percent: 75 })).toEqual({
    valid: true,
    netToPay: 1_050_000,
    problems: [],
    warned: ['withholding_certificate_missing'],
  });
  expect(await validate({ percent: 75, certificate: { number: 'ARF 117' } })).toEqual({
    valid: false,
    netToPay: 1_050_000,
    problems: [{ param: 'withholding.certificate.date' }],
    warned: [],
  });
  const line = { description: 'Conseil', quantity: 1, unitPrice: 33_333 };
  const rounded = { amount: 80_000, lines: [line, line] };
  expect(await validate({ percent: 75 }, rounded)).toMatchObject({ valid: true, netToPay: 70_000 });
  expect(await validate({ percent: 0 })).toMatchObject({ valid: false, netToPay: null });
  expect(await validate({ percent: 75 }, { lines: [] })).toMatchObject({ valid: false, netToPay: null });
});

it('a draft is issued with it, a corrected invoice states its own, and the credit note credits the whole', async () => {
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
  expect(stated).toEqual(SHOWN);
  await client.settled(id);
  const replaced = await client.graphql(
    `mutation ($input: CreateInvoiceInput!) { replaceInvoice(invoiceId: "${id}", input: $input, reason: other) {
      ... on ReplaceInvoicePayload { invoice { id ${SELECTED} } creditNote { id amount } } } }`,
    { input: { ...INPUT, withholding: { percent: 100 } } },
  );
  const { invoice, creditNote } = replaced.body.data.replaceInvoice;
  expect(invoice).toMatchObject({
    netToPay: 1_000_000,
    withholding: { percent: 100, amount: 200_000, certificate: null },
  });
  expect(creditNote.amount).toBe(1_200_000);
  await client.settled(invoice.id);
  const note = await client.graphql(`{ creditNote(id: "${creditNote.id}") { documents { xml { url } } } }`);
  const xml = await (await fetch(note.body.data.creditNote.documents.xml.url)).text();
  expect(xml).toContain('<CreditNote');
  expect(xml).not.toMatch(/PaymentTerms|WithholdingTaxTotal|retenue/);
});

it('of a final invoice a share of the VAT that deposits leave is withheld', async () => {
  const { withholding: _stated, ...plain } = INPUT;
  const deposit = (await create({ ...INPUT, isDeposit: true })).invoice;
  expect(deposit.netToPay).toBe(1_050_000);
  await client.settled(deposit.id);
  const lines = [{ ...INPUT.lines[0], quantity: 3 }];
  const final = { ...plain, lines, deposits: [deposit.id], amount: 2_400_000, withholding: { percent: 100 } };
  const { invoice } = await create(final);
  expect(invoice).toMatchObject({ amount: 2_400_000, netToPay: 2_000_000, withholding: { amount: 400_000 } });
  expect(await xmlOf(invoice.id)).toContain('100 % de 4000,00 MAD');
});

it('an invoice in cash has the stamp duty of what is left to pay; its amounts and its XML do not contain it', async () => {
  const duty = async (changes: object) => {
    const { body } = await client.graphql(
      `mutation ($input: CreateInvoiceInput!) { createInvoice(input: $input) {
        ... on CreateInvoicePayload { invoice { id amount netToPay stampDuty rules { rule { code } message } } } } }`,
      { input: { ...INPUT, ...changes } },
    );
    expect(body.errors).toBeUndefined();
    return body.data.createInvoice.invoice;
  };
  const terms = { paymentMeans: 'cash' };
  const { rules, ...whole } = await duty({ terms, withholding: null });
  expect(whole).toMatchObject({ amount: 1_200_000, netToPay: 1_200_000, stampDuty: 3000 });
  expect(
    rules.find(({ rule }: { readonly rule: { readonly code: string } }) => rule.code === 'cash_stamp_duty').message,
  ).toContain('is 30.00 MAD');
  const xml = await xmlOf(whole.id);
  expect(xml).toMatch(/<cbc:PayableAmount[^>]*>12000\.00</);
  expect(xml).not.toMatch(/timbre|30\.00/);
  expect((await client.get(`/v1/invoices/${whole.id}`)).body).not.toHaveProperty('stamp_duty');
  expect(await duty({ terms })).toMatchObject({ netToPay: 1_050_000, stampDuty: 2625 });
  expect(await duty({})).toMatchObject({ stampDuty: null });
  expect(await duty({ terms: { paymentMeans: 'cheque' } })).toMatchObject({ stampDuty: null });
});
