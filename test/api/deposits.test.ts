import { describe, expect, it } from 'vitest';
import { Client } from '../support/client.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});

const ATLAS = { ice: '001234567000062', name: 'Atlas' };
const TOTALS = 'totals { linesTotal depositsTotal subtotal taxTotal total taxTotals { rate base tax } }';
const CREATE = `mutation ($input: CreateInvoiceInput!, $key: String) {
  createInvoice(input: $input, idempotencyKey: $key) { __typename
    ... on CreateInvoicePayload { replayed invoice { id amount isDeposit ${TOTALS} warnings { code }
      deposits { id number amount taxTotals { rate base tax } }
      lines { amount finalAmount depositShare plainAmount plainDescription } } }
    ... on Error { code message param status } } }`;

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was answered
type Answer = any;

async function create(input: object, { key = null, by = client }: { key?: string | null; by?: Client } = {}) {
  const { body } = await by.graphql(CREATE, { input: { currency: 'MAD', customer: ATLAS, ...input }, key });
  return (body.errors?.[0].extensions ?? body.data.createInvoice) as Answer;
}

const line = (unitPrice: number, taxRate = 20, quantity = 1) => ({
  description: 'Étude',
  quantity,
  unitPrice,
  taxRate,
});

/** Creates a deposit invoice that asks for this amount without tax at 20 %, and waits until it is accepted. */
async function deposit(net: number, changes: object = {}): Promise<string> {
  const input = { isDeposit: true, amount: net + Math.round(net / 5), lines: [line(net)], ...changes };
  const { invoice } = await create(input);
  expect(invoice).toMatchObject({ isDeposit: true, deposits: [] });
  expect((await client.settled(invoice.id)).status).toBe('accepted');
  return invoice.id;
}

async function xmlOf(id: string): Promise<string> {
  const settled = await client.settled(id);
  expect(settled).toMatchObject({ status: 'accepted', rejection_reason: null });
  return (await (await fetch(settled.xml_url)).text()).replaceAll(/ xmlns:\w+="[^"]*"/g, '');
}

async function credit(id: string, input: object = {}) {
  const { body } = await client.graphql(
    `mutation ($id: ID!, $input: CreditInvoiceInput!) { creditInvoice(invoiceId: $id, input: $input) { __typename
      ... on CreditInvoicePayload { creditNote { id amount totals { subtotal total } } } ... on Error { code message } } }`,
    { id, input: { reason: 'other', ...input } },
  );
  expect(body.errors).toBeUndefined();
  return body.data.creditInvoice as Answer;
}

describe('a final invoice', () => {
  it('is what was sold less its deposits, in GraphQL, UBL and REST', async () => {
    const [first, second] = [await deposit(30_001), await deposit(10_000)];
    const sale = [line(33_333, 20, 3), line(20_000, 10)];
    // 99,999 + 20,000 net; VAT 20,000 + 2,000; deposits 30,001 + 6,000 and 10,000 + 2,000.
    const { invoice } = await create({ deposits: [second, first], lines: sale, amount: 93_998 });
    expect(invoice).toMatchObject({
      isDeposit: false,
      totals: { linesTotal: 119_999, depositsTotal: 40_001, subtotal: 79_998, taxTotal: 14_000, total: 93_998 },
      deposits: [
        { id: second, amount: 12_000 },
        { id: first, amount: 36_001, taxTotals: [{ rate: 20, base: 30_001, tax: 6000 }] },
      ],
    });
    const { body: linked } = await client.graphql(
      `{ invoice(id: "${invoice.id}") { deposits { invoice { id deductedIn { id } } } } }`,
    );
    expect(linked.data.invoice.deposits).toEqual(
      [second, first].map((id) => ({ invoice: { id, deductedIn: { id: invoice.id } } })),
    );
    expect(invoice.warnings.map(({ code }: Answer) => code)).not.toContain('rounding_adjusted');
    expect(invoice.totals.taxTotals).toEqual([
      { rate: 20, base: 59_998, tax: 12_000 },
      { rate: 10, base: 20_000, tax: 2000 },
    ]);
    expect(invoice.lines).toMatchObject([
      { amount: 99_999, finalAmount: null, depositShare: 40_001, plainAmount: 59_998 },
      { amount: 20_000, finalAmount: null, depositShare: 0, plainAmount: 20_000, plainDescription: 'Étude' },
    ]);
    const xml = await xmlOf(invoice.id);
    expect(xml).toContain('<cbc:InvoiceTypeCode>380<');
    expect(xml.match(/<cac:BillingReference>/g)).toHaveLength(2);
    expect(xml).toMatch(/<cbc:AllowanceChargeReason>Acompte facturé : \S+ du \d{4}-\d\d-\d\d</);
    expect(xml).toContain('<cbc:AllowanceTotalAmount currencyID="MAD">400.01<');
    expect(await xmlOf(first)).toContain('<cbc:InvoiceTypeCode>386<');
    const { body } = await client.get(`/v1/invoices/${invoice.id}?include=totals,lines,credits`);
    expect(body.lines).toMatchObject([
      {
        description: 'Étude (3 × 333,33 MAD; acompte − 400,01 MAD HT)',
        quantity: 1,
        unit_price: 59_998,
        amount: 59_998,
      },
      { description: 'Étude', quantity: 1, unit_price: 20_000, amount: 20_000 },
    ]);
    expect(body).toMatchObject({
      amount: 93_998,
      totals: { subtotal: 79_998, total: 93_998, lines_total: 119_999, deposits_total: 40_001 },
      credits: { credited_amount: 0, credit_notes: [] },
    });
    // A deduction is no credit.
    const { body: read } = await client.get(`/v1/invoices/${first}?include=credits`);
    expect(read.credits).toMatchObject({ credited_amount: 0, credit_notes: [] });
  });

  it('may take the whole base of a rate, and no VAT of it is left', async () => {
    const lines = [line(333, 10), line(333, 10), line(333, 10)];
    // VAT of the deposits: 33 + 33 + 33; of the sale: 100. The last centime is not invoiced.
    const ids = [];
    for (const each of lines) ids.push(await deposit(0, { lines: [each], amount: 366 }));
    const { invoice } = await create({ deposits: ids, lines: [...lines, line(10_000)], amount: 12_000 });
    expect(invoice.totals.taxTotals).toEqual([{ rate: 20, base: 10_000, tax: 2000 }]);
    expect(await xmlOf(invoice.id)).toContain('<cbc:TaxableAmount currencyID="MAD">0.00<');
  });

  it('deducts what credit notes left of a deposit; then nothing of it can be credited', async () => {
    const id = await deposit(20_000);
    const { creditNote } = await credit(id, { amounts: [{ taxRate: 20, net: 5000 }] });
    expect(creditNote.amount).toBe(6000);
    const { invoice } = await create({ deposits: [id], lines: [line(50_000)], amount: 42_000 });
    expect(invoice.deposits).toMatchObject([{ id, amount: 18_000 }]);
    expect(await credit(id)).toMatchObject({ code: 'credit_exceeds_invoice' });
    await xmlOf(invoice.id);
    const rest = await credit(invoice.id);
    expect(rest.creditNote).toMatchObject({ amount: 42_000, totals: { subtotal: 35_000 } });
    // Once the credit note is accepted, the deposit is free again.
    await expect
      .poll(async () => (await create({ deposits: [id], lines: [line(50_000)], amount: 42_000 })).__typename, {
        timeout: 30_000,
      })
      .toBe('CreateInvoicePayload');
  });

  it('is created once of 50 that name one deposit at once', async () => {
    const id = await deposit(10_000);
    const made = await Promise.all(
      Array.from({ length: 50 }, () => create({ deposits: [id], lines: [line(20_000)], amount: 12_000 })),
    );
    const stored = made.filter(({ __typename }) => __typename === 'CreateInvoicePayload');
    expect(stored).toHaveLength(1);
    const { deductedIn } = (await client.graphql(`{ invoice(id: "${id}") { deductedIn { id } } }`)).body.data.invoice;
    expect(deductedIn.id).toBe(stored[0].invoice.id);
    for (const { code } of made.filter((each) => !stored.includes(each)))
      expect(code).toMatch(/^(deposit_not_deductible|internal_error)$/);
  });

  it('is answered again for the same key', async () => {
    const id = await deposit(10_000);
    const input = { deposits: [id], lines: [line(20_000)], amount: 12_000 };
    const { invoice } = await create(input, { key: 'final-1' });
    expect(await create(input, { key: 'final-1' })).toMatchObject({ replayed: true, invoice: { id: invoice.id } });
  });

  it('of a private person deducts only deposits of this person', async () => {
    const person = { kind: 'person', name: 'Salma Idrissi', address: '3, rue des Fleurs, Fès' };
    const id = await deposit(10_000, { customer: person });
    const final = { deposits: [id], lines: [line(20_000)], amount: 12_000 };
    for (const customer of [ATLAS, { ...person, address: 'Rabat' }])
      expect(await create({ ...final, customer })).toMatchObject({ code: 'deposit_not_deductible' });
    expect((await create({ ...final, customer: person })).invoice.deposits).toMatchObject([{ id }]);
  });

  it('is refused clearly', async () => {
    const id = await deposit(10_000);
    const [plain] = [(await create({ lines: [line(1000)], amount: 1200 })).invoice.id];
    const other = new Client(service.url, (await service.tenant()).secretKey);
    const final = { lines: [line(20_000)], amount: 12_000 };
    const unknown = 'inv_00000000-0000-4000-8000-000000000000';
    expect(await create({ ...final, deposits: [id] }, { by: other })).toMatchObject({
      code: 'resource_not_found',
      param: 'deposits.0',
    });
    for (const [deposits, changes, code, param] of [
      [[unknown], {}, 'resource_not_found', 'deposits.0'],
      [[id, plain], {}, 'deposit_not_deductible', 'deposits.1'],
      [[id, id], {}, 'invalid_request', 'deposits'],
      [[], {}, 'invalid_request', 'deposits'],
      [[id], { isDeposit: true }, 'invalid_request', 'deposits'],
      [[id], { amount: 24_000 }, 'amount_mismatch', 'amount'],
      [[id], { lines: [line(9999)], amount: 1000 }, 'deposit_not_deductible', 'deposits'],
      [[id], { lines: [line(10_000, 10)], amount: 1000 }, 'deposit_not_deductible', 'deposits'],
      [[id], { lines: [line(10_000)], amount: 100 }, 'amount_too_small', 'deposits'],
    ] as const)
      expect(await create({ ...final, deposits, ...changes })).toMatchObject({ code, param });
    // Nothing of it was kept.
    expect((await create({ ...final, deposits: [id] })).__typename).toBe('CreateInvoicePayload');
  });

  it('is validated without being stored', async () => {
    const id = await deposit(10_000);
    const validate = async (amount: number) => {
      const { body } = await client.graphql(
        `mutation ($input: InvoiceDraft!) { validateInvoice(input: $input) { problems { code } totals { total } } }`,
        { input: { currency: 'MAD', customer: ATLAS, deposits: [id], lines: [line(20_000)], amount } },
      );
      return body.data?.validateInvoice ?? body;
    };
    expect(await validate(12_000)).toEqual({ problems: [], totals: { total: 12_000 } });
    expect(await validate(24_000)).toMatchObject({ problems: [{ code: 'amount_mismatch' }] });
    const { body } = await client.graphql(`{ invoice(id: "${id}") { deductedIn { id } } }`);
    expect(body.data.invoice.deductedIn).toBeNull();
  });
});
