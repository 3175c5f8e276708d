import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/domain/ids.ts';
import { connect } from '../../src/storage/connect.ts';
import { type DoomedServer, doomedServer } from '../support/chaos-server.ts';
import { invoiceBody } from '../support/client.ts';
import { type EngineProcess, startEngineProcess } from '../support/engine-process.ts';
import { STAND_IN_RENDERER } from '../support/service.ts';

// Two processes on one server, restarted in turn behind a load balancer while clients create invoices. The server is the
// engine, as the reference server may hang when updates of two processes meet in a transaction; MongoDB by its address.

const REQUESTS = 1400;
const CLIENTS = 16;
const RESTARTS = 4;
const ASKS_EVERY_MS = 200;

let folder: string;
let engine: EngineProcess | null = null;
let mongodbUrl: string;
let secretKey: string;
const servers: DoomedServer[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rolling-'));
  if (!process.env.TEST_MONGODB_URL) engine = await startEngineProcess(join(folder, 'engine'));
  const url = new URL(engine?.uri ?? (process.env.TEST_MONGODB_URL as string));
  url.pathname = `/rolling_${Date.now()}`;
  mongodbUrl = url.toString();
  const settings = { MONGODB_URL: mongodbUrl, MASTER_KEY: '0123456789abcdef'.repeat(4), DATA_DIR: folder };
  const app = await startApp(readConfig({ ...settings, ROLE: 'api', PORT: '0', LOG_LEVEL: 'silent' }), {
    renderer: STAND_IN_RENDERER,
  });
  const id = newId('ten');
  await app.tenants.insert({ id, name: 'T', profile: {}, createdAt: new Date() });
  secretKey = (await app.manageKeys.create(id, 'secret', 'test')).token;
  await app.close();
  const limits = { RATE_LIMIT_SECRET: '1000000', RATE_LIMIT_ADDRESS: '1000000', SHUTDOWN_DELAY: '1s' };
  for (let i = 0; i < 2; i++) servers.push(doomedServer({ ...settings, ...limits }));
  await Promise.all(servers.map((server) => server.start()));
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill()));
  await engine?.kill();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** A load balancer as they come: in turn among those that say they are ready, over connections that it keeps, without a second try. */
async function startBalancer(): Promise<{ url: string; lost: string[]; close(): void }> {
  const ready = new Map<DoomedServer, string>();
  const lost: string[] = [];
  const agent = new Agent({ keepAlive: true });
  let turn = 0;
  let closed = false;
  const ask = async (server: DoomedServer) => {
    while (!closed) {
      const url = await Promise.race([server.url(), sleep(ASKS_EVERY_MS, null, { ref: false })]).catch(() => null);
      const answer = url === null ? null : await fetch(`${url}/readyz`).catch(() => null);
      await answer?.text();
      if (url !== null && answer?.status === 200) ready.set(server, url);
      else ready.delete(server);
      await sleep(ASKS_EVERY_MS);
    }
  };
  for (const server of servers) void ask(server);
  await expect.poll(() => ready.size, { timeout: 60_000 }).toBe(2);
  const balancer: Server = createServer((incoming, outgoing) => {
    const targets = [...ready.values()];
    const target = targets[turn++ % targets.length];
    const fail = (error: Error) => {
      lost.push(`${error.message} ${(error as NodeJS.ErrnoException).code} at ${target}`);
      outgoing.writeHead(502).end('lost');
    };
    if (target === undefined) return fail(new Error('no process is ready'));
    const { method, headers, url } = incoming;
    const onward = request(`${target}${url}`, { agent, method: method ?? 'GET', headers }, (answer) => {
      answer.on('error', fail);
      outgoing.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] ?? '' });
      answer.pipe(outgoing);
    });
    onward.on('error', fail);
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`,
    lost,
    close() {
      closed = true;
      balancer.closeAllConnections();
      balancer.close();
      agent.destroy();
    },
  };
}

it(`loses none of more than ${REQUESTS} creations while each process is restarted twice`, async () => {
  const balancer = await startBalancer();
  const statuses: number[] = [];
  let restarts = 0;
  const client = async () => {
    while (statuses.length < REQUESTS || restarts < RESTARTS) {
      const response = await fetch(`${balancer.url}/v1/invoices`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(invoiceBody()),
      });
      await response.text();
      statuses.push(response.status);
      await sleep(Math.random() * 60);
    }
  };
  const restart = async () => {
    for (; restarts < RESTARTS; restarts++) {
      await expect
        .poll(() => statuses.length, { timeout: 600_000 })
        .toBeGreaterThan((REQUESTS / (RESTARTS + 1)) * (restarts + 1));
      const server = servers[restarts % servers.length]!;
      expect(await server.stop()).toBe(0);
      await server.start();
      // Long enough for the balancer to know it again before the other one goes.
      await sleep(ASKS_EVERY_MS * 5);
    }
  };
  await Promise.all([restart(), ...Array.from({ length: CLIENTS }, client)]);
  balancer.close();
  console.log(`${statuses.length} creations, ${restarts} restarts, ${balancer.lost.length} lost`);
  expect(balancer.lost).toEqual([]);
  expect(statuses.filter((status) => status !== 201)).toEqual([]);
  const store = await connect(mongodbUrl);
  expect(await store.db.collection('invoices').countDocuments()).toBe(statuses.length);
  await store.db.dropDatabase();
  await store.close();
});
