import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../scripts/authority-simulator/simulator.ts';
import { startApp } from '../../src/app/app.ts';
import { diagnoseLive } from '../../src/app/diagnosis.ts';
import type { LiveSettings } from '../../src/app/live-settings.ts';
import { missingInstallation } from '../../src/app/live-settings.ts';
import { readConfig } from '../../src/config.ts';
import { createManageKeys } from '../../src/domain/api-key/manage-keys.ts';
import { newId } from '../../src/domain/ids.ts';
import { moroccanOffset } from '../../src/domain/morocco/time.ts';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { STAND_IN_RENDERER, sharedThreads, startService, TAKES_LIVE, type TestService } from '../support/service.ts';

const SELLER = { ...SPECIMEN_SELLER, legalName: 'Atlas SARL', ice: '001234567000062' };

describe('live keys', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.close());

  it('name everything that is missing at once', async () => {
    const { id } = await service.tenant({ legalName: 'Atlas SARL' });
    const created = service.app.manageKeys.create(id, 'secret', 'live');
    await expect(created).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'environment',
      message: expect.stringMatching(
        /^Live keys require .*DGI_URL.*; .*SIGNING_P12.*; .*missing: ice, taxId, tradeRegister, professionalTax, cnss, address, email, legalForm, capital, paymentMode; .*\)\.$/,
      ),
    });
  });

  it('say how the profile is completed: on the command line, and in GraphQL', async () => {
    const { cnss: _, ...incomplete } = SELLER;
    const { id } = await service.tenant(incomplete);
    const created = service.app.manageKeys.create(id, 'secret', 'live');
    await expect(created).rejects.toThrow(
      `(missing: cnss; give the whole profile with "npm run -s cli -- tenants update ${id} --profile FILE.json", or the missing fields with the GraphQL mutation updateSellerProfile).`,
    );
  });

  it('cannot be rotated when a condition is no longer met', async () => {
    const { id } = await service.tenant(SELLER);
    await service.liveKey(id);
    const [key] = (await service.app.manageKeys.list(id)).filter(({ environment }) => environment === 'live');
    await expect(service.app.manageKeys.rotate(key?.id ?? '')).rejects.toThrow(/^Live keys require .*DGI_URL/);
  });

  it('of an unknown tenant are not explained', async () => {
    await expect(service.app.manageKeys.create('ten_x', 'secret', 'live')).rejects.toMatchObject({
      code: 'resource_not_found',
    });
  });

  const settings = (change: Partial<LiveSettings>): LiveSettings => ({
    ...readConfig({ DGI_URL: 'https://authority.example', SIGNING_P12: 'seal.p12' }),
    ...change,
  });
  const { signing, authority } = readConfig({});
  it.each<[string, LiveSettings, RegExp[]]>([
    ['nothing', settings({}), []],
    ['DGI_URL', settings({ authority }), [/DGI_URL/]],
    ['a certificate', settings({ signing }), [/self-made/]],
    ['nothing that a process of ROLE=api would know', settings({ signing, role: 'api' }), []],
    ['HTTPS', settings({ publicUrl: 'http://fatoura.example.ma' }), [/HTTPS/]],
    ['HTTPS where all interfaces listen', settings({ publicUrl: null, host: '0.0.0.0' }), [/HTTPS/]],
    ['no HTTPS on this machine', settings({ publicUrl: 'http://localhost:3000' }), []],
    ['all', settings({ authority, signing, publicUrl: 'http://1.2.3.4' }), [/DGI_URL/, /self-made/, /HTTPS/]],
  ])('an installation lacks %s', async (_name, given, missing) => {
    const texts = (await missingInstallation(given, 'ten_1')).map(({ text }) => text);
    expect(texts).toEqual(missing.map((each) => expect.stringMatching(each)));
  });
});

it('live invoices are refused while Node’s newer data has another time for Morocco, test invoices are not', async () => {
  const timeZone = { version: '2099a', offset: (at: Date) => moroccanOffset(at) + 60 };
  const service = await startService({}, STAND_IN_RENDERER, false, undefined, { ...TAKES_LIVE, timeZone });
  try {
    const { id, secretKey } = await service.tenant(SELLER);
    const live = new Client(service.url, await service.liveKey(id));
    expect(await live.post('/v1/invoices', invoiceBody())).toMatchObject({
      status: 503,
      body: { error: { code: 'internal_error', message: expect.stringContaining("Morocco's time") } },
    });
    expect((await new Client(service.url, secretKey).post('/v1/invoices', invoiceBody())).status).toBe(201);
  } finally {
    await service.close();
  }
});

describe('live invoices of data whose settings are missing', () => {
  /** A service without settings of the live environment, on data with a live key and an invoice that is being signed. */
  async function restored(settings: Record<string, string> = {}) {
    const lines: string[] = [];
    const dataDir = await mkdtemp(join(tmpdir(), 'fatoura-restored-'));
    const parts = { ...sharedThreads(), renderer: STAND_IN_RENDERER };
    const config = readConfig({ PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'silent', ...settings });
    const log = pino({}, { write: (line) => void lines.push(line) });
    const before = await startApp(config, { ...parts, means: TAKES_LIVE });
    const id = newId('ten');
    await before.tenants.insert({ id, name: 'Atlas', profile: SELLER, createdAt: new Date() });
    const { token } = await createManageKeys(before.tenants, async () => [], null).create(id, 'secret', 'live');
    const key = { 'Idempotency-Key': 'first' };
    const first = await new Client(before.url ?? '', token).post('/v1/invoices', invoiceBody(), key);
    await before.close();
    const app = await startApp(config, { ...parts, log });
    const credential = `operator:${before.firstStart.operatorPassword}`;
    return {
      app,
      config,
      key,
      first: first.body.id as string,
      live: new Client(app.url ?? '', token),
      errors: () => lines.map((line) => JSON.parse(line)).filter(({ level }) => level >= 50),
      async stranded() {
        const headers = { Authorization: `Basic ${Buffer.from(credential).toString('base64')}` };
        const text = await (await fetch(`${app.url}/metrics`, { headers })).text();
        return /^fatoura_authority_stranded (\d+)$/m.exec(text)?.[1];
      },
      async close() {
        await app.close();
        await rm(dataDir, { recursive: true, force: true });
      },
    };
  }

  it('are refused and stored nowhere, those that are stored wait, and operators are told', async () => {
    const it = await restored();
    try {
      const count = () => it.app.store.db.collection('invoices').countDocuments({});
      const refused = await it.live.post('/v1/invoices', invoiceBody(), { 'Idempotency-Key': 'second' });
      expect(refused).toMatchObject({
        status: 503,
        body: { error: { code: 'internal_error', message: expect.stringMatching(/DGI_URL.*SIGNING_P12/) } },
      });
      expect(await count()).toBe(1);
      // A repeated request of before is answered as ever.
      const replayed = await it.live.post('/v1/invoices', invoiceBody(), it.key);
      expect([replayed.status, replayed.body.id]).toEqual([201, it.first]);
      await sleep(1500);
      expect((await it.live.get(`/v1/invoices/${it.first}`)).body.status).toMatch(/^(pending|signing)$/);
      await expect.poll(it.errors).toMatchObject([
        { waiting: 1, tenants: 1, msg: expect.stringContaining('set DGI_URL') },
        { waiting: 1, tenants: 1, msg: expect.stringContaining('set SIGNING_P12') },
      ]);
      await expect.poll(it.stranded).toBe('1');
      expect(await diagnoseLive(it.config)).toEqual([
        { condition: 'authority', waiting: 1, tenants: 1 },
        { condition: 'certificate', waiting: 1, tenants: 1 },
      ]);
    } finally {
      await it.close();
    }
  });
});

describe('with a live authority', () => {
  let simulator: Simulator;
  let service: TestService;
  const ids: Record<'live' | 'test', string[]> = { live: [], test: [] };
  let tenantId: string;
  let live: Client;
  let test: Client;

  beforeAll(async () => {
    simulator = await startSimulator({ decisionDelay: 0 });
    service = await startService({ ...simulator.settings, DGI_RETRY_SCHEDULE: '0s,100ms,100ms,100ms,100ms' });
    tenantId = newId('ten');
    await service.app.tenants.insert({ id: tenantId, name: 'Atlas', profile: SELLER, createdAt: new Date() });
    const keyOf = async (environment: 'live' | 'test') =>
      new Client(service.url, (await service.app.manageKeys.create(tenantId, 'secret', environment)).token);
    [live, test] = [await keyOf('live'), await keyOf('test')];
  });
  afterAll(async () => {
    await service?.close();
    await simulator?.close();
  });

  async function create(client: Client, environment: 'live' | 'test'): Promise<string> {
    const { status, body } = await client.post('/v1/invoices', invoiceBody());
    expect(status).toBe(201);
    ids[environment].push(body.id);
    return body.id;
  }

  const held = () => simulator.control.ledger().map(({ id }) => id);
  const mocked = async () =>
    (await service.app.store.db.collection<{ _id: string }>('mock_submissions').find().toArray()).map(({ _id }) => _id);

  it('a live invoice is cleared by it, a test invoice by the mock', async () => {
    const [ofLive, ofTest] = [await create(live, 'live'), await create(test, 'test')];
    const accepted = await live.settled(ofLive);
    expect(accepted).toMatchObject({ status: 'accepted', dgi_id: simulator.control.find(ofLive)?.dgi_id });
    expect(await test.settled(ofTest)).toMatchObject({ status: 'accepted' });
    expect(held()).toEqual(ids.live);
    expect(await mocked()).toEqual(ids.test);
  });

  it('its calls, clock, token and certificates are metrics', async () => {
    const credential = Buffer.from(`operator:${service.app.firstStart.operatorPassword}`).toString('base64');
    const headers = { Authorization: `Basic ${credential}` };
    const text = await (await fetch(`${service.url}/metrics`, { headers })).text();
    expect(text).toMatch(/fatoura_authority_call_duration_seconds_count\{call="submit",outcome="held"\} [1-9]/);
    for (const use of ['client', 'ca', 'server'])
      expect(text).toMatch(
        new RegExp(`fatoura_authority_certificate_expiry_timestamp_seconds\\{certificate="${use}"\\} \\d{10}`),
      );
    expect(text).toMatch(/fatoura_authority_token_remaining_seconds [1-9]/);
    expect(text).toMatch(/fatoura_authority_token_requests_total\{outcome="token"\} [1-9]/);
    expect(text).toMatch(/fatoura_authority_clock_offset_seconds -?\d/);
  });

  it('while it is away test invoices go on, and live ones never reach the mock', async () => {
    await simulator.control.setListening(false);
    const ofLive = await create(live, 'live');
    expect(await test.settled(await create(test, 'test'))).toMatchObject({ status: 'accepted' });
    expect((await live.get(`/v1/invoices/${ofLive}`)).body.status).toMatch(/pending|signing/);
    expect(await mocked()).toEqual(ids.test);
    await simulator.control.setListening(true);
    while (!held().includes(ofLive)) await sleep(50);
    expect(await live.settled(ofLive)).toMatchObject({ status: 'accepted' });
    expect(held()).toEqual(ids.live);
  });

  it('a profile that became incomplete stops live invoices, not test ones', async () => {
    const { cnss: _, ...incomplete } = SELLER;
    await service.app.tenants.updateProfile(tenantId, incomplete);
    const refused = await live.post('/v1/invoices', invoiceBody());
    expect(refused).toMatchObject({ status: 403, body: { error: { message: expect.stringContaining('cnss') } } });
    expect(await test.settled(await create(test, 'test'))).toMatchObject({ status: 'accepted' });
  });
});
