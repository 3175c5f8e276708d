import { expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { withSharedService } from '../support/service.ts';

let client: Client;

withSharedService.beforeAll(async ({ service }) => {
  const tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});

const CUSTOMER = { ice: '001234567000062', name: 'Atlas Distribution SARL' };
const LINES = [
  { description: 'Conseil', quantity: 3, unitPrice: 20_000 },
  { description: 'Livres', quantity: 1, unitPrice: 40_000, taxRate: 10 },
];
const DISCOUNT = { percent: 10, reason: 'Fidélité' };
const CHARGE = { amount: 1_200, taxIncluded: true, reason: 'Livraison' };
// 600.00 at 20 % and 400.00 at 10 %, less 10 %: 540.00 and 360.00, with tax 648.00 and 396.00. The charge of 12.00 with
// tax is spread by what the lines come to with tax, 720.00 and 440.00: 7.45 and 4.55, which are 6.21 and 4.14 without.
const RATES = [
  { rate: 20, base: 54_621, tax: 10_924 },
  { rate: 10, base: 36_414, tax: 3_641 },
];
const AMOUNT = 105_600;

const INVOICE = `invoice { id amount
  discount { amount percent taxIncluded reason } charge { amount percent taxIncluded reason }
  lines { amount finalAmount plainDescription }
  totals { linesTotal discountTotal chargeTotal subtotal taxTotals { rate base tax } taxTotal total } }`;

const create = async (input: object, key: string | null = null) => {
  const { body } = await client.graphql(
    `mutation ($input: CreateInvoiceInput!, $key: String) { createInvoice(input: $input, idempotencyKey: $key) {
      ... on CreateInvoicePayload { replayed ${INVOICE} }
      ... on IdempotencyConflictError { code }
      ... on InvalidInputError { problems { code message param expected } } } }`,
    { input: { currency: 'MAD', customer: CUSTOMER, lines: LINES, amount: AMOUNT, ...input }, key },
  );
  return body.errors ? { problems: body.errors[0].extensions.problems ?? body.errors } : body.data.createInvoice;
};

const created = async () => (await create({ discount: DISCOUNT, charge: CHARGE })).invoice;

it('a discount and a charge are spread over the rates; GraphQL answers them and the UBL states them', async () => {
  const invoice = await created();
  expect(invoice).toMatchObject({
    amount: AMOUNT,
    discount: { amount: null, percent: 10, taxIncluded: null, reason: 'Fidélité' },
    charge: { amount: 1_200, percent: null, taxIncluded: true, reason: 'Livraison' },
    totals: { linesTotal: 100_000, discountTotal: 10_000, chargeTotal: 1_035, subtotal: 91_035, taxTotals: RATES },
  });
  const settled = await client.settled(invoice.id);
  expect(settled.status).toBe('accepted');
  const xml = (await (await fetch(settled.xml_url)).text()).replaceAll(/ xmlns:\w+="[^"]*"| currencyID="MAD"/g, '');
  expect(xml.match(/<cac:AllowanceCharge>.*?<cbc:Amount>[^<]*/g)).toEqual(
    [
      ['false', '95', 'Fidélité', '60.00'],
      ['false', '95', 'Fidélité', '40.00'],
      ['true', 'ADR', 'Livraison', '6.21'],
      ['true', 'ADR', 'Livraison', '4.14'],
    ].map(
      ([isCharge, code, reason, amount]) =>
        `<cac:AllowanceCharge><cbc:ChargeIndicator>${isCharge}</cbc:ChargeIndicator><cbc:AllowanceChargeReasonCode>${code}</cbc:AllowanceChargeReasonCode><cbc:AllowanceChargeReason>${reason}</cbc:AllowanceChargeReason><cbc:Amount>${amount}`,
    ),
  );
  expect(xml).toContain('<cbc:AllowanceTotalAmount>100.00</cbc:AllowanceTotalAmount>');
  expect(xml).toContain('<cbc:ChargeTotalAmount>10.35</cbc:ChargeTotalAmount>');
});

it('REST spreads them over the lines, which add up; include says what was stated', async () => {
  const { id } = await created();
  const { body: plain } = await client.get(`/v1/invoices/${id}`);
  expect(plain.lines).toEqual([
    {
      description: 'Conseil (3 × 200,00 MAD; remise globale − 53,79 MAD HT)',
      quantity: 1,
      unit_price: 54_621,
      tax_rate: 20,
      amount: 54_621,
    },
    {
      description: 'Livres (1 × 400,00 MAD; remise globale − 35,86 MAD HT)',
      quantity: 1,
      unit_price: 36_414,
      tax_rate: 10,
      amount: 36_414,
    },
  ]);
  const { body } = await client.get(`/v1/invoices/${id}?include=lines,totals`);
  expect(Object.keys(body)).toEqual([...Object.keys(plain), 'totals']);
  expect(body.totals).toEqual({
    subtotal: 91_035,
    tax_total: 14_565,
    tax_totals: RATES,
    total: AMOUNT,
    lines_total: 100_000,
    discount: { amount: null, percent: '10', tax_included: false, reason: 'Fidélité', total: 10_000 },
    charge: { amount: 1_200, percent: null, tax_included: true, reason: 'Livraison', total: 1_035 },
  });
  expect(body.lines[0].exact).toMatchObject({
    description: 'Conseil',
    quantity: '3',
    unit_price: '20000',
    amount: 60_000,
  });
  const ordinary = await client.post('/v1/invoices?include=totals,lines', invoiceBody());
  expect(Object.keys(ordinary.body.totals)).toEqual(['subtotal', 'tax_total', 'tax_totals', 'total']);
  expect(ordinary.body.lines[0]).not.toHaveProperty('exact');
});

it.each([
  ['neither an amount nor a percentage', { discount: { reason: 'Fidélité' } }, 'discount'],
  ['both', { charge: { amount: 1, percent: 1 } }, 'charge'],
  ['more than the lines', { discount: { amount: 100_001 } }, 'discount.amount'],
  ['more than the lines with tax', { discount: { amount: 116_001, taxIncluded: true } }, 'discount.amount'],
  ['nothing', { discount: { amount: 0 } }, 'discount.amount'],
  ['101 %', { charge: { percent: 101 } }, 'charge.percent'],
  ['three decimals', { discount: { percent: 1.125 } }, 'discount.percent'],
  ['a reason of two lines', { charge: { amount: 1, reason: 'a\nb' } }, 'charge.reason'],
  ['a reason that is too long', { charge: { amount: 1, reason: 'x'.repeat(101) } }, 'charge.reason'],
  [
    'a charge on lines without a price',
    { lines: [{ description: 'Échantillon', quantity: 1, unitPrice: 0 }], charge: { amount: 5_000 }, amount: 6_000 },
    'charge',
  ],
])('refuses %s, and says where', async (_, input, param) => {
  const { problems } = await create(input);
  expect(problems.map((each: { param: string }) => each.param)).toContain(param);
});

it('REST refuses them, as its contract has none', async () => {
  const { status, body } = await client.post('/v1/invoices', { ...invoiceBody(), discount: { amount: 1 } });
  expect([status, body.error.param]).toEqual([400, 'discount']);
});

it('a wrong amount is refused with the one that is due, and validation says the same', async () => {
  const input = { discount: DISCOUNT, charge: CHARGE, amount: AMOUNT + 2 };
  const due = [{ code: 'amount_mismatch', param: 'amount', expected: String(AMOUNT) }];
  expect((await create(input)).problems).toMatchObject(due);
  const validate = async (draft: object) => {
    const { body } = await client.graphql(
      `mutation ($input: InvoiceDraft!) { validateInvoice(input: $input) {
        problems { code param expected } totals { discountTotal total } } }`,
      { input: { currency: 'MAD', customer: CUSTOMER, lines: LINES, ...draft } },
    );
    return body.data.validateInvoice;
  };
  expect((await validate(input)).problems).toEqual(due);
  expect(await validate({ ...input, amount: AMOUNT })).toEqual({
    problems: [],
    totals: { discountTotal: 10_000, total: AMOUNT },
  });
  // The totals are not known without the discount, so the amount is not compared with others.
  const unclear = await validate({ ...input, discount: { percent: 200 } });
  expect(unclear.totals).toBeNull();
  expect(unclear.problems.map(({ param }: { param: string }) => param)).toEqual(['discount.percent']);
});

it('a repeated creation is known by its discount, too', async () => {
  const first = await create({ discount: DISCOUNT, charge: CHARGE }, 'whole-1');
  const again = await create({ discount: DISCOUNT, charge: CHARGE }, 'whole-1');
  expect(again).toEqual({ ...first, replayed: true });
  const other = await create({ discount: { ...DISCOUNT, reason: 'Autre' }, charge: CHARGE }, 'whole-1');
  expect(other).toEqual({ code: 'idempotency_conflict' });
});

it('a part of a line is credited at its share, and then the rest, to the centime', async () => {
  const { id } = await created();
  expect((await client.settled(id)).status).toBe('accepted');
  const credit = async (input: object) => {
    const { body } = await client.graphql(
      `mutation ($id: ID!, $input: CreditInvoiceInput!) { creditInvoice(invoiceId: $id, input: $input) {
        ... on CreditInvoicePayload { creditNote { id amount lines { description amount } totals { subtotal } } }
        ... on InvalidInputError { problems { code message param } } } }`,
      { id, input: { reason: 'return', ...input } },
    );
    return body.data.creditInvoice.creditNote;
  };
  const part = await credit({ lines: [{ line: 1, quantity: 1 }] });
  expect(part.lines).toEqual([{ description: 'Conseil (1)', amount: 18_207 }]);
  const rest = await credit({});
  expect(part.amount + rest.amount).toBe(AMOUNT);
  expect(part.totals.subtotal + rest.totals.subtotal).toBe(91_035);
  const statusOf = async (note: string) => {
    const { body } = await client.graphql(`{ creditNote(id: "${note}") { status } }`);
    return body.data.creditNote.status;
  };
  for (const note of [part.id, rest.id]) await expect.poll(() => statusOf(note)).toBe('accepted');
});
