import { beforeAll, describe, expect, it } from 'vitest';
import { createPeopleRepository } from '../../src/storage/people.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { Browser, signedIn } from '../support/person.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  return () => service.close();
});

const codeOf = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code];

async function operator() {
  const { browser, id, email } = await signedIn(service, { isOperator: true });
  const get = (path: string) => browser.request('GET', `/ops/api/${path}`);
  const post = (path: string, body: object = {}) => browser.post(`/ops/api/${path}`, body);
  return { browser, id, email, get, post };
}

/** The paths of reads and of changes, with a valid body. */
const READS = ['survey', 'tenants', 'tenants/ten_x', 'entries'];
const CHANGES: readonly (readonly [string, object])[] = [
  ['tenants', { name: 'X' }],
  ['tenants/ten_x/profile', { cnss: '1' }],
  ['tenants/ten_x/suspend', {}],
  ['tenants/ten_x/resume', {}],
  ['tenants/ten_x/keys', { kind: 'secret', environment: 'test' }],
  ['tenants/ten_x/invitations', { role: 'owner' }],
  ['keys/key_x/revoke', {}],
  ['invoices/inv_x/retry', {}],
  ['authority/pause', { reason: 'maintenance' }],
  ['authority/resume', {}],
];

describe('the paths of operators', () => {
  it('are closed to everybody else: without a session, as an owner, with a key, from other sites', async () => {
    const tenant = await service.tenant();
    const owner = await signedIn(service, { memberships: [{ tenantId: tenant.id, role: 'owner' }] });
    const nobody = new Browser(service.url);
    const foreign = new Browser(service.url, { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' });
    for (const [name, value] of (await operator()).browser.cookies) foreign.cookies.set(name, value);
    const withKey = { Authorization: `Bearer ${tenant.secretKey}` };
    for (const [path, body] of [...READS.map((each) => [each, undefined] as const), ...CHANGES]) {
      const ask = (browser: Browser, headers = {}) =>
        browser.request(body ? 'POST' : 'GET', `/ops/api/${path}`, body, headers);
      expect(codeOf(await ask(nobody)), path).toEqual([401, 'not_signed_in']);
      expect(codeOf(await ask(nobody, withKey)), path).toEqual([401, 'not_signed_in']);
      expect(codeOf(await ask(owner.browser)), path).toEqual([401, 'not_signed_in']);
      expect(codeOf(await ask(foreign)), path).toEqual([403, 'insufficient_scope']);
    }
    const { body } = await (await operator()).get('survey');
    expect(body.authority.pause).toBeNull();
  });

  it('end with the grant', async () => {
    const { id, get } = await operator();
    expect((await get('survey')).status).toBe(200);
    await service.app.store.db
      .collection<{ _id: string }>('person_grants')
      .updateOne({ _id: id }, { $set: { isOperator: false } });
    expect(codeOf(await get('survey'))).toEqual([401, 'not_signed_in']);
  });

  it.each<[string, object, string | null]>([
    ['tenants', { name: '' }, 'name'],
    ['tenants', { name: 'two\nlines' }, 'name'],
    ['tenants', { name: 'x'.repeat(201) }, 'name'],
    ['tenants', { name: 'X', profile: {} }, 'profile'],
    ['authority/pause', {}, 'reason'],
    ['authority/pause', { reason: null }, 'reason'],
    ['authority/pause', { reason: '' }, 'reason'],
    ['tenants/ten_x/keys', { kind: 'x', environment: 'test' }, 'kind'],
  ])('%s refuse %j', async (path, body, param) => {
    const { post } = await operator();
    const answer = await post(path, body);
    expect([answer.status, answer.body.error]).toMatchObject([400, { code: 'invalid_request', param }]);
  });

  it.each<[string, object, string]>([
    ['keys', { environment: 'test' }, 'kind is required: secret or publishable.'],
    ['keys', { kind: 'secret', environment: 'x' }, 'environment must be test or live; "x" was sent.'],
    ['invitations', { role: 'x' }, 'role must be viewer, biller, developer or owner; "x" was sent.'],
  ])('%s with %j says what is expected', async (path, body, message) => {
    const { post } = await operator();
    expect((await post(`tenants/ten_x/${path}`, body)).body.error.message).toBe(message);
  });

  it.each(['tenants/ten_x', 'tenants/x', `tenants/${'x'.repeat(300)}`])('%s is a 404', async (path) => {
    expect(codeOf(await (await operator()).get(path))).toEqual([404, 'resource_not_found']);
  });

  it.each(['tenants?before=ten_x', 'tenants?after=', 'tenants?after=a&after=b', 'entries?after=aud_x'])(
    '%s is a 400',
    async (path) => {
      expect(codeOf(await (await operator()).get(path))).toEqual([400, 'invalid_request']);
    },
  );
});

describe('an operator', () => {
  it('who is one no longer has left no invitation that anybody can accept', async () => {
    const { post, email } = await operator();
    const { id: tenantId } = (await post('tenants', { name: 'Atlas' })).body;
    const link = (await post(`tenants/${tenantId}/invitations`, { role: 'owner' })).body.link as string;
    const token = new URL(link).hash.slice(1);
    const late = new Browser(service.url);
    expect((await late.post('/auth/invitation', { token })).body).toEqual({ state: 'open' });
    await createPeopleRepository(service.app.store.db).removeOperator(email);
    expect((await late.post('/auth/invitation', { token })).body).toEqual({ state: 'revoked' });
    const account = { token, email: 'late.owner@example.com', name: 'Late', password: 'violet anchor drums 7' };
    expect(codeOf(await late.post('/auth/accept-invitation', account))).toEqual([404, 'resource_not_found']);
    expect(await createPeopleRepository(service.app.store.db).membersOf(tenantId)).toEqual([]);
  });

  it('makes a tenant with its first owner and key, all of it in the audit log of the tenant', async () => {
    const { post, get, id } = await operator();
    const made = await post('tenants', { name: 'Atlas' });
    expect(made.status).toBe(200);
    const tenantId = made.body.id as string;
    expect((await get('tenants')).body.tenants[0]).toMatchObject({ id: tenantId, name: 'Atlas', suspendedAt: null });
    const invited = await post(`tenants/${tenantId}/invitations`, { role: 'owner' });
    const token = new URL(invited.body.link).hash.slice(1);
    const owner = new Browser(service.url);
    const account = { token, email: 'first.owner@example.com', name: 'Owner', password: 'violet anchor drums 7' };
    expect((await owner.post('/auth/accept-invitation', account)).body.memberships).toMatchObject([{ tenantId }]);
    const key = await post(`tenants/${tenantId}/keys`, { kind: 'secret', environment: 'test' });
    const client = new Client(service.url, key.body.token);
    expect((await client.get('/v1/invoices')).status).toBe(200);
    const live = await post(`tenants/${tenantId}/keys`, { kind: 'secret', environment: 'live' });
    expect([live.status, live.body.error.message]).toMatchObject([400, expect.stringContaining('DGI_URL')]);
    expect((await post(`keys/${key.body.id}/revoke`)).status).toBe(200);
    // It is revoked, so this changes nothing.
    expect((await post(`keys/${key.body.id}/revoke`)).status).toBe(200);
    expect(codeOf(await client.get('/v1/invoices'))).toEqual([401, 'api_key_revoked']);
    const shown = (await get(`tenants/${tenantId}`)).body;
    expect(shown).toMatchObject({ id: tenantId, keys: [{ id: key.body.id }] });
    expect(shown.seller.missingFields).toContain('ice');
    const profile = await post(`tenants/${tenantId}/profile`, { ice: '002189456000077', legalForm: 'SARL' });
    expect(profile.status).toBe(200);
    // The same again is no change.
    expect((await post(`tenants/${tenantId}/profile`, { ice: '002189456000077' })).status).toBe(200);
    expect((await get(`tenants/${tenantId}`)).body.seller).toMatchObject({ ice: '002189456000077', cnss: null });
    expect(codeOf(await post(`tenants/${tenantId}/profile`, { ice: 'x' }))).toEqual([400, 'invalid_request']);
    expect(codeOf(await post(`tenants/${tenantId}/profile`, []))).toEqual([400, 'invalid_request']);
    expect(JSON.stringify(shown)).not.toContain(key.body.token);
    const log = new Client(service.url, owner.credential(tenantId));
    const { body } = await log.graphql(
      '{ auditLog(first: 9) { nodes { action actor { kind actorId name } address } } }',
    );
    const by = { actor: { kind: 'operator', actorId: id, name: 'Amina' }, address: null };
    expect(body.data.auditLog.nodes).toMatchObject([
      { action: 'seller_profile_updated', ...by },
      { action: 'api_key_revoked', ...by },
      { action: 'api_key_created', ...by },
      { action: 'member_joined' },
      { action: 'member_invited', ...by },
      { action: 'tenant_created', ...by },
    ]);
  });

  it('suspends a tenant: it reads and changes nothing, until the suspension ends', async () => {
    const tenant = await service.tenant();
    const { browser } = await signedIn(service, { memberships: [{ tenantId: tenant.id, role: 'owner' }] });
    const [key, person] = [
      new Client(service.url, tenant.secretKey),
      new Client(service.url, browser.credential(tenant.id)),
    ];
    const { body: invoice } = await key.post('/v1/invoices', invoiceBody());
    const { post, get } = await operator();
    const changes = async () => [
      codeOf(await key.post('/v1/invoices', invoiceBody())),
      codeOf(await key.post('/v1/webhook_endpoints', { url: 'https://x.example.com/', events: ['invoice.accepted'] })),
      (await person.graphql('mutation { createApiKey(kind: secret) { __typename } }')).body.errors?.[0].extensions.code,
    ];
    expect((await post(`tenants/${tenant.id}/suspend`)).status).toBe(200);
    expect((await post(`tenants/${tenant.id}/suspend`)).status).toBe(200);
    // Keys are cached for 50 ms.
    await expect.poll(changes).toEqual([[403, 'tenant_suspended'], [403, 'tenant_suspended'], 'tenant_suspended']);
    expect((await key.get(`/v1/invoices/${invoice.id}`)).status).toBe(200);
    await key.settled(invoice.id);
    expect((await get(`tenants/${tenant.id}`)).body.suspendedAt).toMatch(/^\d{4}-/);
    expect((await post(`tenants/${tenant.id}/resume`)).status).toBe(200);
    await expect.poll(async () => (await key.post('/v1/invoices', invoiceBody())).status).toBe(201);
    const actions = await service.app.store.db
      .collection('audit_log')
      .find({ tenantId: tenant.id })
      .sort({ order: 1 })
      .map(({ action }) => action)
      .toArray();
    expect(actions.filter((each) => each.startsWith('tenant.'))).toEqual(['tenant.suspended', 'tenant.resumed']);
  });

  it('see endpoints to which nothing is delivered, as their tenants do', async () => {
    const { get } = await operator();
    const tenant = await service.tenant();
    const key = new Client(service.url, tenant.secretKey);
    const made = [];
    for (const [path, minutesAgo] of [
      ['dead?token=secret', 45],
      ['well', 5],
    ] as const) {
      const url = `https://receiver.example.com:8443/${path}`;
      const { id } = (await key.post('/v1/webhook_endpoints', { url, events: ['invoice.accepted'] })).body;
      const failingSince = new Date(Date.now() - minutesAgo * 60_000);
      await service.app.store.db.collection('webhook_endpoints').updateOne({ _id: id }, { $set: { failingSince } });
      made.push({ id, failingSince });
    }
    const [dead] = made;
    const { endpoints } = (await get('survey')).body;
    expect(endpoints.filter((each: { tenantId: string }) => each.tenantId === tenant.id)).toEqual([
      {
        endpointId: dead?.id,
        tenantId: tenant.id,
        tenantName: expect.any(String),
        environment: 'test',
        host: 'receiver.example.com:8443',
        since: dead?.failingSince.toISOString(),
      },
    ]);
    const { conditions } = (await get('survey')).body;
    const named = { id: dead?.id, name: 'receiver.example.com:8443', since: dead?.failingSince.toISOString() };
    expect(conditions).toContainEqual(expect.objectContaining({ code: 'endpoints_failing' }));
    expect(conditions.flatMap((each: { subjects: object[] }) => each.subjects)).toContainEqual(named);
    const { body } = await key.post('/graphql', { query: '{ webhookEndpoints { id failing } }' });
    const failing = body.data.webhookEndpoints.filter((each: { failing: boolean }) => each.failing);
    expect(failing).toEqual([{ id: dead?.id, failing: true }]);
  });

  it('pauses and resumes the authority, in the audit log of the installation', async () => {
    const { post, get, id } = await operator();
    expect((await post('authority/pause', { reason: 'maintenance' })).status).toBe(200);
    expect((await get('survey')).body.authority.pause).toMatchObject({ by: 'Amina', reason: 'maintenance' });
    expect((await post('authority/resume')).status).toBe(200);
    expect(codeOf(await post('authority/resume'))).toEqual([400, 'invalid_request']);
    const { entries } = (await get('entries')).body;
    expect(entries[0].origin.address).toMatch(/127\.0\.0\.1|::1/);
    // How the operator joined is there, too.
    expect(entries[2]).toMatchObject({ action: 'member.joined', details: { role: 'operator' }, actor: { id } });
    expect(entries.slice(0, 2)).toMatchObject([
      { action: 'authority.resumed', actor: { id } },
      { action: 'authority.paused', actor: { id }, details: { reason: 'maintenance' } },
    ]);
    expect((await get(`entries?after=${entries[0].id}`)).body.entries[0].id).toBe(entries[1].id);
  });

  it('sees what waits and for how long, and has an invoice processed again', async () => {
    const tenant = await service.tenant();
    const key = new Client(service.url, tenant.secretKey);
    const { body: invoice } = await key.post('/v1/invoices', invoiceBody());
    await key.settled(invoice.id);
    const { post, get } = await operator();
    const unknown = await post('invoices/inv_x/retry');
    expect(codeOf(unknown)).toEqual([404, 'resource_not_found']);
    expect(unknown.body.error.message).toBe("There is no invoice 'inv_x'.");
    // Until the PDF, for which nobody waits, is drawn.
    await expect.poll(async () => codeOf(await post(`invoices/${invoice.id}/retry`))).toEqual([400, 'invalid_request']);
    // As a stage that a defect has stopped: four workers died with it, and the next attempt is an hour away.
    const invoices = service.app.store.db.collection<{ _id: string }>('invoices');
    const since = new Date(Date.now() - 3_600_000);
    const work = {
      stage: 'email',
      since,
      attempts: 0,
      claims: 9,
      dueAt: new Date(Date.now() + 3_600_000),
      token: null,
    };
    await invoices.updateOne({ _id: invoice.id }, { $set: { work: { ...work, lane: 'mail', partition: 7 } } });
    const rows = async () => {
      const { attention } = (await get('survey')).body as { attention: { invoiceId: string }[] };
      return attention.filter(({ invoiceId }) => invoiceId === invoice.id);
    };
    expect(await rows()).toMatchObject([
      { reason: 'internal_error', stage: 'email', tenantId: tenant.id, since: since.toISOString() },
    ]);
    expect((await post(`invoices/${invoice.id}/retry`)).status).toBe(200);
    await expect.poll(rows).toEqual([]);
    const { body } = await get('survey');
    expect(body.queues.map(({ lane }: { lane: string }) => lane)).toContain('mail');
    expect(body.workers).toBe(1);
    expect(body.storage.freeBytes).toBeGreaterThan(0);
    expect(body.storage.dataBytes).toBeGreaterThan(0);
    expect(body.certificates).toMatchObject([{ signer: 'platform', testOnly: true }]);
  });

  it('sees every tenant once, page by page, newest first', async () => {
    for (let n = 0; n < 55; n++) await service.tenant();
    const { get } = await operator();
    const first = (await get('tenants')).body as { tenants: { id: string; createdAt: string }[]; hasMore: boolean };
    expect([first.tenants.length, first.hasMore]).toEqual([50, true]);
    const second = (await get(`tenants?after=${first.tenants.at(-1)?.id}`)).body as typeof first;
    const all = [...first.tenants, ...second.tenants];
    expect(second.hasMore).toBe(false);
    expect(new Set(all.map(({ id }) => id)).size).toBe(
      await service.app.store.db.collection('tenants').countDocuments(),
    );
    const times = all.map(({ createdAt }) => createdAt);
    expect(times).toEqual([...times].sort().reverse());
  });
});
