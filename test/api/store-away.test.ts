import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { type EngineProcess, startEngineAtOwnPort, startEngineProcess } from '../support/engine-process.ts';
import { startService, type TestService } from '../support/service.ts';

let folder: string;
let engine: EngineProcess;
let service: TestService;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'away-'));
  engine = await startEngineAtOwnPort(folder);
  service = await startService({ MONGODB_URL: engine.uri, MASTER_KEY: '0123456789abcdef'.repeat(4) });
});
afterAll(async () => {
  await service.close();
  await engine.kill();
  await rm(folder, { recursive: true, force: true });
});

it('503 with Retry-After soon after the store is down, on every path that needs it; normal service when it is back', async () => {
  const { secretKey } = await service.tenant();
  const client = new Client(service.url, secretKey);
  const { body } = await client.post('/v1/invoices', invoiceBody());
  await client.settled(body.id);
  expect(await metrics()).toMatch(/^fatoura_webhook_deliveries_due /m);
  const byClientSecret = new Client(service.url, body.client_secret);
  await engine.kill();
  // Waits until the key cache has expired: until then /graphql would answer 200 with the same error in its body.
  await sleep(200);

  const start = Date.now();
  const answers = await Promise.all([
    client.get(`/v1/invoices/${body.id}`),
    client.get('/v1/invoices'),
    client.post('/v1/invoices', invoiceBody(), { 'Idempotency-Key': 'while it is away' }),
    client.post('/v1/webhook_endpoints', { url: 'https://example.com/', events: ['invoice.accepted'] }),
    byClientSecret.get(`/v1/invoices/${body.id}`),
    byClientSecret.get(`/v1/invoices/${body.id}/stream`),
    client.graphql('{ invoices { edges { node { id } } } }'),
  ]);
  // Each request waits 2 s for a server, twice if the store also has the rate limits. The driver's default would be 30
  // s each.
  expect(Date.now() - start).toBeLessThan(25_000);
  for (const { status, headers, body: refusal } of answers) {
    expect([status, refusal.error]).toEqual([
      503,
      { code: 'internal_error', message: expect.stringContaining('Try again'), param: null, status: 503 },
    ]);
    expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(headers.get('x-ratelimit-limit')).not.toBeNull();
  }
  expect((await client.get('/readyz')).status).toBe(503);
  expect((await client.get('/healthz')).status).toBe(200);
  // A proxy asks so: without the store a process still answers what stands above.
  expect((await client.get('/readyz?exclude=store')).status).toBe(200);
  const asked = Date.now();
  const exposed = await metrics();
  // Prometheus waits 10 s.
  expect(Date.now() - asked).toBeLessThan(8000);
  expect(exposed).toContain('process_cpu_seconds_total');
  // By their absence FatouraStoreAway knows it.
  expect(exposed).not.toMatch(/^fatoura_webhook_deliveries_due /m);

  engine = await startEngineProcess(folder, '--port', new URL(engine.uri).port);
  await expect.poll(async () => (await client.get(`/v1/invoices/${body.id}`)).status).toBe(200);
  const created = await client.post('/v1/invoices', invoiceBody(), { 'Idempotency-Key': 'while it is away' });
  expect(created.status).toBe(201);
});

/** What Prometheus gets. */
async function metrics(): Promise<string> {
  const credential = Buffer.from(`operator:${service.app.firstStart.operatorPassword}`).toString('base64');
  const answer = await fetch(`${service.url}/metrics`, { headers: { Authorization: `Basic ${credential}` } });
  expect(answer.status).toBe(200);
  return answer.text();
}
