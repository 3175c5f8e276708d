import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DoomedServer, doomedServer } from '../support/chaos-server.ts';
import { Client, invoiceFor } from '../support/client.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Accepted at once; accepted at the third attempt, 3 s after the first. */
const ICES = ['001234567000089', '999000000000490'];

let folder: string;
let service: DoomedServer;
let receiver: Receiver;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'clock-'));
  receiver = await startReceiver();
  service = doomedServer({
    DATA_DIR: join(folder, 'data'),
    LOG_LEVEL: 'error',
    CHROMIUM_PATH: '/nonexistent',
    ALLOW_INSECURE_WEBHOOKS: 'true',
    RATE_LIMIT_SECRET: '1000000',
    WEBHOOK_RETRY_SCHEDULE: '0s,5s,5s,5s',
    NODE_OPTIONS: `--import=${new URL('../support/shifted-clock.js', import.meta.url).href}`,
    CLOCK_OFFSET_FILE: join(folder, 'offset'),
  });
  await service.start();
});
afterAll(async () => {
  await service.kill();
  await receiver.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** Sets the clock of the service, in all of its threads. */
async function setClock(aheadMs: number): Promise<void> {
  await writeFile(join(folder, 'new'), String(aheadMs));
  await rename(join(folder, 'new'), join(folder, 'offset'));
  await sleep(200);
}

it('a clock that is set forward by an hour, and back again, loses and doubles nothing, and nobody waits for an hour', async () => {
  const client = new Client(await service.url(), service.secretKey());
  const events = ['invoice.accepted'];
  expect((await client.post('/v1/webhook_endpoints', { url: `${receiver.url}/hook`, events })).status).toBe(201);
  const create = async (ice: string): Promise<string> => {
    const { status, body } = await client.post('/v1/invoices', invoiceFor(ice));
    expect(status).toBe(201);
    return body.id;
  };
  const ids: string[] = [];
  for (const aheadMs of [0, HOUR_MS, 0, -HOUR_MS]) {
    await setClock(aheadMs);
    const made = await Promise.all(ICES.map(create));
    const { body } = await client.get(`/v1/invoices/${made[0]}`);
    expect(Math.abs(Date.parse(body.created_at) - Date.now() - aheadMs)).toBeLessThan(60_000);
    ids.push(...made);
  }
  for (const id of ids) expect((await client.settled(id)).status).toBe('accepted');
  const { data } = (await client.get('/v1/invoices?limit=100')).body;
  expect(data.map(({ id }: { id: string }) => id).sort()).toEqual([...ids].sort());
  const query = '{ invoices(first: 20) { nodes { number } } }';
  const { nodes } = (await client.graphql(query)).body.data.invoices;
  expect(nodes.map(({ number }: { number: string }) => Number(number.split('-')[1])).sort()).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8,
  ]);
  const delivered = () => new Set(receiver.received.map(({ event }) => event.data.id));
  await expect.poll(() => delivered().size).toBe(8);
  expect(service.seen.complaints).toEqual([]);
});

it('a clock a day ahead that is corrected while no process runs leaves no work for the next day', async () => {
  const client = new Client(await service.url(), service.secretKey());
  const before = new Set(receiver.received.map(({ event }) => event.data.id));
  receiver.answer((_request, response) => void response.writeHead(503).end());
  const create = async (ice: string): Promise<string> => (await client.post('/v1/invoices', invoiceFor(ice))).body.id;
  await setClock(DAY_MS);
  const [quick] = await Promise.all(ICES.map(create));
  // Its delivery fails; the other invoice waits for its next attempt.
  await expect.poll(() => receiver.received.some(({ event }) => event.data.id === quick)).toBe(true);
  await service.kill();
  const taken = new Set<string>();
  receiver.answer((_request, response, { event }) => {
    taken.add(event.data.id);
    response.end('ok');
  });
  await setClock(0);
  await service.start();
  const again = new Client(await service.url(), service.secretKey());
  const { data } = (await again.get('/v1/invoices?limit=100')).body;
  const made: string[] = data.map(({ id }: { id: string }) => id).filter((id: string) => !before.has(id));
  expect(made).toHaveLength(2);
  for (const id of made) expect((await again.settled(id)).status).toBe('accepted');
  await expect.poll(() => made.filter((id) => !taken.has(id)), { timeout: 60_000 }).toEqual([]);
});
