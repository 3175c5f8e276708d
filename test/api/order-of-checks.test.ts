import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;

beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ADDRESS: '1', RATE_LIMIT_PUBLISHABLE: '1' });
  tenant = await service.tenant();
});
afterAll(() => service.close());

/** A request that fails every check; each step of the order corrects one fault. */
const WRONG = { amount: 1, currency: 'EUR', customer: { ice: 'x', name: 'A' }, lines: [] };

describe('the first failed check determines the response (docs/decisions/0011)', () => {
  const send = async (token: string | null, body: unknown, headers: Record<string, string> = {}, query = '') => {
    const answer = await new Client(service.url, token).post(`/v1/invoices${query}`, body, headers);
    return [answer.status, answer.body.error?.code, answer.body.error?.param];
  };
  const plain = { 'Content-Type': 'text/plain' };

  it('POST /v1/invoices: 429, 401, 403, 415, 400, 422, 201', async () => {
    expect(await send(null, '{', plain)).toEqual([401, 'invalid_api_key', null]);
    expect(await send(null, '{', plain)).toEqual([429, 'rate_limit_exceeded', null]);
    expect(await send('sk_test_unknown', '{', plain)).toEqual([429, 'rate_limit_exceeded', null]);
    expect(await send(tenant.publishableKey, '{', plain, '?x=1')).toEqual([403, 'insufficient_scope', null]);
    expect(await send(tenant.publishableKey, '{', plain, '?x=1')).toEqual([429, 'rate_limit_exceeded', null]);
    const key = tenant.secretKey;
    const noKey = { 'Idempotency-Key': '""' };
    expect(await send(key, '{', { ...plain, ...noKey })).toEqual([415, 'invalid_request', null]);
    expect(await send(key, '{', noKey)).toEqual([400, 'invalid_request', 'Idempotency-Key']);
    expect(await send(key, '{')).toEqual([400, 'invalid_request', null]);
    expect(await send(key, WRONG)).toEqual([400, 'invalid_request', 'currency']);
    const structured = { ...invoiceBody(), amount: 1, customer: WRONG.customer };
    expect(await send(key, structured)).toEqual([422, 'amount_too_small', 'amount']);
    expect(await send(key, { ...structured, amount: 12000 })).toEqual([422, 'invalid_ice', 'customer.ice']);
    expect(await send(key, { ...structured, amount: 12001 })).toEqual([422, 'amount_mismatch', 'amount']);
    expect((await send(key, invoiceBody()))[0]).toBe(201);
  });

  it('PATCH /v1/webhook_endpoints/:id: 415, 400, 404', async () => {
    const client = new Client(service.url, tenant.secretKey);
    const path = '/v1/webhook_endpoints/we_550e8400-e29b-41d4-a716-446655440000';
    const patch = async (body: unknown, headers = {}) => (await client.request('PATCH', path, body, headers)).status;
    expect(await patch('{', plain)).toBe(415);
    expect(await patch({ events: [] })).toBe(400);
    expect(await patch({ active: false })).toBe(404);
  });
});
