import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { type Receiver, startReceiver, verifies } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';

// The real retry schedule with Agenda and HTTP. test/storage checks each attempt with a simulated clock.
const DELAYS = [0, 300, 600, 900, 1200];

let service: TestService;
let receiver: Receiver;

beforeAll(async () => {
  const schedule = DELAYS.map((delay) => (delay === 0 ? '0s' : `${delay}ms`)).join();
  service = await startService({
    ALLOW_INSECURE_WEBHOOKS: 'true',
    WEBHOOK_RETRY_SCHEDULE: schedule,
    WEBHOOK_RETENTION: '36h',
  });
  receiver = await startReceiver();
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

const LOG = `query ($state: WebhookDeliveryState) { webhookDeliveries(state: $state) { edges { node {
  state nextAttemptAt attempts { status errorCode } } } } }`;

it('a service keeps events, deliveries and attempts for the time of its setting', async () => {
  for (const name of ['webhook_events', 'webhook_deliveries', 'webhook_attempts']) {
    const indexes = await service.app.store.db.collection(name).indexes();
    const times = indexes.flatMap(({ expireAfterSeconds }) => expireAfterSeconds ?? []);
    expect(times, name).toEqual([36 * 3600]);
  }
});

it('a receiver that always fails gets five attempts, none before it is due; then the delivery is failed', async () => {
  const client = new Client(service.url, (await service.tenant()).secretKey);
  const url = `${receiver.url}/broken`;
  const { body: endpoint } = await client.post('/v1/webhook_endpoints', { url, events: ['invoice.accepted'] });
  receiver.answer((_request, response) => response.writeHead(503, { 'Retry-After': '1' }).end());
  await client.post('/v1/invoices', invoiceBody());
  const failed = async () => (await client.graphql(LOG, { state: 'failed' })).body.data.webhookDeliveries.edges.length;
  await expect.poll(failed, { timeout: 50_000 }).toBe(1);
  expect(receiver.received).toHaveLength(5);
  const gaps = receiver.received.map(({ at }, i) => at - (receiver.received[i - 1]?.at ?? at));
  for (const [i, gap] of gaps.entries()) expect(gap).toBeGreaterThanOrEqual((DELAYS[i] ?? 0) - 1);
  // Each attempt has a signature and time of its own; the event stays the same.
  expect(receiver.received.every((each) => verifies(each, endpoint.secret, each.at))).toBe(true);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  const [{ node }] = (await client.graphql(LOG)).body.data.webhookDeliveries.edges;
  expect(node).toEqual({
    state: 'failed',
    nextAttemptAt: null,
    attempts: Array(5).fill({ status: 503, errorCode: null }),
  });
});
