import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import { type ClaimedDelivery, deliveryOf } from '../../src/domain/webhook/delivery.ts';
import type { WebhookEndpoint } from '../../src/domain/webhook/endpoint.ts';
import type { AttemptRecord } from '../../src/domain/webhook/ports.ts';
import type { WebhookEvent } from '../../src/domain/webhook/webhook-event.ts';
import type { Store } from '../../src/storage/connect.ts';
import { openTestStore } from '../support/store.ts';
import {
  answerOf,
  deliveriesOf,
  onlyDelivery,
  storedEndpoint,
  type Worker,
  webhookWorker,
} from '../support/webhooks.ts';

let store: Store;
let worker: Worker;
/** Statements of each command that wrote to the ledger. */
let writes: [command: string, statements: number][] = [];

beforeAll(async () => {
  store = await openTestStore('webhook_records', true);
  store.client.on('commandStarted', ({ commandName, command }) => {
    if (!['webhook_deliveries', 'webhook_attempts'].includes(command[commandName])) return;
    if (commandName !== 'find') writes.push([commandName, command.updates?.length ?? 1]);
  });
  worker = webhookWorker(
    store,
    async () => answerOf(200),
    () => new Date(),
  );
});
afterEach(async () => void (await store.db.collection('webhook_deliveries').deleteMany({})));
afterAll(() => store.close());

const LEASE_MS = 30_000;
const NOW = new Date();
/** When every lease that was taken at `NOW` has ended. */
const LATER = new Date(NOW.getTime() + 2 * LEASE_MS);

/** Stores new, unclaimed deliveries to an endpoint. */
async function stored(endpoint: WebhookEndpoint, count: number): Promise<void> {
  const rows = Array.from({ length: count }, () => ({
    delivery: deliveryOf(newEvent(endpoint.tenantId), endpoint),
    lease: null,
    manual: false,
    timesDisabled: 0,
  }));
  await worker.deliveries.insert(rows, NOW);
}

function newEvent(tenantId: string): WebhookEvent {
  const { order } = newCreationMoment();
  return {
    id: newId('evt'),
    tenantId,
    environment: 'test',
    type: 'invoice.signing',
    invoiceId: newId('inv'),
    sequence: 1,
    createdAt: NOW,
    order,
    place: order,
    body: '{}',
    documentRevision: 0,
  };
}

const claimed = (endpoint: WebhookEndpoint, now = NOW) =>
  worker.deliveries.claimMany(endpoint.id, { limit: 1000, retries: false, leaseMs: LEASE_MS, now });

const delivered = (claim: ClaimedDelivery, latencyMs = 1): AttemptRecord => ({
  claim,
  attempt: { at: NOW, url: 'https://receiver.test/', requestHeaders: {}, ...answerOf(200), latencyMs },
  outcome: { state: 'delivered' },
});

const failed = (claim: ClaimedDelivery, nextAttemptAt: Date): AttemptRecord => ({
  ...delivered(claim),
  outcome: { state: 'pending', nextAttemptAt, plannedAt: NOW },
});

it('a batch is one insert, and one statement for each outcome', async () => {
  const endpoint = await storedEndpoint(store);
  await stored(endpoint, 200);
  const claims = await claimed(endpoint);
  writes = [];
  await worker.deliveries.record(claims.map((claim, i) => (i % 4 === 0 ? failed(claim, LATER) : delivered(claim))));
  expect(writes).toEqual([
    ['insert', 1],
    ['update', 2],
  ]);
  const rows = await store.db.collection('webhook_deliveries').find().toArray();
  const states = Map.groupBy(rows, ({ state, work, attempts }) => [state, work?.tries, attempts.length].join());
  expect([...states].map(([state, { length }]) => [state, length]).sort()).toEqual([
    ['delivered,,1', 150],
    ['pending,1,1', 50],
  ]);
});

it('each delivery has its own attempts, oldest first', async () => {
  const endpoint = await storedEndpoint(store);
  await stored(endpoint, 3);
  const first = await claimed(endpoint);
  await worker.deliveries.record(first.map((claim) => failed(claim, NOW)));
  const again = { limit: 9, retries: true, leaseMs: LEASE_MS, now: NOW };
  const second = await worker.deliveries.claimMany(endpoint.id, again);
  await worker.deliveries.record(second.map((claim, i) => delivered(claim, 100 + i)));
  const place = new Map(second.map(({ id }, i) => [id, i]));
  for (const { id, attempts } of await deliveriesOf(worker, endpoint.tenantId))
    expect(attempts.map(({ latencyMs }) => latencyMs)).toEqual([1, 100 + (place.get(id) ?? 0)]);
});

it.each(['record', 'release', 'cancel'] as const)(
  '%s changes nothing under a lost lease of the batch',
  async (method) => {
    const endpoint = await storedEndpoint(store);
    await stored(endpoint, 2);
    const lost = await claimed(endpoint);
    // The leases end, and the same process takes both deliveries again.
    await worker.deliveries.sweep(9, 0, LATER);
    const held = await claimed(endpoint, LATER);
    expect(held.map(({ id }) => id).sort()).toEqual(lost.map(({ id }) => id).sort());
    const [mine, other] = [held[0], lost.find(({ id }) => id !== held[0]?.id)];
    if (!mine || !other) throw new Error('two deliveries were to be claimed twice');
    const row = (id: string) => store.db.collection('webhook_deliveries').findOne({ _id: id as never });
    const [mineBefore, otherBefore] = [await row(mine.id), await row(other.id)];
    if (method === 'record') await worker.deliveries.record([delivered(mine), delivered(other)]);
    else if (method === 'release') await worker.deliveries.release([mine, other], LATER);
    else await worker.deliveries.cancel([mine, other], NOW);
    expect(await row(mine.id)).not.toEqual(mineBefore);
    expect(await row(other.id)).toEqual(otherBefore);
  },
);

it('the outcomes of a lost lease and of the lease that followed it may be in one batch', async () => {
  const endpoint = await storedEndpoint(store);
  await stored(endpoint, 1);
  const [lost] = await claimed(endpoint);
  await worker.deliveries.sweep(9, 0, LATER);
  const [held] = await claimed(endpoint, LATER);
  if (!lost || !held) throw new Error('the delivery was to be claimed twice');
  await worker.deliveries.record([delivered(lost, 1), delivered(held, 2)]);
  const { state, attempts } = await onlyDelivery(worker, endpoint.tenantId);
  expect([state, attempts.map(({ latencyMs }) => latencyMs)]).toEqual(['delivered', [2]]);
});

it('a batch that is written twice, as its first answer was lost, is recorded once', async () => {
  const endpoint = await storedEndpoint(store);
  await stored(endpoint, 2);
  const records = (await claimed(endpoint)).map((claim) => failed(claim, LATER));
  await worker.deliveries.record(records);
  const before = await deliveriesOf(worker, endpoint.tenantId);
  await worker.deliveries.record(records);
  expect(await deliveriesOf(worker, endpoint.tenantId)).toEqual(before);
  expect(before.map(({ attempts }) => attempts.length)).toEqual([1, 1]);
});

describe('a delivery that is cancelled while it is leased', () => {
  /** Two cancelled deliveries, the second of which was leased. */
  async function cancelled() {
    const endpoint = await storedEndpoint(store);
    await stored(endpoint, 2);
    const [first, leased] = await claimed(endpoint);
    if (!first || !leased) throw new Error('both deliveries were to be claimed');
    await worker.deliveries.release([first], NOW);
    writes = [];
    expect(await worker.deliveries.cancelPending(endpoint.id, 9)).toBe(2);
    return { endpoint, leased };
  }

  it('keeps its lease; one statement decides which deliveries do', async () => {
    const { endpoint, leased } = await cancelled();
    expect(writes).toEqual([['update', 1]]);
    const rows = await store.db.collection('webhook_deliveries').find({ endpointId: endpoint.id }).toArray();
    const kept = rows.flatMap(({ state, work }) => [[state, work?.token ?? null]]);
    expect(kept.sort()).toEqual(
      [
        ['cancelled', null],
        ['cancelled', leased.token],
      ].sort(),
    );
  });

  it.each([
    ['is released', ({ leased }) => worker.deliveries.release([leased], NOW)],
    ['loses its lease', () => worker.deliveries.sweep(9, 0, LATER)],
    ['is freed', () => worker.deliveries.freeLeases(NOW, LEASE_MS)],
  ] as [string, (test: { leased: ClaimedDelivery }) => Promise<unknown>][])(
    'is not attempted again when it %s',
    async (_how, end) => {
      const { endpoint, leased } = await cancelled();
      await end({ leased });
      expect(await claimed(endpoint, LATER)).toEqual([]);
      const rows = await deliveriesOf(worker, endpoint.tenantId);
      expect(rows.map(({ state, nextAttemptAt }) => [state, nextAttemptAt])).toEqual(
        Array(2).fill(['cancelled', null]),
      );
    },
  );
});
