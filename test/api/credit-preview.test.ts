import { expect, it } from 'vitest';
import { Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { type TestService, withSharedService } from '../support/service.ts';

let service: TestService;
let client: Client;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  client = new Client(service.url, (await service.tenant()).secretKey);
});

const PREVIEW = `query ($id: ID!, $input: CreditInvoiceInput!) { creditPreview(invoiceId: $id, input: $input) {
  amount taxTotals { rate base tax } problems { code param message } } }`;
const CREDIT = `mutation ($id: ID!, $input: CreditInvoiceInput!) { creditInvoice(invoiceId: $id, input: $input) {
  ... on CreditInvoicePayload { creditNote { amount totals { taxTotals { rate base tax } } } } ... on Error { code param message } } }`;

/** Creates an invoice of 3 × 100.01 at 20 % and 1 × 50.03 at 10 %, and waits until it is accepted. */
async function accepted(): Promise<string> {
  const lines = [
    { description: 'Conseil', quantity: 3, unit_price: 10_001, tax_rate: 20 },
    { description: 'Livre', quantity: 1, unit_price: 5_003, tax_rate: 10 },
  ];
  const { body } = await client.post('/v1/invoices', invoiceBody({ amount: 41_507, lines }));
  expect((await client.settled(body.id)).status).toBe('accepted');
  return body.id;
}

async function preview(id: string, input: object, by = client) {
  const { body } = await by.graphql(PREVIEW, { id, input: { reason: 'error', ...input } });
  return body.data?.creditPreview ?? body.errors[0].extensions;
}
async function credit(id: string, input: object) {
  return (await client.graphql(CREDIT, { id, input: { reason: 'error', ...input } })).body.data.creditInvoice;
}

it('tells what each credit note then credits, to the end, and creates nothing', async () => {
  const id = await accepted();
  const whole = await preview(id, {});
  expect(whole).toEqual({
    amount: 41_507,
    taxTotals: [
      { rate: 20, base: 30_003, tax: 6_001 },
      { rate: 10, base: 5_003, tax: 500 },
    ],
    problems: [],
  });
  for (const input of [{ lines: [{ line: 1, quantity: 2 }] }, { amounts: [{ taxRate: 10, net: 1_004 }] }, {}]) {
    const told = await preview(id, input);
    expect(await preview(id, input)).toEqual(told);
    const { creditNote } = await credit(id, input);
    expect(told).toEqual({ amount: creditNote.amount, taxTotals: creditNote.totals.taxTotals, problems: [] });
  }
  const nothing = await preview(id, {});
  expect(nothing).toMatchObject({ amount: null, taxTotals: [], problems: [{ code: 'credit_exceeds_invoice' }] });
});

it.each([
  [{ lines: [{ line: 1, quantity: 4 }] }, 'lines.0.quantity'],
  [{ lines: [{ line: 3, quantity: 1 }] }, 'lines.0.line'],
  [{ lines: [{ line: 1, quantity: -1 }] }, 'lines.0.quantity'],
  [{ amounts: [{ taxRate: 10, net: 5_004 }] }, 'amounts.0.net'],
  [{ amounts: [{ taxRate: 14, net: 1 }] }, 'amounts.0.net'],
  [{ amounts: [{ taxRate: 10, net: -1 }] }, 'amounts.0.net'],
  [{ note: 'x'.repeat(501) }, 'note'],
])('names the field that creditInvoice would refuse: %j', async (input, param) => {
  const id = await accepted();
  const told = await preview(id, input);
  expect(told).toMatchObject({ amount: null, taxTotals: [], problems: [{ param }] });
  const [{ code, message }] = told.problems;
  expect(await credit(id, input)).toEqual({ code, param, message });
});

it('is for accepted invoices of the tenant', async () => {
  const rejected = (await client.post('/v1/invoices', invoiceFor('999000000000102'))).body.id;
  await client.settled(rejected);
  expect(await preview(rejected, {})).toMatchObject({
    amount: null,
    taxTotals: [],
    problems: [{ code: 'invoice_not_accepted', param: 'invoiceId' }],
  });
  const other = new Client(service.url, (await service.tenant()).secretKey);
  expect(await preview(rejected, {}, other)).toMatchObject({ code: 'resource_not_found', param: 'invoiceId' });
});
