import { MongoNetworkError } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERROR_CODES, type ErrorCode, exampleOfError, statusesOf } from '../../src/domain/error-codes.ts';
import { MAX_BODY_BYTES, MAX_ENDPOINTS } from '../../src/domain/limits.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { DOCUMENT } from '../support/contract.ts';
import { CREATION } from '../support/graphql-access.ts';
import { exampleRunBy } from '../support/guide-examples.ts';
import { rawRequest, sendRaw } from '../support/raw-http.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;

beforeAll(async () => {
  service = await startService({ RATE_LIMIT_SECRET: '100' });
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});
afterAll(() => service.close());

interface Failure {
  readonly status: number;
  readonly body: { readonly error: { code: string; message: string; param: string | null; status: number } };
}

const UNKNOWN = 'inv_550e8400-e29b-41d4-a716-446655440000';
const create = (changes: Record<string, unknown>, headers = {}) =>
  client.post('/v1/invoices', invoiceBody(changes), headers);

/** The answer to a request that no HTTP client would send. */
async function raw(header: string): Promise<Failure> {
  const headers = [header, `Authorization: Bearer ${tenant.secretKey}`];
  const { status, body } = await sendRaw(service.url, rawRequest('GET /v1/invoices', headers));
  return { status, body: JSON.parse(body) };
}

/** The answer while the look-up of keys fails this way. */
async function whileFailing(error: Error): Promise<Failure> {
  const { tenants } = service.app;
  const { findByKeyHash } = tenants;
  Object.assign(tenants, { findByKeyHash: () => Promise.reject(error) });
  try {
    return await client.get('/v1/invoices');
  } finally {
    Object.assign(tenants, { findByKeyHash });
  }
}

async function inGraphql(fields: string): Promise<Failure> {
  const { body } = await client.graphql(`mutation { createInvoice(input: { amount: 12000, currency: "MAD", ${fields},
    customer: { ice: "001234567000089", name: "A" }, lines: [{ description: "x", quantity: 1, unitPrice: 10000 }] }
  ) { ... on Error { code message param status } } }`);
  const error = body.data.createInvoice;
  return { status: error.status, body: { error } };
}

/** The answer to a credit of an invoice of this amount at 20 %, which has the number 2026-000123 if it is accepted. */
async function credited(ice: string, net: number): Promise<Failure> {
  const { body } = await create({
    amount: 9600,
    customer: { ice, name: 'A' },
    lines: [{ description: 'x', quantity: 1, unit_price: 8000 }],
  });
  await client.settled(body.id);
  const answer = await client.graphql(`mutation { creditInvoice(invoiceId: "${body.id}", input: {
    reason: error, amounts: [{ taxRate: 20, net: ${net} }] }) { ... on Error { code message param status } } }`);
  const error = answer.body.data.creditInvoice;
  return { status: error.status, body: { error } };
}

async function drafted(content: string): Promise<string> {
  const create = `mutation { createDraft(content: ${content}) { ... on CreateDraftPayload { draft { id } } } }`;
  return (await client.graphql(create)).body.data.createDraft.draft.id;
}

async function onDraft(call: string): Promise<Failure> {
  const { body } = await client.graphql(`mutation { done: ${call} { ... on Error { code message param status } } }`);
  return { status: body.data.done.status, body: { error: body.data.done } };
}

/** How to bring about each example. */
const CAUSES: Readonly<Partial<Record<ErrorCode, Readonly<Record<number, () => Promise<Failure>>>>>> = {
  invalid_request: {
    400: () => create({ customer: { ice: '001234567000062' } }),
    405: () => client.request('PUT', '/v1/invoices', {}),
    406: () => client.post('/graphql', { query: '{ __typename }' }, { Accept: 'text/html' }),
    413: () => client.post('/v1/invoices', 'x'.repeat(MAX_BODY_BYTES + 1)),
    415: () => client.post('/v1/invoices', 'x', { 'Content-Type': 'text/plain' }),
    416: async () => {
      const { body } = await create({});
      const { xml_url } = await client.settled(body.id);
      return client.get(new URL(xml_url).pathname, { Range: 'bytes=99999999-' });
    },
    417: () => raw('Expect: tea'),
    414: () => client.get(`/v1/invoices?x=${'x'.repeat(17_000)}`),
    431: () => raw(`X: ${'x'.repeat(20_000)}`),
  },
  invalid_api_key: { 401: () => new Client(service.url, null).get('/v1/invoices') },
  api_key_revoked: {
    401: async () => {
      const { key, token } = await service.app.manageKeys.create(tenant.id, 'secret', 'test');
      await service.app.manageKeys.revoke(key.id);
      return new Client(service.url, token).get('/v1/invoices');
    },
  },
  insufficient_scope: {
    403: async () => {
      const { body } = await create({});
      return new Client(service.url, body.client_secret).get('/v1/invoices');
    },
  },
  resource_not_found: { 404: () => client.get(`/v1/invoices/${UNKNOWN}`) },
  idempotency_conflict: {
    409: async () => {
      const key = { 'Idempotency-Key': 'example' };
      await create({}, key);
      return create({ metadata: { order: '2' } }, key);
    },
  },
  draft_changed: {
    409: async () => {
      const id = await drafted('{}');
      await onDraft(`updateDraft(id: "${id}", version: 1, content: { amount: 1 })`);
      return onDraft(`updateDraft(id: "${id}", version: 1, content: { amount: 2 })`);
    },
  },
  draft_issued: {
    409: async () => {
      const id = await drafted(CREATION);
      await onDraft(`issueDraft(id: "${id}", version: 1)`);
      return onDraft(`deleteDraft(id: "${id}", version: 1)`);
    },
  },
  amount_too_small: { 422: () => create({ amount: 99 }) },
  amount_mismatch: { 422: () => create({ amount: 12001 }) },
  invalid_ice: { 422: () => create({ customer: { ice: '12345678901234', name: 'A' } }) },
  duplicate_number: {
    422: async () => {
      await inGraphql('number: "FA/2026/0123"').catch(() => {});
      return inGraphql('number: "FA/2026/0123"');
    },
  },
  invalid_bank_account: { 422: () => inGraphql('terms: { bankAccount: "999780000128473900001727" }') },
  credit_exceeds_invoice: { 422: () => credited('001234567000089', 8001) },
  invoice_not_accepted: { 422: () => credited('999000000000102', 1) },
  deposit_not_deductible: {
    422: async () => {
      const { body } = await create({ customer: { ice: '001234567000089', name: 'A' } });
      await client.settled(body.id);
      return inGraphql(`deposits: ["${body.id}"]`);
    },
  },
  invoice_not_replaceable: {
    422: async () => {
      const { body } = await create({ customer: { ice: '999000000000393', name: 'A' } });
      const status = async () => (await client.get(`/v1/invoices/${body.id}`)).body.status;
      await expect.poll(status, { timeout: 30_000 }).toBe('transmitted');
      const answer = await client.graphql(`mutation { replaceInvoice(invoiceId: "${body.id}", reason: error, input: {
        amount: 12000, currency: "MAD", customer: { ice: "001234567000089", name: "A" },
        lines: [{ description: "x", quantity: 1, unitPrice: 10000 }] }) { ... on Error { code message param status } } }`);
      const error = answer.body.data.replaceInvoice;
      return { status: error.status, body: { error } };
    },
  },
  endpoint_limit_reached: {
    422: async () => {
      const endpoint = { url: 'https://example.com/', events: ['invoice.accepted'] };
      for (let i = 0; i < MAX_ENDPOINTS; i++) await client.post('/v1/webhook_endpoints', endpoint);
      return client.post('/v1/webhook_endpoints', endpoint);
    },
  },
  rate_limit_exceeded: {
    429: async () => {
      const by = new Client(service.url, (await service.tenant()).secretKey);
      for (let i = 0; i < 100; i++) await by.get('/v1/invoices');
      return by.get('/v1/invoices');
    },
  },
  internal_error: {
    500: () => whileFailing(new Error('a defect')),
    503: () => whileFailing(new MongoNetworkError('the store is away')),
  },
};

/** Nothing here causes these: people's accounts, limits that take hundreds of objects, a wait of a minute. */
const LEFT_OUT = [
  'invalid_credentials',
  'not_signed_in',
  'tenant_suspended',
  'confirmation_required',
  'invalid_date',
  'draft_limit_reached',
  'import_limit_reached',
  'import_not_checked',
  'key_limit_reached',
  'last_secret_key',
  'member_limit_reached',
  'last_owner',
  'logo_limit_reached',
  'invalid_request 408',
];

const EXAMPLES = ERROR_CODES.flatMap((code) => statusesOf(code).map((status) => [code, status] as const));

/** What differs from one request to another. */
const alike = (message: string) =>
  message
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID')
    .replace(/has \d+ bytes/, 'has N bytes')
    .replace(/in \d+ s/, 'in N s')
    .replace(/2026-\d{6}/, '2026-NNNNNN');

describe('the example of each error is what the service answers', () => {
  const caused = EXAMPLES.filter(([code, status]) => CAUSES[code]?.[status]);
  it.each(caused)('%s %i', async (code, status) => {
    const answer = await CAUSES[code]?.[status]?.();
    const [message, param] = exampleOfError(code, status);
    expect(answer?.body).toEqual({ error: { code, message: expect.any(String), param, status } });
    expect(alike(answer?.body.error.message ?? '')).toBe(alike(message));
    expect(answer?.status).toBe(status);
  });

  it('that the guide to errors shows, too', async () => {
    const body = JSON.parse(exampleRunBy('test/api/error-examples.test.ts').text);
    const { code, status } = body.error as { readonly code: ErrorCode; readonly status: number };
    const answer = await CAUSES[code]?.[status]?.();
    expect([answer?.status, answer?.body]).toEqual([status, body]);
  });

  it('for all but those that take long', () => {
    const others = EXAMPLES.filter((each) => !caused.includes(each)).map(([code, status]) =>
      code === 'invalid_request' ? `${code} ${status}` : code,
    );
    expect(others.sort()).toEqual([...LEFT_OUT].sort());
  });
});

it('the OpenAPI document shows for each status an example of that status', () => {
  const { responses } = DOCUMENT.components;
  type Examples = Record<string, { value: Failure['body'] }>;
  for (const [name, response] of Object.entries(responses)) {
    const examples = response.content?.['application/json']?.examples as Examples | undefined;
    for (const [key, { value }] of Object.entries(examples ?? {})) {
      const { code, message, param, status } = value.error;
      expect([message, param]).toEqual(exampleOfError(code as ErrorCode, status));
      expect(String(status)).toBe(name === 'refused' ? key : name);
    }
  }
  expect(JSON.stringify(responses['413'])).toContain('larger than the maximum');
  expect(JSON.stringify(responses['415'])).toContain('Content-Type');
});
