import { describe, expect, it } from 'vitest';
import { createClientSecrets } from '../../src/domain/invoice/client-secret.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let own: TestTenant;
let other: TestTenant;
let invoice: { id: string; client_secret: string };
let sibling: { id: string; client_secret: string };
let foreign: { id: string; client_secret: string };

const as = (token: string | null) => new Client(service.url, token);
const create = async (tenant: TestTenant) => (await as(tenant.secretKey).post('/v1/invoices', invoiceBody())).body;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  [own, other] = [await service.tenant(), await service.tenant()];
  [invoice, sibling, foreign] = [await create(own), await create(own), await create(other)];
});

describe('401: the credential', () => {
  const UNKNOWN = `sk_test_${'x'.repeat(32)}`;
  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['another scheme', 'Basic c2s6eA=='],
    ['no token', 'Bearer'],
    ['two tokens', `Bearer ${UNKNOWN} x`],
    ['an unknown secret key', `Bearer ${UNKNOWN}`],
    ['an unknown publishable key', 'Bearer pk_test_x'],
    ['an unknown live key', 'Bearer sk_live_x'],
    ['anything else', 'Bearer hello'],
    [
      'a forged client_secret',
      'Bearer inv_550e8400-e29b-41d4-a716-446655440000_secret_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    ],
  ])('invalid_api_key: %s', async (_name, authorization) => {
    for (const path of [
      '/v1/invoices',
      `/v1/invoices/${invoice.id}`,
      `/v1/invoices/${invoice.id}/stream`,
      '/v1/nothing',
    ]) {
      const answer = await as(null).get(path, authorization === undefined ? {} : { Authorization: authorization });
      expect(answer.status).toBe(401);
      expect(answer.body.error).toMatchObject({ code: 'invalid_api_key', param: null, status: 401 });
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
  });

  it('accepts the name of the scheme in any case', async () => {
    const answer = await as(null).get('/v1/invoices', { Authorization: `bEARER ${own.secretKey}` });
    expect(answer.status).toBe(200);
  });

  it('api_key_revoked: at once, on every endpoint', async () => {
    const { key, token } = await service.app.manageKeys.create(own.id, 'secret', 'test');
    expect((await as(token).get('/v1/invoices')).status).toBe(200);
    await service.app.manageKeys.revoke(key.id);
    for (const answer of [await as(token).get('/v1/invoices'), await as(token).post('/v1/invoices', invoiceBody())]) {
      expect([answer.status, answer.body.error.code]).toEqual([401, 'api_key_revoked']);
    }
    expect((await as(own.secretKey).get('/v1/invoices')).status).toBe(200);
  });
});

describe('reading an invoice', () => {
  const read = async (token: string, id: string, query = '') => {
    const { status, body } = await as(token).get(`/v1/invoices/${id}${query}`);
    return status === 200 ? [200, body.id] : [status, body.error.code];
  };
  const secretOf = (of: { client_secret: string }) => `?client_secret=${encodeURIComponent(of.client_secret)}`;
  const UNKNOWN = 'inv_550e8400-e29b-41d4-a716-446655440000';

  it('a secret key reads invoices of its own tenant; others are 404', async () => {
    expect(await read(own.secretKey, invoice.id)).toEqual([200, invoice.id]);
    for (const id of [foreign.id, UNKNOWN, 'inv_x', 'x'.repeat(500), '%00', '..%2f..']) {
      expect(await read(own.secretKey, id)).toEqual([404, 'resource_not_found']);
    }
  });

  it('a client_secret reads its own invoice; any other is 403, regardless of its tenant and whether it exists', async () => {
    expect(await read(invoice.client_secret, invoice.id)).toEqual([200, invoice.id]);
    for (const id of [sibling.id, foreign.id, UNKNOWN, 'inv_x']) {
      expect(await read(invoice.client_secret, id)).toEqual([403, 'insufficient_scope']);
    }
  });

  it('a publishable key reads invoices of its own tenant with their client_secret', async () => {
    const key = own.publishableKey;
    expect(await read(key, invoice.id, secretOf(invoice))).toEqual([200, invoice.id]);
    expect(await read(key, invoice.id)).toEqual([403, 'insufficient_scope']);
    expect(await read(key, invoice.id, secretOf(sibling))).toEqual([403, 'insufficient_scope']);
    expect(await read(key, foreign.id, secretOf(foreign))).toEqual([403, 'insufficient_scope']);
    expect(await read(key, invoice.id, '?client_secret=forged')).toEqual([401, 'invalid_api_key']);
  });

  it('401: a genuine client_secret of an invoice that does not exist', async () => {
    const token = createClientSecrets(service.app.keys.data).issue(UNKNOWN);
    const answer = await as(token).get(`/v1/invoices/${UNKNOWN}`);
    expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_api_key']);
  });

  it('a client_secret is never returned again', async () => {
    const { body } = await as(own.secretKey).get(`/v1/invoices/${invoice.id}`);
    expect(JSON.stringify(body)).not.toContain('secret');
  });
});

describe('403: operations that need a secret key', () => {
  it('are refused for other credentials, before the body is read', async () => {
    for (const token of [own.publishableKey, invoice.client_secret]) {
      for (const answer of [
        await as(token).post('/v1/invoices', '{not json'),
        await as(token).get('/v1/invoices?limit=0'),
      ]) {
        expect([answer.status, answer.body.error.code]).toEqual([403, 'insufficient_scope']);
      }
    }
  });
});

describe('paths and methods', () => {
  it('404 for unknown paths, with an error body and a request id', async () => {
    for (const path of [
      '/v1/nothing',
      '/v1',
      '/v1/',
      '/v1/invoices/',
      `/v1/invoices/${invoice.id}/`,
      '/v1//invoices',
      '/v0/invoices',
      '/v2/invoices',
      '/v1.1/invoices',
      '/nothing',
      '/V1/INVOICES',
      `/V1/invoices/${invoice.id}`,
      '/GRAPHQL',
    ]) {
      const answer = await as(own.secretKey).get(path);
      expect([answer.status, answer.body.error.code]).toEqual([404, 'resource_not_found']);
      expect(answer.headers.get('request-id')).toMatch(/^req_/);
    }
  });

  it('404 suggests a similar path', async () => {
    const message = async (path: string) => (await as(own.secretKey).get(path)).body.error.message;
    expect(await message('/v1/invoices/')).toContain('Remove the trailing slash');
    expect(await message(`/v1/invoices/${invoice.id}/stream/`)).toContain('Remove the trailing slash');
    expect(await message('/v2/invoices')).toContain('/v1/');
    expect(await message('/v1/nothing/')).toBe('There is nothing at /v1/nothing/.');
  });

  it('405 with Allow for an unsupported method', async () => {
    const answer = await as(own.secretKey).request('DELETE', '/v1/invoices');
    expect([answer.status, answer.body.error.code]).toEqual([405, 'invalid_request']);
    expect(answer.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'HEAD', 'POST']);
  });
});
