import { expect, it } from 'vitest';
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

const VALIDATE = `mutation ($input: InvoiceDraft!) { validateInvoice(input: $input) {
  valid
  problems { code param message status expected }
  warnings { code path message }
  totals { subtotal taxTotals { rate base tax } taxTotal total }
} }`;
const CREATE = `mutation ($input: CreateInvoiceInput!) { createInvoice(input: $input) {
  ... on CreateInvoicePayload { invoice { id number } }
  ... on InvalidInputError { problems { code param message status expected } }
} }`;

const draft = (changes: object = {}) => ({
  amount: 12000,
  currency: 'MAD',
  customer: { ice: '001525713000097', name: 'Atlas', address: '1, rue des Orangers' },
  lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10000 }],
  ...changes,
});

async function validate(input: object, as = client) {
  const { status, body } = await as.graphql(VALIDATE, { input });
  expect([status, body.errors]).toEqual([200, undefined]);
  return body.data.validateInvoice;
}

/** `code param expected` of each problem. */
function listOf(problems: { code: string; param: string; expected: string | null }[]): string[] {
  return problems.map(({ code, param, expected }) => [code, param, expected].filter(Boolean).join(' '));
}

it('a valid invoice has no problems, and its totals are returned; nothing is created', async () => {
  const input = draft({
    lines: [{ description: 'Conseil', quantity: 3, unitPrice: 3333, taxRate: 20 }],
    amount: 11999,
  });
  expect(await validate(input)).toMatchObject({
    valid: true,
    problems: [],
    totals: { subtotal: 9999, taxTotals: [{ rate: 20, base: 9999, tax: 2000 }], taxTotal: 2000, total: 11999 },
  });
  expect((await client.get('/v1/invoices')).body.data).toEqual([]);
});

it('all problems of structure and of rules are reported at once, with the accepted values', async () => {
  const found = await validate({
    amount: 12001,
    currency: 'EUR',
    customer: { ice: '123', email: 'nobody' },
    lines: [
      { description: 'Conseil', quantity: 1, unitPrice: 10000 },
      { description: '', quantity: 0, unitPrice: 1, taxRate: 19 },
    ],
    metadata: { order: 1 },
    number: '2026-000001',
  });
  expect(found).toMatchObject({ valid: false, totals: null });
  expect(listOf(found.problems)).toEqual([
    'invalid_request currency MAD',
    'invalid_request customer.name',
    'invalid_request customer.email',
    'invalid_request lines.1.description',
    'invalid_request lines.1.quantity',
    'invalid_request lines.1.taxRate 0, 7, 10, 14, 20',
    'invalid_request metadata.order',
    'invalid_request number',
    'invalid_ice customer.ice',
  ]);
  expect(listOf((await validate({})).problems)).toEqual([
    'invalid_request amount',
    'invalid_request currency MAD',
    'invalid_request customer',
    'invalid_request lines',
  ]);
  const rules = await validate(draft({ currency: 'EUR', amount: 1, customer: { ice: '12', name: 'A' } }));
  expect(listOf(rules.problems)).toEqual([
    'invalid_request currency MAD',
    'amount_too_small amount 12000',
    'invalid_ice customer.ice',
  ]);
  expect(listOf((await validate(draft({ amount: 12345 }))).problems)).toEqual(['amount_mismatch amount 12000']);
});

it('warnings about the valid parts are returned beside the problems', async () => {
  const codes = async (input: object) =>
    (await validate(input)).warnings.map(({ code, path }: { code: string; path: string }) => `${code} ${path}`);
  const customer = { ice: '001234567000081', name: 'Atlas' };
  expect(await codes(draft({ customer, currency: 'EUR' }))).toEqual(
    expect.arrayContaining(['ice_check_key customer.ice', 'customer_address_missing customer.address']),
  );
  expect(await codes({})).toEqual(await codes(draft()));
  expect(await codes(draft({ amount: 11999, lines: draft().lines }))).not.toContain('rounding amount');
});

it('characters that the PDF replaces, because they would reverse or cover texts, are reported', async () => {
  const lines = ['Prix \u202e00,001\u202c MAD', 'a\u2069b', `a${'\u0301'.repeat(499)}`, '\u2067شاي\u2069'];
  const { warnings } = await validate(
    draft({
      customer: { ...draft().customer, name: 'Atlas \u202egnidaeR' },
      lines: lines.map((description) => ({ description, quantity: 1, unitPrice: 2500 })),
    }),
  );
  const told = warnings.filter(({ code }: { code: string }) => code === 'unprintable_characters');
  expect(told.map(({ path, message }: { path: string; message: string }) => [path, message])).toEqual([
    ['customer.name', expect.stringContaining(': U+202E. ')],
    ['lines.0.description', expect.stringContaining(': U+202E. ')],
    ['lines.1.description', expect.stringContaining(': U+2069. ')],
    ['lines.2.description', expect.stringContaining(': U+0301. ')],
  ]);
});

it('characters without a font are reported before and after creation', async () => {
  const input = draft({
    customer: { ...draft().customer, name: 'Atlas 中国 ✓' },
    lines: [...draft().lines, { description: 'Thé 茶 شاي', quantity: 1, unitPrice: 0 }],
  });
  const named = (warnings: { code: string; path: string; message: string }[]) =>
    warnings.filter(({ code }) => code === 'unprintable_characters').map(({ path, message }) => [path, message]);
  const expected = [
    ['customer.name', expect.stringContaining(': 中 (U+4E2D), 国 (U+56FD). ')],
    ['lines.1.description', expect.stringContaining(': 茶 (U+8336). ')],
  ];
  expect(named((await validate({ ...input, customer: { ...input.customer, ice: 'x' } })).warnings)).toEqual(expected);
  const { body } = await client.graphql(
    `mutation ($input: CreateInvoiceInput!) { createInvoice(input: $input) {
      ... on CreateInvoicePayload { invoice { warnings { code path message } } }
    } }`,
    {
      input: {
        ...input,
        lines: input.lines.map((line) => ({ ...line, unitPrice: line.unitPrice || 1 })),
        amount: 12001,
      },
    },
  );
  expect(named(body.data.createInvoice.invoice.warnings)).toEqual(expected);
});

it('reports the same problems as createInvoice', async () => {
  const inputs = [
    draft(),
    draft({ currency: 'EUR', lines: [] }),
    draft({ lines: [{ description: 'x', quantity: 0, unitPrice: -1, taxRate: 3 }] }),
    draft({ amount: 99, customer: { ice: 'x', name: 'A' } }),
    draft({ lines: [{ description: 'x', quantity: 2 ** 53 - 1, unitPrice: 2 ** 53 - 1, taxRate: 20 }] }),
    draft({ number: 'A 1' }),
    draft({ number: 'A 1', amount: 5 }),
    draft({ number: 'A 1' }),
    draft({ number: ' A' }),
    draft({ number: '2026-000001' }),
  ];
  for (const input of inputs) {
    const told = await validate(input);
    const { createInvoice } = (await client.graphql(CREATE, { input })).body.data;
    const lowest = Math.min(...told.problems.map(({ status }: { status: number }) => status));
    expect(createInvoice.problems ?? []).toEqual(
      told.problems.filter(({ status }: { status: number }) => status === lowest),
    );
    expect(told.valid).toBe(createInvoice.invoice !== undefined);
  }
});

it('a live invoice needs the complete seller profile; no specimen completes it', async () => {
  const live = new Client(service.url, await service.liveKey(tenant.id));
  const { valid, problems, warnings } = await validate(draft({ currency: 'EUR' }), live);
  expect(valid).toBe(false);
  expect(listOf(problems).slice(0, 3)).toEqual([
    'invalid_request currency MAD',
    'insufficient_scope seller.legalName',
    'insufficient_scope seller.ice',
  ]);
  expect(warnings.map(({ code }: { code: string }) => code)).not.toContain('seller_field_missing');
  expect((await validate(draft())).valid).toBe(true);
});

it('needs a secret key', async () => {
  const { body } = await new Client(service.url, tenant.publishableKey).graphql(VALIDATE, { input: {} });
  expect(body.errors[0].extensions).toMatchObject({ code: 'insufficient_scope', status: 403 });
});
