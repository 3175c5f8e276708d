import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManageKeys } from '../../src/domain/api-key/manage-keys.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { HAS_HAPROXY, startProxy, type TlsProxy } from '../support/haproxy.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';

// docs/decisions/0074: casa had no name when its first keys were made.

let casa: TestService;
let rabat: TestService;
let tenants: { casa: TestTenant; rabat: TestTenant };
let invoices: { casa: Created; rabat: Created };
let earlierKey: string;

type Answered = { id?: string; error?: { message: string } };
type Created = { id: string; client_secret: string };
const create = async (at: TestService, key: string): Promise<Created> =>
  (await new Client(at.url, key).post('/v1/invoices', invoiceBody())).body;
const namedIn = (credential: string, name: string) =>
  credential.replace(/_(?:casa_|rabat_)?([\w-]{32})$/, `_${name}$1`);

beforeAll(async () => {
  [casa, rabat] = await Promise.all([
    startService({ INSTALLATION_NAME: 'casa' }),
    startService({ INSTALLATION_NAME: 'rabat', TRUST_PROXY: '1' }),
  ]);
  tenants = { casa: await casa.tenant(), rabat: await rabat.tenant() };
  const unnamed = createManageKeys(casa.app.tenants, async () => [], null);
  earlierKey = (await unnamed.create(tenants.casa.id, 'secret', 'test')).token;
  invoices = { casa: await create(casa, tenants.casa.secretKey), rabat: await create(rabat, tenants.rabat.secretKey) };
});
afterAll(() => Promise.all([casa?.close(), rabat?.close()]));

describe('the name of an installation', () => {
  it('is in its keys and client secrets', () => {
    expect(tenants.rabat.secretKey).toMatch(/^sk_test_rabat_[\w-]{32}$/);
    expect(tenants.rabat.publishableKey).toMatch(/^pk_test_rabat_[\w-]{32}$/);
    expect(invoices.rabat.client_secret).toMatch(/^inv_[0-9a-f-]{36}_secret_rabat_[\w-]{32}$/);
    expect(earlierKey).toMatch(/^sk_test_[\w-]{32}$/);
  });

  it('is not part of what a client secret proves: secrets of earlier names stay valid', async () => {
    const { id, client_secret } = invoices.casa;
    for (const name of ['', 'casa_', 'rabat_', 'a_', 'twelve678901_']) {
      const secret = namedIn(client_secret, name);
      expect((await new Client(casa.url, secret).get(`/v1/invoices/${id}`)).status, secret).toBe(200);
    }
    for (const name of ['1_', 'Casa_', 'casa__', '_', 'casa-', 'thirteen89012_', 'casa_x']) {
      const secret = namedIn(client_secret, name);
      expect((await new Client(casa.url, secret).get(`/v1/invoices/${id}`)).status, secret).toBe(401);
    }
  });

  it('is part of a key, and earlier keys stay valid', async () => {
    expect((await new Client(casa.url, earlierKey).get('/v1/invoices')).status).toBe(200);
    for (const key of [namedIn(tenants.casa.secretKey, ''), namedIn(earlierKey, 'casa_')])
      expect((await new Client(casa.url, key).get('/v1/invoices')).status).toBe(401);
  });

  it('is told to who comes to the wrong installation', async () => {
    const messageFor = async (key: string) => (await new Client(casa.url, key).get('/v1/invoices')).body.error.message;
    expect(await messageFor(tenants.rabat.secretKey)).toBe(
      "This API key is not known. Check that it was copied completely. It names the installation 'rabat', and this is 'casa'.",
    );
    expect(await messageFor(namedIn(tenants.casa.secretKey, ''))).toMatch(/completely\.$/);
  });
});

// Tests of the Debian package `haproxy`, which CI has.
describe.skipIf(!HAS_HAPROXY)('a proxy with the lines of docs/scaling.md', () => {
  let proxy: TlsProxy;
  let folder: string;
  const ask = async (path: string, headers: Record<string, string>, body?: unknown) => {
    const answer = await proxy.agent.request({
      origin: proxy.url,
      path,
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    const isJson = String(answer.headers['content-type']).startsWith('application/json');
    return { status: answer.statusCode, text, body: (isJson ? JSON.parse(text) : {}) as Answered };
  };
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

  beforeAll(async () => {
    const page = await readFile(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
    const [, lines] = /^```haproxy\n(.*?)^```$/ms.exec(page) ?? [];
    if (!lines) throw new Error('docs/scaling.md has no lines for HAProxy');
    folder = await mkdtemp(join(tmpdir(), 'fatoura-proxy-'));
    proxy = await startProxy(folder, [new URL(casa.url).host, new URL(rabat.url).host], (configuration) => {
      const [front, back] = configuration.split('\nbackend api\n');
      const only = (n: number) => back?.replace(new RegExp(`^ {4}server api-${3 - n} .*\n`, 'm'), '');
      return `${front?.replace(/^ {4}default_backend api\n/m, () => lines)}\nbackend casa\n${only(1)}\nbackend rabat\n${only(2)}`;
    });
  });
  afterAll(async () => {
    await proxy?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('sends each credential to its installation, and those without a name to the first', async () => {
    for (const key of [tenants.casa.secretKey, tenants.rabat.secretKey, earlierKey])
      expect((await ask('/v1/invoices', bearer(key), invoiceBody())).status).toBe(201);
    for (const { id, client_secret } of [invoices.casa, invoices.rabat])
      expect(await ask(`/v1/invoices/${id}`, bearer(client_secret))).toMatchObject({ status: 200, body: { id } });
    const { id, client_secret } = invoices.rabat;
    const address = `/v1/invoices/${id}?client_secret=${client_secret}`;
    expect((await ask(address, bearer(tenants.rabat.publishableKey))).body.id).toBe(id);
    // A browser's own EventSource sends no header.
    const stream = await ask(`/v1/invoices/${id}/stream?client_secret=${client_secret}`, {});
    expect([stream.status, stream.text]).toEqual([200, expect.stringContaining(`"id":"${id}"`)]);
    const query = { query: '{ viewer { tenant { id } } }' };
    expect((await ask('/graphql', { Authorization: `bearer  ${tenants.rabat.secretKey}` }, query)).status).toBe(200);
  });

  it('sends a host to its installation, whoever asks', async () => {
    const { status } = await ask('/v1/invoices', { ...bearer(tenants.rabat.secretKey), Host: 'Rabat.fatoura.example' });
    expect(status).toBe(200);
    const elsewhere = await ask('/v1/invoices', { ...bearer(tenants.casa.secretKey), Host: 'rabat.fatoura.example' });
    expect(elsewhere.body.error?.message).toMatch(/names the installation 'casa', and this is 'rabat'\.$/);
  });
});
