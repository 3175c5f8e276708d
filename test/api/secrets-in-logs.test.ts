import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { createManageKeys } from '../../src/domain/api-key/manage-keys.ts';
import { newId } from '../../src/domain/ids.ts';
import { createLogger } from '../../src/transport/logger.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { STAND_IN_RENDERER, sharedThreads } from '../support/service.ts';

const MASTER_KEY = '0123456789abcdef'.repeat(4);

let app: App;
let url: string;
let dataDir: string;
let logged = '';

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'fatoura-'));
  const write = (line: string) => {
    logged += line;
  };
  const log = createLogger('trace', { write });
  app = await startApp(readConfig({ PORT: '0', DATA_DIR: dataDir, MASTER_KEY }), {
    ...sharedThreads(),
    log,
    renderer: STAND_IN_RENDERER,
  });
  url = app.url ?? '';
});
afterAll(async () => {
  await app.close();
  await rm(dataDir, { recursive: true, force: true });
});

describe('the log', () => {
  it('contains a line for each request, and no secret of any kind from any part of a request', async () => {
    const id = newId('ten');
    await app.tenants.insert({ id, name: 'T', profile: {}, createdAt: new Date() });
    const keys = createManageKeys(app.tenants, async () => [], null);
    const secretKey = (await keys.create(id, 'secret', 'test')).token;
    const publishableKey = (await keys.create(id, 'publishable', 'test')).token;
    const [client, front, nobody] = [secretKey, publishableKey, null].map((token) => new Client(url, token)) as [
      Client,
      Client,
      Client,
    ];

    const created = await client.post('/v1/invoices', invoiceBody());
    const { client_secret } = created.body;
    const { id: invoiceId, xml_url, pdf_url } = await client.settled(created.body.id);
    const secret = (
      await client.post('/v1/webhook_endpoints', { url: 'https://example.com/', events: ['invoice.accepted'] })
    ).body.secret;
    for (const path of ['', '/stream'])
      expect((await front.get(`/v1/invoices/${invoiceId}${path}?client_secret=${client_secret}`)).status).toBe(200);
    const query = `client_secret=${client_secret}&publishable_key=${publishableKey}`;
    expect((await nobody.get(`/v1/invoices/${invoiceId}/stream?${query}`)).status).toBe(200);
    await nobody.get(`/v1/invoices/${invoiceId}/stream?client_secret=${secretKey}`);
    await nobody.get(`/v1/invoices/${client_secret}`);
    await nobody.get(`/nothing/${client_secret}?key=${secretKey}`);
    await client.get(`/v1/invoices/${secretKey}`);
    await client.request('DELETE', `/v1/webhook_endpoints/${secret}`);
    await nobody.get('/v1/invoices', { Authorization: secretKey });
    for (const file of [xml_url, pdf_url, `${xml_url}x`]) await nobody.get(new URL(file).pathname);
    await front.graphql('query ($id: ID!, $s: String) { invoice(id: $id, clientSecret: $s) { id } }', {
      id: invoiceId,
      s: client_secret,
    });
    await client.post('/v1/webhook_endpoints', `{"url": "https://example.com/", "secret": "${secret}`);

    await expect.poll(() => logged).toContain(created.headers.get('request-id'));
    const secrets = {
      secretKey,
      publishableKey,
      client_secret: client_secret.split('_secret_')[1],
      secret,
      MASTER_KEY,
    };
    const tokens = [xml_url, pdf_url].map((file: string) => file.split('/').at(-1)?.split('.')[0] ?? '');
    for (const [name, text] of [...Object.entries(secrets), ...tokens.map((token) => ['document', token] as const)]) {
      expect(text.length, name).toBeGreaterThan(20);
      expect(logged.includes(text), `${name} is in the log`).toBe(false);
    }
  });
});

describe('the audit', () => {
  it('records which key changed which part of its account, without tokens and contents', async () => {
    const id = newId('ten');
    await app.tenants.insert({ id, name: 'T', profile: {}, createdAt: new Date() });
    const { token: first, key } = await createManageKeys(app.tenants, async () => [], null).create(
      id,
      'secret',
      'test',
    );
    const client = new Client(url, first);
    const issue = async (mutation: string) => {
      const [name = ''] = mutation.split('(');
      const payload = `${name.charAt(0).toUpperCase()}${name.slice(1)}Payload`;
      const fields = `... on ${payload} { token apiKey { id } }`;
      const { data } = (await client.graphql(`mutation { issued: ${mutation} { ${fields} } }`)).body;
      return data.issued as { token: string; apiKey: { id: string } };
    };
    const created = await issue('createApiKey(kind: secret)');
    const rotated = await issue(`rotateApiKey(id: "${created.apiKey.id}")`);
    await client.graphql(`mutation { revokeApiKey(id: "${created.apiKey.id}") { __typename } }`);
    await client.graphql('mutation { updateSellerProfile(input: { legalName: "Confidential" }) { __typename } }');
    const refused = await client.graphql('mutation { updateSellerProfile(input: { ice: "1" }) { __typename } }');
    expect(refused.body.data.updateSellerProfile.__typename).toBe('InvalidInputError');

    const entries = () =>
      logged
        .split('\n')
        .filter((line) => line.includes('"audit"'))
        .map((line) => JSON.parse(line))
        .filter(({ audit }) => audit.tenantId === id);
    await expect.poll(() => entries().length).toBe(4);
    const by = { tenantId: id, environment: 'test', actor: { kind: 'key', id: key.id, name: null } };
    const [old, fresh] = [created.apiKey.id, rotated.apiKey.id];
    expect(entries().map(({ audit }) => audit)).toMatchObject([
      { action: 'api_key.created', ...by, subject: old, details: { kind: 'secret' } },
      { action: 'api_key.rotated', ...by, subject: fresh, details: { replaces: old } },
      { action: 'api_key.revoked', ...by, subject: old, details: {} },
      { action: 'seller_profile.updated', ...by, environment: null, subject: id, details: { fields: 'legalName' } },
    ]);
    expect(entries().every(({ requestId }) => /^req_/.test(requestId))).toBe(true);
    for (const secret of [first, created.token, rotated.token, 'Confidential'])
      expect(logged.includes(secret), 'is in the log').toBe(false);
  });
});

describe('500', () => {
  it('internal_error with the request id to quote, and nothing about the cause, which is logged', async () => {
    const { tenants } = app;
    const { findByKeyHash } = tenants;
    Object.assign(tenants, { findByKeyHash: () => Promise.reject(new Error('the cause of it')) });
    try {
      const { status, headers, body } = await new Client(url, 'sk_test_x').get('/v1/invoices');
      const requestId = headers.get('request-id') ?? '-';
      expect([status, body]).toEqual([
        500,
        { error: { code: 'internal_error', message: expect.stringContaining(requestId), param: null, status: 500 } },
      ]);
      expect(JSON.stringify(body)).not.toContain('cause');
      await expect.poll(() => logged).toContain('the cause of it');
      expect(logged.split('\n').find((line) => line.includes('the cause of it'))).toContain(requestId);
    } finally {
      Object.assign(tenants, { findByKeyHash });
    }
  });
});
