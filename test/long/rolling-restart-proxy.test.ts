import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventSource } from 'eventsource';
import { fetch } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/domain/ids.ts';
import { connect } from '../../src/storage/connect.ts';
import { type DoomedServer, doomedServer } from '../support/chaos-server.ts';
import { invoiceBody, invoiceFor } from '../support/client.ts';
import { type EngineProcess, startEngineProcess } from '../support/engine-process.ts';
import { freePorts } from '../support/free-ports.ts';
import { HAS_HAPROXY, startProxy, type TlsProxy } from '../support/haproxy.ts';
import { STAND_IN_RENDERER } from '../support/service.ts';

// What docker-compose.yml's profile `production` runs, on loopback: two api processes, two workers, a store of their own,
// and HAProxy with the configuration of deploy/. All four processes are restarted in turn under load.

const REQUESTS = 5000;
const CLIENTS = 12;
const STREAMS = 200;
/** More than HAProxy needs to notice. */
const SETTINGS = { SHUTDOWN_DELAY: '3s', RATE_LIMIT_SECRET: '1000000', RATE_LIMIT_ADDRESS: '1000000' };
/** Decided 10 s after it was transmitted, so that its stream lives through a restart. */
const SLOW_DECISION = '999000000000393';
const STATUSES = ['signing', 'transmitted', 'accepted'];

let folder: string;
let engine: EngineProcess;
let mongodbUrl: string;
let secretKey: string;
let proxy: TlsProxy;
const api: DoomedServer[] = [];
const workers: DoomedServer[] = [];

beforeAll(async () => {
  if (!HAS_HAPROXY) return;
  folder = await mkdtemp(join(tmpdir(), 'rolling-proxy-'));
  engine = await startEngineProcess(join(folder, 'db'), '--port', '0');
  const url = new URL(engine.uri);
  url.pathname = '/rolling';
  mongodbUrl = url.toString();
  const settings = {
    MONGODB_URL: mongodbUrl,
    MASTER_KEY: '0123456789abcdef'.repeat(4),
    DATA_DIR: folder,
    CHROMIUM_PATH: '/nonexistent',
    TRUST_PROXY: '1',
    PUBLIC_URL: 'https://localhost',
  };
  const app = await startApp(readConfig({ ...settings, ROLE: 'api', PORT: '0', LOG_LEVEL: 'silent' }), {
    renderer: STAND_IN_RENDERER,
  });
  const id = newId('ten');
  await app.tenants.insert({ id, name: 'T', profile: {}, createdAt: new Date() });
  secretKey = (await app.manageKeys.create(id, 'secret', 'test')).token;
  await app.close();
  const [first, second] = await freePorts(2);
  for (const port of [first, second])
    api.push(doomedServer({ ...settings, ...SETTINGS, ROLE: 'api', PORT: String(port) }));
  for (let i = 0; i < 2; i++) workers.push(doomedServer({ ...settings, ...SETTINGS, ROLE: 'worker' }));
  for (const server of [...api, ...workers]) await server.start();
  proxy = await startProxy(folder, [`127.0.0.1:${first}`, `127.0.0.1:${second}`]);
});
afterAll(async () => {
  if (!HAS_HAPROXY) return;
  await proxy?.close();
  await Promise.all([...api, ...workers].map((server) => server.kill()));
  await engine.kill();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

const headers = () => ({ Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' });

/** Sends a request through the proxy. What is not answered as expected is in `failures`. */
async function ask(failures: string[], path: string, body?: object): Promise<{ id: string } | null> {
  const method = body ? 'POST' : 'GET';
  try {
    const response = await fetch(proxy.url + path, {
      method,
      headers: headers(),
      dispatcher: proxy.agent,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status === (body ? 201 : 200)) return JSON.parse(text);
    failures.push(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`);
  } catch (error) {
    failures.push(`${method} ${path}: ${String((error as Error).cause ?? error)}`);
  }
  return null;
}

/** Follows an invoice as a browser does, to its end. */
function follow(id: string): Promise<{ statuses: string[]; connections: number }> {
  const statuses: string[] = [];
  let connections = 0;
  const source = new EventSource(`${proxy.url}/v1/invoices/${id}/stream`, {
    fetch: (url, init) =>
      fetch(String(url), {
        ...({ ...init, dispatcher: proxy.agent } as object),
        headers: { ...init.headers, Authorization: `Bearer ${secretKey}` },
      }) as never,
  });
  return new Promise((resolve) => {
    const end = () => {
      source.close();
      resolve({ statuses, connections });
    };
    source.addEventListener('open', () => connections++);
    source.addEventListener('message', ({ data }) => statuses.push(JSON.parse(data).status));
    // After the final event it is answered 204, and a browser gives up.
    source.addEventListener('error', () => {
      if (source.readyState === EventSource.CLOSED) end();
    });
  });
}

it.skipIf(!HAS_HAPROXY)(
  `a rolling restart of all processes loses none of ${REQUESTS} requests and no status of ${STREAMS} streams`,
  async () => {
    const failures: string[] = [];
    const streams: ReturnType<typeof follow>[] = [];
    const stops: (number | null)[] = [];
    let requests = 0;
    let restarted = false;
    const client = async () => {
      while (requests < REQUESTS || !restarted) {
        requests += 3;
        const created = await ask(failures, '/v1/invoices', invoiceBody());
        if (created) await ask(failures, `/v1/invoices/${created.id}`);
        await ask(failures, '/v1/invoices?limit=5');
        await sleep(Math.random() * 20);
      }
    };
    const order = [api[0]!, workers[0]!, api[1]!, workers[1]!];
    const restart = async () => {
      for (const [index, server] of order.entries()) {
        await expect.poll(() => requests, { timeout: 900_000 }).toBeGreaterThan((REQUESTS / 5) * (index + 1));
        const opened = Array.from({ length: STREAMS / order.length }, async () => {
          const created = await ask(failures, '/v1/invoices', invoiceFor(SLOW_DECISION));
          requests++;
          streams.push(follow(created!.id));
        });
        await Promise.all(opened);
        stops.push(await server.stop());
        await server.start();
        // The proxy asks every second.
        await sleep(3000);
      }
      restarted = true;
    };
    await Promise.all([restart(), ...Array.from({ length: CLIENTS }, client)]);
    const followed = await Promise.all(streams);
    const reconnected = followed.filter(({ connections }) => connections > 1).length;
    console.log(`${requests} requests, ${failures.length} failed; ${followed.length} streams, ${reconnected} resumed`);

    expect(failures).toEqual([]);
    expect(stops).toEqual([0, 0, 0, 0]);
    expect(followed).toHaveLength(STREAMS);
    // A stream that was opened when the invoice was already being signed begins there.
    const incomplete = followed.filter(
      ({ statuses }) => statuses.length < 2 || String(STATUSES.slice(-statuses.length)) !== String(statuses),
    );
    expect(incomplete).toEqual([]);
    // It would prove nothing if no stream had been open at a restart.
    expect(reconnected).toBeGreaterThan(STREAMS / 10);
    const store = await connect(mongodbUrl);
    const undecided = { status: { $nin: ['accepted', 'rejected'] } };
    await expect
      .poll(() => store.db.collection('invoices').countDocuments(undecided), { timeout: 300_000, interval: 1000 })
      .toBe(0);
    await store.close();
    expect([...api, ...workers].flatMap(({ seen }) => seen.complaints)).toEqual([]);
  },
);

it.skipIf(!HAS_HAPROXY)(
  'an outage of the store reaches clients as the service tells it, not as the proxy would',
  async () => {
    const list = () => fetch(`${proxy.url}/v1/invoices`, { headers: headers(), dispatcher: proxy.agent });
    expect((await list()).status).toBe(200);
    await engine.kill();
    // Time enough for the proxy to take out what is not ready.
    await sleep(5000);
    const answer = await list();
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[1-9]\d*$/)]);
    expect(await answer.json()).toMatchObject({ error: { code: 'internal_error', status: 503 } });
    engine = await startEngineProcess(join(folder, 'db'), '--port', new URL(engine.uri).port);
    await expect.poll(async () => (await list()).status, { timeout: 30_000 }).toBe(200);
  },
);
