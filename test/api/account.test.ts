import { describe, expect, it } from 'vitest';
import { threadTasks } from '../../src/adapters/threads.ts';
import { parseLogo } from '../../src/domain/tenant/logo.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { jpegOf } from '../support/jpeg.ts';
import { longestTurn } from '../support/longest-turn.ts';
import { STAND_IN_PDF, type TestService, type TestTenant, withSharedService } from '../support/service.ts';
import { LOGO } from '../unit/pdf/support.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;
withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});

const KEY = 'id kind environment lastFour createdAt revokedAt current';
const ERROR = '... on Error { __typename code param status message }';
const KEYS = `{ apiKeys { ${KEY} } }`;
const CREATE = `mutation ($kind: ApiKeyKind!) { createApiKey(kind: $kind) { ... on CreateApiKeyPayload { token apiKey { ${KEY} } } ${ERROR} } }`;
const ROTATE = `mutation ($id: ID!) { rotateApiKey(id: $id) { ... on RotateApiKeyPayload { token apiKey { ${KEY} } } ${ERROR} } }`;
const REVOKE = `mutation ($id: ID!, $evenIfLast: Boolean! = false) {
  revokeApiKey(id: $id, evenIfLast: $evenIfLast) { ... on RevokeApiKeyPayload { apiKey { ${KEY} } } ${ERROR} }
}`;

// biome-ignore lint/suspicious/noExplicitAny: tests inspect arbitrary results
async function ask(as: Client, query: string, variables = {}): Promise<any> {
  const { status, body } = await as.graphql(query, variables);
  expect([status, body.errors]).toEqual([200, undefined]);
  return Object.values(body.data)[0];
}
/** The changed key or tenant, or the typed error. */
async function change(as: Client, query: typeof REVOKE | typeof UPDATE, variables: object) {
  const answer = await ask(as, query, variables);
  return answer.apiKey ?? answer.tenant ?? answer;
}
const keysOf = (as: Client): Promise<{ id: string; [name: string]: unknown }[]> => ask(as, KEYS);

describe('keys', () => {
  it('can be created, work at once, and are listed without their tokens', async () => {
    const { token, apiKey } = await ask(client, CREATE, { kind: 'secret' });
    expect(token).toMatch(/^sk_test_/);
    expect(apiKey).toMatchObject({ kind: 'secret', environment: 'test', revokedAt: null, current: false });
    expect(token).toMatch(new RegExp(`${apiKey.lastFour}$`));
    const listed = await client.graphql(KEYS);
    expect(JSON.stringify(listed.body)).not.toContain(token);
    expect(listed.body.data.apiKeys[0]).toEqual(apiKey);
    const fresh = new Client(service.url, token);
    const keys = await keysOf(fresh);
    expect(keys.filter(({ current }) => current).map(({ id }) => id)).toEqual([apiKey.id]);
    expect(keys.map(({ kind }) => kind).sort()).toEqual(['publishable', 'secret', 'secret']);
    const { token: publishable } = await ask(client, CREATE, { kind: 'publishable' });
    expect(publishable).toMatch(/^pk_test_/);
  });

  it('have a name, which they keep when they are rotated, and the minute of their last use', async () => {
    const own = await service.tenant();
    const by = new Client(service.url, own.secretKey);
    const named = 'id name lastUsedAt';
    const create = `mutation ($name: String) { createApiKey(kind: secret, name: $name) {
      ... on CreateApiKeyPayload { token apiKey { ${named} } } ${ERROR} } }`;
    const rename = `mutation ($id: ID!, $name: String) { renameApiKey(id: $id, name: $name) {
      ... on RenameApiKeyPayload { apiKey { ${named} } } ${ERROR} } }`;
    const { apiKey: made, token } = await ask(by, create, { name: 'Boutique' });
    expect(made).toMatchObject({ name: 'Boutique', lastUsedAt: null });
    const { id } = made;
    expect((await ask(by, rename, { id, name: 'Caisse 2' })).apiKey).toMatchObject({ id, name: 'Caisse 2' });
    expect(
      (await ask(by, `mutation { rotateApiKey(id: "${id}") { ... on RotateApiKeyPayload { apiKey { name } } } }`))
        .apiKey,
    ).toEqual({ name: 'Caisse 2' });
    for (const name of ['', 'x'.repeat(61), 'zwei\nZeilen', '\u200b'])
      for (const answer of [await ask(by, create, { name }), await ask(by, rename, { id, name })])
        expect([name, answer]).toMatchObject([name, { code: 'invalid_request', param: 'name' }]);
    const other = new Client(service.url, (await service.tenant()).secretKey);
    expect(await ask(other, rename, { id, name: 'Mine' })).toMatchObject({ code: 'resource_not_found' });
    expect((await ask(by, rename, { id, name: null })).apiKey).toMatchObject({ name: null });
    const before = Math.floor(Date.now() / 60_000) * 60_000;
    expect((await new Client(service.url, token).get('/v1/invoices')).status).toBe(200);
    const lastUse = async () =>
      (await ask(by, `{ apiKeys { ${named} } }`)).find((key: { id: string }) => key.id === id).lastUsedAt;
    await expect.poll(lastUse, { timeout: 20_000 }).not.toBeNull();
    const at = Date.parse(await lastUse());
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at % 60_000).toBe(0);
  });

  it('are rotated by creating the new key first, and a key may revoke itself', async () => {
    const own = await service.tenant();
    const old = new Client(service.url, own.secretKey);
    const { id } = (await keysOf(old)).find(({ current }) => current) ?? { id: '' };
    const { token, apiKey } = await ask(old, ROTATE, { id });
    const fresh = new Client(service.url, token);
    expect((await old.get('/v1/invoices')).status).toBe(200);
    expect(await change(old, REVOKE, { id })).toMatchObject({ id, revokedAt: expect.any(String), current: true });
    expect((await old.get('/v1/invoices')).body.error).toMatchObject({ code: 'api_key_revoked', status: 401 });
    const [first] = [await change(fresh, REVOKE, { id }), await change(fresh, REVOKE, { id })].map(
      ({ revokedAt }) => revokedAt,
    );
    expect(first).toBe((await keysOf(fresh)).find((key) => key.id === id)?.revokedAt);

    const before = await keysOf(fresh);
    expect(await ask(fresh, ROTATE, { id })).toEqual({
      __typename: 'InvalidInputError',
      code: 'invalid_request',
      status: 400,
      param: 'id',
      message: `The key '${id}' is revoked, so it cannot be rotated. Create a new key instead.`,
    });
    expect(await keysOf(fresh)).toEqual(before);

    const last = apiKey.id;
    expect(await change(fresh, REVOKE, { id: last })).toMatchObject({
      code: 'last_secret_key',
      param: 'id',
      status: 422,
    });
    expect((await fresh.get('/v1/invoices')).status).toBe(200);
    expect(await change(fresh, REVOKE, { id: last, evenIfLast: true })).toMatchObject({ id: last });
    expect((await fresh.get('/v1/invoices')).status).toBe(401);
  });

  it('manage only keys of their own tenant and environment', async () => {
    const live = new Client(service.url, await service.liveKey(tenant.id));
    const [liveKey] = await keysOf(live);
    const other = await keysOf(new Client(service.url, (await service.tenant()).secretKey));
    expect((await keysOf(client)).every(({ environment }) => environment === 'test')).toBe(true);
    expect((await keysOf(live)).map(({ environment }) => environment)).toEqual(['live']);
    for (const id of [liveKey?.id, other[0]?.id, 'key_x', '', `key_${'0'.repeat(500)}`]) {
      for (const query of [ROTATE, REVOKE])
        expect(await ask(client, query, { id })).toMatchObject({
          __typename: 'NotFoundError',
          param: 'id',
          status: 404,
        });
      for (const query of ['apiKey(id: $id)', 'node(id: $id)']) {
        const { body } = await client.graphql(`query ($id: ID!) { ${query} { id } }`, { id });
        expect(body.errors[0].extensions).toMatchObject({ code: 'resource_not_found', status: 404 });
      }
    }
    const [{ id } = { id: '' }] = await keysOf(client);
    const found = await client.graphql('query ($id: ID!) { node(id: $id) { __typename id ... on ApiKey { kind } } }', {
      id,
    });
    expect(found.body.data.node).toMatchObject({ __typename: 'ApiKey', id });
    expect((await keysOf(live)).filter(({ revokedAt }) => revokedAt)).toEqual([]);
  });

  it('are limited to 50 valid ones in an environment', async () => {
    const own = await service.tenant();
    const many = new Client(service.url, own.secretKey);
    const answers = await Promise.all(Array.from({ length: 52 }, () => ask(many, CREATE, { kind: 'publishable' })));
    const refused = answers.filter(({ code }) => code);
    expect(refused).toHaveLength(4);
    expect(refused[0]).toMatchObject({ __typename: 'LimitReachedError', code: 'key_limit_reached', status: 422 });
    expect(await keysOf(many)).toHaveLength(50);
  });

  it('for live need a configured tax authority', async () => {
    const live = new Client(service.url, await service.liveKey(tenant.id));
    expect(await ask(live, CREATE, { kind: 'secret' })).toMatchObject({ code: 'invalid_request', status: 400 });
  });
});

const PROFILE = `id name seller { legalName ice cnss capital address { street city postalCode } exemptionReason
  documentLanguage logo { contentType width height } missingFields } logo`;
const UPDATE = `mutation ($input: SellerProfileInput!) {
  updateSellerProfile(input: $input) { ... on UpdateSellerProfilePayload { tenant { ${PROFILE} } } ${ERROR} ... on InvalidInputError { problems { param } } }
}`;

describe('the profile', () => {
  it('is changed field by field, including the logo, and new invoices use it', async () => {
    const own = await service.tenant();
    const as = new Client(service.url, own.secretKey);
    const before = await ask(as, `{ tenant { ${PROFILE} } }`);
    expect(before).toMatchObject({ id: own.id, logo: null, seller: { legalName: null, logo: null } });
    const { logo: _none, ...seller } = SPECIMEN_SELLER;
    expect(await change(as, UPDATE, { input: { legalName: 'Atlas', cnss: '1' } })).toMatchObject({
      seller: { legalName: 'Atlas', cnss: '1', ice: null },
    });
    const old = (await as.post('/v1/invoices', invoiceBody())).body.id;
    const changed = await change(as, UPDATE, { input: { ...seller, legalName: 'Atlas Conseil', logo: LOGO } });
    expect(changed).toMatchObject({
      logo: LOGO,
      seller: { legalName: 'Atlas Conseil', missingFields: [], logo: { contentType: 'image/png' } },
    });
    expect(await ask(as, `{ tenant { ${PROFILE} } }`)).toEqual(changed);
    expect(await ask(as, `{ node(id: "${own.id}") { ... on Tenant { ${PROFILE} } } }`)).toEqual(changed);
    const { id } = (await as.post('/v1/invoices', invoiceBody())).body;
    const sellerOf = (invoice: string) => ask(as, `{ invoice(id: "${invoice}") { seller { legalName } } }`);
    expect(await sellerOf(id)).toEqual({ seller: { legalName: 'Atlas Conseil' } });
    expect(await sellerOf(old)).toEqual({ seller: { legalName: 'Atlas' } });
    expect(await change(as, UPDATE, { input: { logo: null, exemptionReason: null } })).toMatchObject({
      logo: null,
      seller: { legalName: 'Atlas Conseil', exemptionReason: null, logo: null },
    });
    expect(await change(as, UPDATE, { input: {} })).toMatchObject({ seller: { legalName: 'Atlas Conseil' } });
  });

  it('is shown on a sample invoice before it is changed', async () => {
    const query = 'query ($input: SellerProfileInput!) { sellerProfilePreview(input: $input) }';
    const input = { legalName: 'Preview SARL', logo: LOGO };
    const before = await ask(client, `{ tenant { ${PROFILE} } }`);
    const url = `data:application/pdf;base64,${STAND_IN_PDF.toString('base64')}`;
    expect(await ask(client, query, { input })).toBe(url);
    expect(await ask(client, `{ tenant { ${PROFILE} } }`)).toEqual(before);
    const wrong = await client.graphql(query, { input: { ice: '1', logo: 'data:image/png;base64,AAAA' } });
    expect(wrong.body.errors[0].extensions).toMatchObject({ code: 'invalid_request', status: 400 });
    expect(wrong.body.errors[0].extensions.problems).toMatchObject([{ param: 'ice' }, { param: 'logo' }]);
  });

  it('takes no logo that cannot be decoded, which a thread finds out', async () => {
    const own = await service.tenant();
    const as = new Client(service.url, own.secretKey);
    const [width, height] = [800, 800];
    const sampling = [
      [2, 2],
      [1, 1],
      [1, 1],
    ] as const;
    const image = jpegOf({ width, height, sampling, frame: 0xc2 });
    const url = (content: Buffer) => `data:image/jpeg;base64,${content.toString('base64')}`;
    const change = (logo: string) => as.graphql(UPDATE, { input: { logo } });
    // The first one loads what every request needs.
    await change('data:image/png;base64,AAAA');
    const onTheLoop = await longestTurn(async () => void parseLogo(url(image)));
    let broken: unknown;
    let taken: unknown;
    const held = await longestTurn(async () => {
      broken = (await change(url(Buffer.concat([image.subarray(0, -9), image.subarray(-2)])))).body.data;
      taken = (await change(url(image))).body.data;
    });
    expect(broken).toMatchObject({
      updateSellerProfile: {
        code: 'invalid_request',
        param: 'logo',
        status: 400,
        message: 'logo is a JPEG whose pixels cannot be decoded.',
      },
    });
    expect(taken).toMatchObject({
      updateSellerProfile: { tenant: { seller: { logo: { contentType: 'image/jpeg', width, height } } } },
    });
    expect(threadTasks().get('logo-thread')).toBe(0);
    expect(held).toBeLessThan(onTheLoop / 2);
  });

  it('is not changed by an invalid input, and every problem is reported', async () => {
    const own = await service.tenant();
    const as = new Client(service.url, own.secretKey);
    const input = {
      legalName: null,
      cnss: '1',
      ice: '12',
      capital: -1,
      email: 'nobody',
      address: { street: ' ', city: 'Casablanca' },
      logo: 'data:image/png;base64,AAAA',
    };
    const refused = await change(as, UPDATE, { input });
    expect(refused).toMatchObject({ __typename: 'InvalidInputError', code: 'invalid_request', status: 400 });
    expect(refused.problems.map(({ param }: { param: string }) => param).sort()).toEqual(
      ['legalName', 'ice', 'capital', 'email', 'address.street', 'logo'].sort(),
    );
    expect(await ask(as, `{ tenant { ${PROFILE} } }`)).toMatchObject({ seller: { cnss: null } });
    const { body } = await as.graphql(UPDATE, { input: { logo: `data:image/png;base64,${'A'.repeat(400_000)}` } });
    expect(body.data.updateSellerProfile).toMatchObject({ code: 'invalid_request', param: 'logo' });
  });

  it('can be changed only by a live key if the tenant has one', async () => {
    const own = await service.tenant();
    const test = new Client(service.url, own.secretKey);
    const live = new Client(service.url, await service.liveKey(own.id));
    const refused = await test.graphql(UPDATE, { input: { legalName: 'Elsewhere' } });
    expect(refused.body.errors[0]).toMatchObject({
      message: expect.stringContaining('live'),
      extensions: { code: 'insufficient_scope', status: 403 },
    });
    expect(await change(live, UPDATE, { input: { legalName: 'Atlas' } })).toMatchObject({
      seller: { legalName: 'Atlas' },
    });
    const [{ id } = { id: '' }] = await keysOf(live);
    await change(live, REVOKE, { id, evenIfLast: true });
    expect(await change(test, UPDATE, { input: { cnss: '7' } })).toMatchObject({
      seller: { legalName: 'Atlas', cnss: '7' },
    });
  });
});

it('only a secret key has access to keys and profile', async () => {
  const { client_secret } = (await client.post('/v1/invoices', invoiceBody())).body;
  const [{ id } = { id: '' }] = await keysOf(client);
  for (const token of [tenant.publishableKey, client_secret]) {
    const as = new Client(service.url, token);
    for (const [query, variables] of [
      [KEYS, {}],
      ['query ($id: ID!) { apiKey(id: $id) { id } }', { id }],
      ['query ($id: ID!) { node(id: $id) { id } }', { id }],
      ['query ($id: ID!) { node(id: $id) { id } }', { id: tenant.id }],
      ['{ tenant { id } }', {}],
      [CREATE, { kind: 'secret' }],
      [ROTATE, { id }],
      [REVOKE, { id, evenIfLast: true }],
      [UPDATE, { input: { legalName: 'X' } }],
    ] as const) {
      const { body } = await as.graphql(query, variables);
      expect(body.errors[0].extensions, query).toMatchObject({ code: 'insufficient_scope', status: 403 });
    }
  }
  expect((await keysOf(client)).find((key) => key.id === id)?.revokedAt).toBeNull();
});
