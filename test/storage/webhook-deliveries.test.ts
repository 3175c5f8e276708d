import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { createManageEndpoints } from '../../src/domain/webhook/manage-endpoints.ts';
import { createSecretBox } from '../../src/domain/webhook/secret-box.ts';
import type { OutgoingRequest, SendResult } from '../../src/domain/webhook/sender.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { ensureIndexes } from '../../src/storage/indexes.ts';
import { createTenantRepository } from '../../src/storage/tenants.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import {
  answerOf,
  HOUR,
  MINUTE,
  SCHEDULE,
  statusChange,
  storedEndpoint,
  storedInvoice,
  webhookWorker,
} from '../support/webhooks.ts';

let mongo: TestMongo;
let store: Store;

beforeAll(async () => {
  mongo = await startTestMongo();
  store = await connect(mongo.uri, freshDbName('webhooks'));
  await ensureIndexes(store.db);
});
// A sweep is not a tenant's: it would go on with what the test before has left.
afterEach(async () => void (await store.db.collection('webhook_deliveries').deleteMany({})));
afterAll(async () => {
  await store.db.dropDatabase();
  await store.close();
  await mongo.close();
});

/** A clock that stands still until it is moved. */
function clockAt(start = Date.now()) {
  let now = start;
  return {
    read: () => new Date(now),
    move(milliseconds: number) {
      now += milliseconds;
    },
  };
}

/** A receiver that answers with `status()`, and remembers what it was sent. */
function receiver(status: (request: OutgoingRequest) => number | null) {
  const requests: OutgoingRequest[] = [];
  const send = async (request: OutgoingRequest): Promise<SendResult> => {
    requests.push(request);
    return answerOf(status(request));
  };
  return { requests, send };
}

type Worker = ReturnType<typeof webhookWorker>;

async function deliveryOf(worker: Worker, tenantId: string) {
  const everything = { limit: 10, cursor: null, from: null, until: null, endpointId: null, state: null };
  const { rows } = await worker.deliveries.page({ tenantId, environment: 'test', ...everything });
  const [delivery] = rows;
  if (!delivery || rows.length > 1) throw new Error(`${rows.length} deliveries instead of one`);
  return delivery;
}

async function turn(worker: Worker): Promise<void> {
  await worker.publisher.settle();
  await worker.dispatcher.sweep();
  await worker.dispatcher.settle();
}

describe('the schedule', () => {
  it('five attempts, each at its time and not before, then failed', async () => {
    const clock = clockAt();
    const { requests, send } = receiver(() => 500);
    const worker = webhookWorker(store, send, clock.read);
    const { tenantId, id: endpointId } = await storedEndpoint(store);
    worker.publisher.publish(await storedInvoice(store, tenantId));
    await turn(worker);
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(requests).toHaveLength(attempt);
      const { state, attempts, nextAttemptAt } = await deliveryOf(worker, tenantId);
      expect(attempts).toHaveLength(attempt);
      expect(attempts.at(-1)).toMatchObject({ at: clock.read(), status: 500, failure: null });
      const delay = SCHEDULE[attempt];
      if (delay === undefined) {
        expect({ state, nextAttemptAt }).toEqual({ state: 'failed', nextAttemptAt: null });
        break;
      }
      const due = new Date(clock.read().getTime() + delay);
      expect({ state, nextAttemptAt }).toEqual({ state: 'pending', nextAttemptAt: due });
      expect(worker.wakes.at(-1)).toEqual({ endpointId, at: due });
      // A moment too early nothing happens, though somebody wakes.
      clock.move(delay - 1);
      worker.dispatcher.wake(endpointId);
      await turn(worker);
      expect(requests).toHaveLength(attempt);
      clock.move(1);
      worker.dispatcher.wake(endpointId);
      await turn(worker);
    }
    clock.move(24 * HOUR);
    worker.dispatcher.wake(endpointId);
    await turn(worker);
    expect(requests).toHaveLength(5);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(worker.problems).toEqual([]);
  });

  it.each([
    ['a 2xx of any kind', [204], 'delivered', 1],
    ['a 2xx after failures', [500, null, 302, 410, 200], 'delivered', 5],
    ['anything else', [429, 301, 410, 404, 100], 'failed', 5],
  ])('%s', async (_name, statuses, state, count) => {
    const clock = clockAt();
    let next = 0;
    const { requests, send } = receiver(() => statuses[next++] ?? null);
    const worker = webhookWorker(store, send, clock.read);
    const { tenantId } = await storedEndpoint(store);
    worker.publisher.publish(await storedInvoice(store, tenantId));
    await turn(worker);
    for (const delay of SCHEDULE.slice(1)) {
      // Nobody wakes: the sweep does, a little later.
      clock.move(delay + 3000);
      await turn(worker);
    }
    expect(requests).toHaveLength(count);
    const delivery = await deliveryOf(worker, tenantId);
    expect(delivery).toMatchObject({ state, nextAttemptAt: null });
    expect(delivery.attempts.map(({ status }) => status)).toEqual(statuses.slice(0, count));
  });
});

describe('nothing is lost', () => {
  it('a status change that its process did not publish is published by another', async () => {
    const { requests, send } = receiver(() => 200);
    const worker = webhookWorker(store, send, () => new Date());
    const { tenantId } = await storedEndpoint(store);
    const { id } = await storedInvoice(store, tenantId, 3);
    await store.db.collection('invoices').updateOne({ _id: id as never }, { $set: { 'outbox.dueAt': new Date() } });
    await worker.publisher.sweep();
    await turn(worker);
    expect(requests.map(({ body }) => JSON.parse(body).type)).toEqual([
      ...['invoice.signing', 'invoice.transmitted', 'invoice.accepted'],
    ]);
    // And not again: its outbox is empty.
    const kept = await store.db.collection('invoices').findOne({ _id: id as never });
    expect(kept?.outbox).toBeUndefined();
  });

  it('two processes that publish the same come to one delivery', async () => {
    const { requests, send } = receiver(() => 200);
    const workers = [1, 2, 3].map(() => webhookWorker(store, send, () => new Date()));
    const { tenantId } = await storedEndpoint(store);
    const invoice = await storedInvoice(store, tenantId, 3);
    for (const worker of workers) worker.publisher.publish(invoice);
    await Promise.all(workers.map(turn));
    await expect.poll(() => requests.length, { timeout: 20_000 }).toBe(3);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
  });

  it('what a dead worker was sending is sent again when its lease has ended', async () => {
    const clock = clockAt();
    const hanging = webhookWorker(store, () => new Promise(() => undefined), clock.read);
    const { tenantId } = await storedEndpoint(store);
    hanging.publisher.publish(await storedInvoice(store, tenantId));
    await hanging.publisher.settle();
    const { requests, send } = receiver(() => 200);
    const worker = webhookWorker(store, send, clock.read);
    clock.move(20_000);
    await turn(worker);
    expect(requests).toHaveLength(0);
    clock.move(11_000);
    await turn(worker);
    expect(requests).toHaveLength(1);
    expect(await deliveryOf(worker, tenantId)).toMatchObject({ state: 'delivered' });
  });

  it('an attempt whose lease was lost changes nothing', async () => {
    const clock = clockAt();
    const slow = Promise.withResolvers<SendResult>();
    const late = webhookWorker(store, () => slow.promise, clock.read);
    const { tenantId } = await storedEndpoint(store);
    late.publisher.publish(await storedInvoice(store, tenantId));
    await late.publisher.settle();
    clock.move(31_000);
    const worker = webhookWorker(store, receiver(() => 200).send, clock.read);
    await turn(worker);
    slow.resolve(answerOf(500));
    await late.dispatcher.settle();
    const delivery = await deliveryOf(worker, tenantId);
    expect(delivery.state).toBe('delivered');
    expect(delivery.attempts).toHaveLength(1);
  });
});

describe('a worker that stops', () => {
  it('hands back what it has not begun, and an attempt that its end cuts off is no failed one', async () => {
    const cut = Promise.withResolvers<SendResult>();
    const stopping = webhookWorker(
      store,
      () => cut.promise,
      () => new Date(),
    );
    const { tenantId, id: endpointId } = await storedEndpoint(store);
    const invoices = await Promise.all(Array.from({ length: 20 }, () => storedInvoice(store, tenantId)));
    for (const invoice of invoices) stopping.publisher.publish(invoice);
    await stopping.publisher.settle();
    await stopping.dispatcher.stop(50);
    cut.resolve(answerOf(null));
    const { requests, send } = receiver(() => 200);
    const worker = webhookWorker(store, send, () => new Date());
    worker.dispatcher.wake(endpointId);
    await worker.dispatcher.settle();
    // 16 were under way, and wait for their leases to end.
    expect(requests).toHaveLength(4);
    await worker.deliveries.freeLeases(new Date());
    worker.dispatcher.wake(endpointId);
    await worker.dispatcher.settle();
    expect(requests).toHaveLength(20);
    const everything = { limit: 20, cursor: null, from: null, until: null, endpointId, state: null };
    const { rows } = await worker.deliveries.page({ tenantId, environment: 'test', ...everything });
    expect(rows.map(({ state, attempts }) => [state, attempts.length])).toEqual(Array(20).fill(['delivered', 1]));
    expect(stopping.problems).toEqual([]);
  });
});

describe('order', () => {
  it('an event waits until the one before it was attempted, whoever has that', async () => {
    const first = Promise.withResolvers<SendResult>();
    const one = webhookWorker(
      store,
      () => first.promise,
      () => new Date(),
    );
    const { requests, send } = receiver(() => 200);
    const other = webhookWorker(store, send, () => new Date());
    const { tenantId, id: endpointId } = await storedEndpoint(store);
    const invoice = await storedInvoice(store, tenantId);
    one.publisher.publish(invoice);
    await one.publisher.settle();
    other.publisher.publish({ ...invoice, events: [...invoice.events, statusChange(2), statusChange(3)] });
    await other.publisher.settle();
    other.dispatcher.wake(endpointId);
    await sleep(700);
    expect(requests).toHaveLength(0);
    first.resolve(answerOf(500));
    await one.dispatcher.settle();
    await expect.poll(() => requests.length, { timeout: 20_000 }).toBe(2);
    expect(requests.map(({ body }) => JSON.parse(body).type)).toEqual(['invoice.transmitted', 'invoice.accepted']);
  });

  it('nor does one overtake that its own process publishes later', async () => {
    const first = Promise.withResolvers<SendResult>();
    const one = webhookWorker(
      store,
      () => first.promise,
      () => new Date(),
    );
    const { requests, send } = receiver(() => 200);
    const other = webhookWorker(store, send, () => new Date());
    const { tenantId } = await storedEndpoint(store);
    const invoice = await storedInvoice(store, tenantId);
    const [signing, transmitted, accepted] = [...invoice.events, statusChange(2), statusChange(3)];
    one.publisher.publish(invoice);
    await one.publisher.settle();
    other.publisher.publish({ ...invoice, events: [signing, transmitted] as never });
    await other.publisher.settle();
    other.publisher.publish({ ...invoice, events: [signing, transmitted, accepted] as never });
    await other.publisher.settle();
    first.resolve(answerOf(200));
    await one.dispatcher.settle();
    await expect.poll(() => requests.length, { timeout: 20_000 }).toBe(2);
    expect(requests.map(({ body }) => JSON.parse(body).type)).toEqual(['invoice.transmitted', 'invoice.accepted']);
  });

  it('nor while an earlier one, which waited too long for its place, is back in the ledger', async () => {
    const clock = clockAt();
    const held: (() => void)[] = [];
    let held16 = true;
    const { requests, send } = receiver(() => 200);
    const worker = webhookWorker(
      store,
      async (request) => {
        if (held16) await new Promise<void>((resolve) => held.push(resolve));
        return send(request);
      },
      clock.read,
    );
    const { tenantId, id: endpointId } = await storedEndpoint(store);
    for (let i = 0; i < 16; i++) worker.publisher.publish(await storedInvoice(store, tenantId));
    await worker.publisher.settle();
    expect(held).toHaveLength(16);
    held16 = false;
    const invoice = await storedInvoice(store, tenantId);
    const events = [...invoice.events, statusChange(2), statusChange(3)];
    const publish = async (count: number) => {
      worker.publisher.publish({ ...invoice, events: events.slice(0, count) });
      await worker.publisher.settle();
    };
    await publish(1);
    // Its lease is too old now, that of the second is not.
    clock.move(13_000);
    await publish(2);
    held.shift()?.();
    await expect.poll(() => requests.length, { timeout: 20_000 }).toBe(1);
    await publish(3);
    const statuses = () =>
      requests
        .map(({ body }) => JSON.parse(body).data)
        .flatMap(({ id, status }) => (id === invoice.id ? [status] : []));
    const later = () => {
      clock.move(100);
      worker.dispatcher.wake(endpointId);
      return statuses().length;
    };
    await expect.poll(later, { timeout: 20_000 }).toBe(3);
    expect(statuses()).toEqual(['signing', 'transmitted', 'accepted']);
    for (const release of held) release();
    await worker.dispatcher.settle();
    expect(worker.problems).toEqual([]);
  });

  it('what a lane has no room for comes from the ledger, in order, and all of it', async () => {
    const { requests, send } = receiver(() => 200);
    const worker = webhookWorker(
      store,
      async (request) => sleep(2).then(() => send(request)),
      () => new Date(),
    );
    const { tenantId } = await storedEndpoint(store);
    const invoices = await Promise.all(Array.from({ length: 60 }, () => storedInvoice(store, tenantId, 3)));
    for (const invoice of invoices) worker.publisher.publish(invoice);
    await turn(worker);
    expect(requests).toHaveLength(180);
    for (const { id } of invoices) {
      const types = requests.map(({ body }) => JSON.parse(body)).filter(({ data }) => data.id === id);
      expect(types.map(({ data }) => data.status)).toEqual(['signing', 'transmitted', 'accepted']);
    }
    expect(worker.problems).toEqual([]);
  });
});

describe('fairness', () => {
  it('an endpoint that hangs delays no other', async () => {
    const clock = clockAt();
    const { requests, send } = receiver(() => 200);
    const dead = await storedEndpoint(store);
    const worker = webhookWorker(
      store,
      async (request) => (request.url === dead.url ? new Promise(() => undefined) : send(request)),
      clock.read,
    );
    for (let i = 0; i < 100; i++) worker.publisher.publish(await storedInvoice(store, dead.tenantId));
    const alive = await Promise.all(Array.from({ length: 10 }, () => storedEndpoint(store)));
    for (const { tenantId } of alive) worker.publisher.publish(await storedInvoice(store, tenantId));
    await worker.publisher.settle();
    await expect.poll(() => requests.length, { timeout: 20_000 }).toBe(10);
  });

  it('first attempts go before retries', async () => {
    const clock = clockAt();
    let healthy = false;
    const { requests, send } = receiver(() => (healthy ? 200 : 500));
    const worker = webhookWorker(store, send, clock.read);
    const { tenantId } = await storedEndpoint(store);
    for (let i = 0; i < 20; i++) worker.publisher.publish(await storedInvoice(store, tenantId));
    await turn(worker);
    const failed = new Set(requests.splice(0).map(({ headers }) => headers['webhook-id']));
    clock.move(5 * MINUTE);
    healthy = true;
    // Another process has published these, and died.
    const dead = webhookWorker(
      store,
      () => new Promise(() => undefined),
      () => new Date(clock.read().getTime() - MINUTE),
    );
    for (let i = 0; i < 20; i++) dead.publisher.publish(await storedInvoice(store, tenantId));
    await dead.publisher.settle();
    await turn(worker);
    expect(requests).toHaveLength(40);
    const isRetry = requests.map(({ headers }) => failed.has(headers['webhook-id']));
    expect(isRetry).toEqual([...Array(20).fill(false), ...Array(20).fill(true)]);
  });
});

describe('an endpoint that is gone', () => {
  const key = (tenantId: string) =>
    ({ kind: 'secret', keyId: 'key_1', tenant: { id: tenantId }, environment: 'test' }) as never;

  it.each(['disabled', 'deleted'])('%s: pending retries are cancelled, and nothing is sent any more', async (how) => {
    const clock = clockAt();
    const { requests, send } = receiver(() => 500);
    const worker = webhookWorker(store, send, clock.read);
    const { tenantId, id } = await storedEndpoint(store);
    const box = createSecretBox(new Uint8Array(32), 'test');
    const manage = createManageEndpoints(worker.endpoints, worker.deliveries, box, false);
    worker.publisher.publish(await storedInvoice(store, tenantId));
    await turn(worker);
    if (how === 'deleted') await manage.delete(key(tenantId), id);
    else await manage.update(key(tenantId), id, { active: false });
    expect(await deliveryOf(worker, tenantId)).toMatchObject({ state: 'cancelled', nextAttemptAt: null });
    clock.move(5 * MINUTE);
    worker.dispatcher.wake(id);
    await turn(worker);
    expect(requests).toHaveLength(1);
  });

  it('an attempt finds its endpoint disabled meanwhile: the delivery is cancelled', async () => {
    const clock = clockAt();
    const { requests, send } = receiver(() => 500);
    const worker = webhookWorker(store, send, clock.read);
    const { tenantId, id } = await storedEndpoint(store);
    worker.publisher.publish(await storedInvoice(store, tenantId));
    await turn(worker);
    await worker.endpoints.update(tenantId, 'test', id, { active: false });
    clock.move(5 * MINUTE);
    worker.dispatcher.wake(id);
    await turn(worker);
    expect(requests).toHaveLength(1);
    expect(await deliveryOf(worker, tenantId)).toMatchObject({ state: 'cancelled' });
  });
});

describe('an endpoint that fails everything for a day', () => {
  async function failing(status: () => number) {
    const clock = clockAt();
    const worker = webhookWorker(store, receiver(status).send, clock.read);
    const tenantId = newId('ten');
    const profile = { email: 'compta@example.com' };
    await createTenantRepository(store.db).insert({ id: tenantId, name: 'Atlas', profile, createdAt: clock.read() });
    const endpoint = await storedEndpoint(store, { tenantId });
    const event = async () => {
      worker.publisher.publish(await storedInvoice(store, tenantId));
      await turn(worker);
    };
    const seen = () => worker.endpoints.find(tenantId, 'test', endpoint.id);
    const notices = () => worker.notices.filter(({ endpointId }) => endpointId === endpoint.id);
    return { clock, worker, endpoint, event, seen, notices };
  }

  it('is marked, and its tenant is told once; it stays active', async () => {
    const { clock, worker, endpoint, event, seen, notices } = await failing(() => 500);
    const since = clock.read();
    await event();
    await expect.poll(seen).toMatchObject({ failing: false, failingSince: since });
    clock.move(24 * HOUR - 1000);
    await worker.health.sweep();
    expect(await seen()).toMatchObject({ failing: false, failingSince: since, active: true });
    clock.move(1000);
    await worker.health.sweep();
    await worker.health.sweep();
    expect(await seen()).toMatchObject({ failing: true, failingSince: since, active: true });
    expect(notices()).toEqual([
      {
        to: 'compta@example.com',
        tenantName: 'Atlas',
        environment: 'test',
        endpointId: endpoint.id,
        url: endpoint.url,
        failingSince: since,
      },
    ]);
    clock.move(24 * HOUR);
    await worker.health.sweep();
    expect(notices()).toHaveLength(1);
  });

  it('is not, when anything was delivered meanwhile', async () => {
    let status = 500;
    const { clock, worker, event, seen, notices } = await failing(() => status);
    await event();
    await expect.poll(seen).toMatchObject({ failingSince: expect.any(Date) });
    status = 200;
    await event();
    await expect.poll(seen).toMatchObject({ failing: false, failingSince: null });
    status = 500;
    clock.move(HOUR);
    await event();
    await expect.poll(seen).toMatchObject({ failingSince: clock.read() });
    clock.move(23 * HOUR);
    await worker.health.sweep();
    expect(notices()).toEqual([]);
    expect(await seen()).toMatchObject({ failing: false });
  });
});
