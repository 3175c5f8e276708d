import { expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { type TestTenant, withSharedService } from '../support/service.ts';

let tenant: TestTenant;
let client: Client;

withSharedService.beforeAll(async ({ service }) => {
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});

const CUSTOMER = { ice: '001234567000062', name: 'Atlas Distribution SARL' };

const create = async (amount: number, lines: readonly object[]) => {
  const { body } = await client.graphql(
    `mutation ($input: CreateInvoiceInput!) { createInvoice(input: $input) {
      ... on CreateInvoicePayload { invoice { id amount totals { subtotal taxTotal total }
        lines { description quantity unit unitPrice taxIncluded discount { amount percent reason } taxRate amount } } }
      ... on InvalidInputError { problems { code message param expected } } } }`,
    { input: { amount, currency: 'MAD', customer: CUSTOMER, lines } },
  );
  return body.errors ? { problems: body.errors[0].extensions.problems ?? body.errors } : body.data.createInvoice;
};

const HOURS = {
  description: 'Conseil',
  quantity: 1.5,
  unit: 'HUR',
  unitPrice: 40_000,
  discount: { percent: 10, reason: 'Fidélité' },
};
const WITH_TAX = { description: 'Livraison', quantity: 3, unitPrice: 16_533, taxIncluded: true };

it('an invoice of hours with a discount and a price with tax is accepted; GraphQL answers what was stated', async () => {
  const { invoice } = await create(64_800 + 49_599, [HOURS, WITH_TAX]);
  expect(invoice.lines).toEqual([
    { ...HOURS, discount: { ...HOURS.discount, amount: null }, taxIncluded: null, taxRate: 20, amount: 54_000 },
    { ...WITH_TAX, unit: null, discount: null, taxRate: 20, amount: 41_332 },
  ]);
  expect(invoice.totals).toEqual({ subtotal: 95_332, taxTotal: 19_067, total: 114_399 });
  const settled = await client.settled(invoice.id);
  expect(settled.status).toBe('accepted');
  const xml = (await (await fetch(settled.xml_url)).text()).replaceAll(/ xmlns:\w+="[^"]*"/g, '');
  expect(xml).toContain('<cbc:InvoicedQuantity unitCode="HUR">1.5</cbc:InvoicedQuantity>');
  expect(xml).toContain('<cbc:AllowanceChargeReason>Fidélité</cbc:AllowanceChargeReason>');
  expect(xml).toMatch(/<cbc:PriceAmount currencyID="MAD">413.32<\/cbc:PriceAmount><cbc:BaseQuantity unitCode="C62">3</);
});

it('REST shows pieces that add up, and the rest with include=lines', async () => {
  const { invoice } = await create(64_800 + 49_599, [HOURS, WITH_TAX]);
  const plain = (await client.get(`/v1/invoices/${invoice.id}`)).body;
  expect(plain.lines).toEqual([
    {
      description: 'Conseil (1,5 h × 400,00 MAD − 10 %)',
      quantity: 1,
      unit_price: 54_000,
      tax_rate: 20,
      amount: 54_000,
    },
    { description: 'Livraison (3 × 165,33 MAD TTC)', quantity: 1, unit_price: 41_332, tax_rate: 20, amount: 41_332 },
  ]);
  const { body: exact } = await client.get(`/v1/invoices/${invoice.id}?include=lines,totals`);
  expect(Object.keys(exact)).toEqual([...Object.keys(plain), 'totals']);
  expect(exact.lines).toEqual([
    {
      ...plain.lines[0],
      exact: {
        description: 'Conseil',
        quantity: '1.5',
        unit: 'HUR',
        unit_price: '40000',
        tax_included: false,
        discount_amount: null,
        discount_percent: '10',
        discount_reason: 'Fidélité',
      },
    },
    {
      ...plain.lines[1],
      exact: {
        description: 'Livraison',
        quantity: '3',
        unit: null,
        unit_price: '16533',
        tax_included: true,
        discount_amount: null,
        discount_percent: null,
        discount_reason: null,
      },
    },
  ]);
  const ordinary = await client.post('/v1/invoices?include=lines', invoiceBody());
  expect(ordinary.body.lines).toEqual((await client.get(`/v1/invoices/${ordinary.body.id}`)).body.lines);
});

it.each([
  ['four decimals of a quantity', { ...HOURS, quantity: 1.5001 }, 'lines.0.quantity'],
  ['a quantity of nothing', { ...HOURS, quantity: 0 }, 'lines.0.quantity'],
  ['the sum of inexact numbers', { ...HOURS, quantity: 0.1 + 0.2 }, 'lines.0.quantity'],
  ['more digits than are exact', { ...HOURS, quantity: 1_000_000_000_000.5 }, 'lines.0.quantity'],
  ['three decimals of a centime', { ...HOURS, unitPrice: 1.125 }, 'lines.0.unitPrice'],
  ['a negative price', { ...HOURS, unitPrice: -0.5 }, 'lines.0.unitPrice'],
  ['a discount of 100.01 %', { ...HOURS, discount: { percent: 100.01 } }, 'lines.0.discount.percent'],
  ['a discount of nothing', { ...HOURS, discount: {} }, 'lines.0.discount'],
  ['a discount of both kinds', { ...HOURS, discount: { percent: 1, amount: 1 } }, 'lines.0.discount'],
  ['a discount above the price', { ...HOURS, discount: { amount: 60_001 } }, 'lines.0.discount.amount'],
  ['half a centime of discount', { ...HOURS, discount: { amount: 0 } }, 'lines.0.discount.amount'],
  ['two lines of a reason', { ...HOURS, discount: { percent: 1, reason: 'a\nb' } }, 'lines.0.discount.reason'],
])('refuses %s, and says where', async (_, line, param) => {
  const { problems } = await create(64_800, [line]);
  expect(problems.map((each: { param: string }) => each.param)).toContain(param);
});

it.each([['1.5'], [true], [{}]])('refuses %j as a quantity in REST and GraphQL', async (quantity: unknown) => {
  const [line] = invoiceBody().lines as object[];
  expect((await client.post('/v1/invoices', { ...invoiceBody(), lines: [{ ...line, quantity }] })).status).toBe(400);
  const { problems } = await create(12_000, [{ ...HOURS, quantity }]);
  expect(problems.length).toBeGreaterThan(0);
});

it('REST takes whole quantities at whole prices alone, as its contract says', async () => {
  const [line] = invoiceBody().lines as object[];
  for (const [member, value] of [
    ['quantity', 1.5],
    ['unit_price', 0.5],
    ['unit', 'HUR'],
    ['discount', { percent: 1 }],
  ] as const) {
    const { status, body } = await client.post('/v1/invoices', {
      ...invoiceBody(),
      lines: [{ ...line, [member]: value }],
    });
    expect([status, body.error.param]).toEqual([400, `lines.0.${member}`]);
  }
});

it('a wrong amount is refused with the one that is due', async () => {
  const { problems } = await create(64_801, [HOURS]);
  expect(problems).toEqual([expect.objectContaining({ code: 'amount_mismatch', param: 'amount', expected: '64800' })]);
});

it('half an hour is credited, and then the rest, to the centime', async () => {
  const { invoice } = await create(64_800 + 49_599, [HOURS, WITH_TAX]);
  expect((await client.settled(invoice.id)).status).toBe('accepted');
  const credit = async (input: object) => {
    const { body } = await client.graphql(
      `mutation ($id: ID!, $input: CreditInvoiceInput!) { creditInvoice(invoiceId: $id, input: $input) {
        ... on CreditInvoicePayload { creditNote { amount lines { description quantity amount } } }
        ... on InvalidInputError { problems { code message param } } } }`,
      { id: invoice.id, input: { reason: 'return', ...input } },
    );
    return body.data.creditInvoice.creditNote;
  };
  const half = await credit({ lines: [{ line: 1, quantity: 0.5 }] });
  expect(half.lines).toEqual([{ description: 'Conseil (0,5 h)', quantity: 1, amount: 18_000 }]);
  const rest = await credit({});
  expect(half.amount + rest.amount).toBe(114_399);
});
