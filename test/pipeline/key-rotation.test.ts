import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type App, startApp } from '../../src/app/app.ts';
import { resealStoredSecrets, rotateDataKey, rotateMasterKey } from '../../src/app/key-rotation.ts';
import { readConfig } from '../../src/config.ts';
import { soleKey } from '../../src/domain/data-keys.ts';
import { createEmbedTokens } from '../../src/domain/embedding/embed-token.ts';
import { newId } from '../../src/domain/ids.ts';
import { changeRing, masterKeyMark, openRing, withEnd } from '../../src/domain/installation/key-ring.ts';
import { createSecretBox } from '../../src/domain/secret-box.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { createKeyRingStore } from '../../src/storage/key-ring.ts';
import { codeAt } from '../support/authenticator.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { Browser, signedIn } from '../support/person.ts';
import { type Receiver, startReceiver, verifies } from '../support/receiver.ts';
import { testLong } from '../support/samples.ts';
import { STAND_IN_RENDERER, sharedThreads, withDatabase } from '../support/service.ts';

// Two processes on one store, which are replaced one after the other while clients of every kind ask them.
vi.setConfig({ testTimeout: 120_000 });

const [OLD, NEW] = [randomBytes(32), randomBytes(32)].map((key) => key.toString('hex')) as [string, string];
const STEPS = {
  old: { MASTER_KEY: OLD },
  both: { MASTER_KEY: NEW, MASTER_KEY_PREVIOUS: OLD },
  new: { MASTER_KEY: NEW },
};

/** What the processes that are `ready` were started with. */
let current: Record<string, string> = STEPS.old;
let mongo: TestMongo;
let store: Store;
let receiver: Receiver;
let dataDir: string;
let MONGODB_URL: string;
/** The processes that a load balancer would send requests to. */
let ready: App[] = [];
/** Requests that it has sent and that are not answered. */
const inFlight = new Map<App, number>();

const configOf = (step: Record<string, string>) =>
  readConfig({
    MONGODB_URL,
    PORT: '0',
    DATA_DIR: dataDir,
    LOG_LEVEL: 'silent',
    ALLOW_INSECURE_WEBHOOKS: 'true',
    RATE_LIMIT_SECRET: '1000000',
    RATE_LIMIT_PUBLISHABLE: '1000000',
    RATE_LIMIT_ADDRESS: '1000000',
    WEBHOOK_RETRY_SCHEDULE: '0s,100ms,1s',
    ...step,
  });
const start = (step: Record<string, string>) =>
  startApp(configOf(step), { ...sharedThreads(), renderer: STAND_IN_RENDERER });

/** Replaces each process by one with other settings: it gets no more requests, answers, and ends. */
async function rollingRestart(step: Record<string, string>): Promise<void> {
  for (const app of [...ready]) {
    const next = await start(step);
    ready = [...ready.filter((each) => each !== app), next];
    await expect.poll(() => inFlight.get(app) ?? 0, { interval: 5 }).toBe(0);
    await app.close();
  }
  current = step;
}

beforeAll(async () => {
  [mongo, receiver, dataDir] = await Promise.all([startTestMongo(), startReceiver(), mkdtemp(join(tmpdir(), 'keys-'))]);
  MONGODB_URL = withDatabase(mongo.uri, freshDbName('key_rotation'));
  store = await connect(MONGODB_URL);
  ready = [await start(current), await start(current)];
});
afterAll(async () => {
  await store?.db.dropDatabase();
  await Promise.all(ready.map((app) => app.close()));
  await Promise.all([store?.close(), receiver?.close(), mongo?.close()]);
  await rm(dataDir, { recursive: true, force: true });
});

const urlOf = (app: App) => app.url ?? '';

/** What was given out before, and how each of it is asked for at a process. */
async function givenOut() {
  const [app] = ready as [App];
  const tenantId = newId('ten');
  await app.tenants.insert({ id: tenantId, name: 'T', profile: {}, createdAt: new Date() });
  const [secret, publishable] = [
    (await app.manageKeys.create(tenantId, 'secret', 'test')).token,
    (await app.manageKeys.create(tenantId, 'publishable', 'test')).token,
  ];
  const client = new Client(urlOf(app), secret);
  const endpoint = await client.post('/v1/webhook_endpoints', { url: receiver.url, events: ['invoice.accepted'] });
  const created = await client.post('/v1/invoices', invoiceBody(), { 'Idempotency-Key': 'first' });
  const invoice = await client.settled(created.body.id);
  const { browser, email, password } = await signedIn(
    { app, url: urlOf(app), dataDir } as never,
    { memberships: [{ tenantId, role: 'owner' }] },
    new Browser(urlOf(app)),
  );
  const { uri, recoveryCodes } = (await browser.post('/auth/codes/begin', { password })).body;
  await browser.post('/auth/codes/confirm', { code: codeAt(uri) });
  /** Signs in with the password and a code of the authenticator, or one for recovery. */
  const signIn = async (given: string) => {
    const other = new Browser(urlOf(ready[0] as App));
    await other.post('/auth/sign-in', { email, password });
    return (await other.post('/auth/sign-in/code', { code: given })).status;
  };
  const grant = {
    kind: 'invoice',
    tenantId,
    environment: 'test',
    subject: created.body.id,
    expiresAt: new Date(Date.now() + 3_600_000),
  } as const;
  const path = `/v1/invoices/${created.body.id}`;
  const get = (credential: string) => async (url: string) => (await new Client(url, credential).get(path)).status;
  const xmlPath = new URL(invoice.xml_url).pathname;
  const asks: Readonly<Record<string, (url: string) => Promise<number>>> = {
    'secret key': get(secret),
    'publishable key with client_secret': async (url) =>
      (await new Client(url, publishable).get(`${path}?client_secret=${created.body.client_secret}`)).status,
    client_secret: get(created.body.client_secret),
    'token of an embedded page': get(createEmbedTokens(app.keys.data).issue(grant)),
    'document URL': async (url) => (await fetch(url + xmlPath)).status,
    session: async (url) => {
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      return (await fetch(`${url}/auth/session`, { headers: { Cookie: cookie } })).status;
    },
  };
  const webhookSecret = endpoint.body.secret as string;
  return {
    asks,
    secret,
    webhookSecret,
    signIn,
    code: () => codeAt(uri, Date.now() + 30_000),
    recoveryCodes: recoveryCodes as readonly string[],
    clientSecret: created.body.client_secret as string,
  };
}

testLong(
  'a rolling restart with a new master key fails no request, and everything given out before works after it',
  async () => {
    const { asks, secret, webhookSecret, clientSecret, signIn, code, recoveryCodes } = await givenOut();
    const failures: string[] = [];
    const counts = new Map<string, number>();
    let step = 'before';
    let isOver = false;
    const ask = async (name: string, request: (url: string) => Promise<number>, expected = 200) => {
      const app = ready[Math.floor(Math.random() * ready.length)] as App;
      inFlight.set(app, (inFlight.get(app) ?? 0) + 1);
      const status = await request(urlOf(app)).catch((error: Error) => String(error.cause ?? error));
      inFlight.set(app, (inFlight.get(app) ?? 0) - 1);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      if (status !== expected) failures.push(`${step}: ${name} got ${status}`);
    };
    const loop = async (name: string, request: (url: string) => Promise<number>, expected?: number) => {
      while (!isOver) {
        await ask(name, request, expected);
        await sleep(25);
      }
    };
    let created = 0;
    const create = async (url: string) => {
      const { status } = await new Client(url, secret).post('/v1/invoices', invoiceBody());
      if (status === 201) created++;
      await sleep(100);
      return status;
    };
    const clients = [
      ...Object.entries(asks).map(([name, request]) => loop(name, request)),
      loop('creation', create, 201),
    ];

    step = 'with both keys';
    await rollingRestart(STEPS.both);
    step = 'sealing';
    const own = { store, keyRing: createKeyRingStore(store.db) };
    // Two operators, and one who does it again.
    const twice = await Promise.all([1, 2].map(() => rotateMasterKey(configOf(STEPS.both), own)));
    expect(twice.map(({ from, to }) => from !== to).sort()).toEqual([false, true]);
    // Neither of the two is left in between: what is in use can be started again now.
    step = 'with the new key';
    await rollingRestart(STEPS.new);
    // However fast the machine is.
    const used = () => Math.min(...[...Object.keys(asks), 'creation'].map((name) => counts.get(name) ?? 0));
    await expect.poll(used).toBeGreaterThan(10);
    isOver = true;
    await Promise.all(clients);

    expect(failures).toEqual([]);
    for (const name of [...Object.keys(asks), 'creation']) expect(counts.get(name), name).toBeGreaterThan(10);
    step = 'after';
    for (const app of ready)
      for (const [name, request] of Object.entries(asks))
        expect([name, await request(urlOf(app))]).toEqual([name, 200]);
    const again = await new Client(urlOf(ready[0] as App), secret).post('/v1/invoices', invoiceBody(), {
      'Idempotency-Key': 'first',
    });
    expect(again.body.client_secret).toBe(clientSecret);
    await expect.poll(() => new Set(receiver.received.map(({ event }) => event.id)).size).toBe(created + 1);
    expect(receiver.received.filter((delivery) => !verifies(delivery, webhookSecret, delivery.at))).toEqual([]);

    expect([await signIn(code()), await signIn(recoveryCodes[0] ?? '')]).toEqual([200, 200]);

    // Who has the old key and a new copy of the data.
    await expect(start(STEPS.old)).rejects.toThrow(/^MASTER_KEY is not the master key of the stored data, which has/);
    const ring = await own.keyRing.read();
    const old = Buffer.from(OLD, 'hex');
    expect(() => openRing({ ...(ring as NonNullable<typeof ring>), master: masterKeyMark(old) }, old)).toThrow();
  },
);

it('a new data key is used by all processes, earlier ones are accepted until they end, and stored secrets are sealed anew', async () => {
  const { asks, secret, webhookSecret, clientSecret, signIn, code, recoveryCodes } = await givenOut();
  const own = { store, keyRing: createKeyRingStore(store.db) };
  const config = configOf(current);
  const refreshed = () => Promise.all(ready.map((app) => app.keys.refresh()));
  await rotateDataKey(config, own, { purpose: 'data', earlierEndAt: null });
  await refreshed();
  expect(ready.map(({ keys }) => keys.data.newest().number)).toEqual([1, 1]);
  const tooEarly = await resealStoredSecrets(config, own);
  expect([tooEarly.secrets, tooEarly.nextFrom]).toEqual([0, (await own.keyRing.read())?.keys.at(-1)?.usedFrom]);
  // Instead of waiting for a minute.
  const used = { usedFrom: new Date() };
  await changeRing(own.keyRing, (ring) => ({
    ...ring,
    revision: ring.revision + 1,
    keys: ring.keys.map((key) => (key.number === 3 ? { ...key, ...used } : key)),
  }));
  // One of the processes knows it a moment earlier: what it gives out is valid at the other.
  await (ready[0] as App).keys.refresh();
  const [first, second] = ready.map((app) => new Client(urlOf(app), secret)) as [Client, Client];
  const fresh = await first.post('/v1/invoices', invoiceBody());
  expect(
    (await new Client(urlOf(ready[1] as App), fresh.body.client_secret).get(`/v1/invoices/${fresh.body.id}`)).status,
  ).toBe(200);
  await refreshed();
  expect(ready.map(({ keys }) => keys.data.newest().number)).toEqual([3, 3]);
  for (const [name, request] of Object.entries(asks))
    for (const app of ready) expect([name, await request(urlOf(app))]).toEqual([name, 200]);
  const replay = await second.post('/v1/invoices', invoiceBody(), { 'Idempotency-Key': 'first' });
  expect(replay.body.client_secret).not.toBe(clientSecret);

  const box = createSecretBox(ready[0]?.keys.data ?? soleKey(randomBytes(32)), 'webhook-endpoint');
  const endpoints = () => store.db.collection('webhook_endpoints').find().toArray();
  const before = await endpoints();
  expect(before.flatMap(({ secrets }) => secrets).some(({ sealed }) => box.isNewest(sealed))).toBe(false);
  const twice = await Promise.all([1, 2].map(() => resealStoredSecrets(config, own)));
  expect(twice.reduce((sum, { secrets }) => sum + secrets, 0)).toBe(before.length);
  expect(twice.flatMap(({ unopened }) => unopened)).toEqual([]);
  expect(twice.map(({ nextFrom }) => nextFrom)).toEqual([null, null]);
  const after = await endpoints();
  expect(after.flatMap(({ secrets }) => secrets).every(({ sealed }) => box.isNewest(sealed))).toBe(true);
  expect(after.map(({ updatedAt }) => updatedAt)).toEqual(before.map(({ updatedAt }) => updatedAt));

  await changeRing(own.keyRing, (ring) => withEnd(ring, 1, new Date(), new Date()));
  await refreshed();
  for (const app of ready) {
    expect(await asks.client_secret?.(urlOf(app))).toBe(401);
    expect(await asks['document URL']?.(urlOf(app))).toBe(404);
    expect(await asks['secret key']?.(urlOf(app))).toBe(200);
    expect(await asks.session?.(urlOf(app))).toBe(200);
  }
  // Deliveries are signed with the same secret as before.
  const seen = receiver.received.length;
  const last = await first.post('/v1/invoices', invoiceBody());
  const delivered = () => receiver.received.slice(seen).find(({ event }) => event.data.id === last.body.id);
  await expect.poll(delivered).toBeDefined();
  const mine = delivered();
  expect(mine && verifies(mine, webhookSecret, mine.at)).toBe(true);

  // Another key of the sessions ends them, and codes of authenticators go on.
  await rotateDataKey(config, own, { purpose: 'sessions', earlierEndAt: null });
  await changeRing(own.keyRing, (ring) => ({
    ...ring,
    revision: ring.revision + 1,
    keys: ring.keys.map((key) => (key.number === 4 ? { ...key, ...used } : key)),
  }));
  await refreshed();
  for (const app of ready) expect(await asks.session?.(urlOf(app))).toBe(401);
  expect([await signIn(code()), await signIn(recoveryCodes[0] ?? '')]).toEqual([200, 200]);
});
