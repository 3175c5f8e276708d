import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import type { SendResult } from '../../src/domain/webhook/delivery.ts';
import { LEASE_MS } from '../../src/domain/webhook/dispatcher.ts';
import type { OutgoingRequest } from '../../src/domain/webhook/ports.ts';
import type { Store } from '../../src/storage/connect.ts';
import { firstOf } from '../support/samples.ts';
import { openedForDeliveries } from '../support/webhook-store.ts';
import {
  answerOf,
  clockAt,
  MINUTE,
  onlyDelivery,
  receiverThat,
  statusChange,
  storedEndpoint,
  storedInvoice,
  storedInvoices,
  turn,
  type Worker,
  webhookWorker,
} from '../support/webhooks.ts';

/** Of several processes, whose queues are full in `npm run test:long`. */
const INVOICES = firstOf([30, 90]).at(-1) as number;

let store: Store;

openedForDeliveries((opened) => {
  store = opened;
});

describe('order', () => {
  it('an event waits for the first attempt of the previous one, also if another process makes it', async () => {
    const first = Promise.withResolvers<SendResult>();
    const one = webhookWorker(
      store,
      () => first.promise,
      () => new Date(),
    );
    const { requests, send } = receiverThat(() => 200);
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
    await expect.poll(() => requests.length).toBe(2);
    expect(requests.map(({ body }) => JSON.parse(body).type)).toEqual(['invoice.transmitted', 'invoice.accepted']);
  });

  it('an event that the same process publishes later does not overtake a waiting one', async () => {
    const first = Promise.withResolvers<SendResult>();
    const one = webhookWorker(
      store,
      () => first.promise,
      () => new Date(),
    );
    const { requests, send } = receiverThat(() => 200);
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
    await expect.poll(() => requests.length).toBe(2);
    expect(requests.map(({ body }) => JSON.parse(body).type)).toEqual(['invoice.transmitted', 'invoice.accepted']);
  });

  it('an event does not overtake an earlier one that was returned to the ledger because it waited too long', async () => {
    const clock = clockAt();
    const held: (() => void)[] = [];
    let held16 = true;
    const { requests, send } = receiverThat(() => 200);
    const worker = webhookWorker(
      store,
      async (request) => {
        if (held16) await new Promise<void>((resolve) => held.push(resolve));
        return send(request);
      },
      clock.read,
    );
    const { tenantId, id: endpointId } = await storedEndpoint(store);
    for (const invoice of await storedInvoices(store, tenantId, 16)) worker.publisher.publish(invoice);
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
    // The lease of the first event is now too old, that of the second is not.
    clock.move(13_000);
    await publish(2);
    held.shift()?.();
    await expect.poll(() => requests.length).toBe(1);
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
    await expect.poll(later).toBe(3);
    expect(statuses()).toEqual(['signing', 'transmitted', 'accepted']);
    for (const release of held) release();
    await worker.dispatcher.settle();
    expect(worker.problems).toEqual([]);
  });

  it('events stay in order if several processes publish them, even with full queues', async () => {
    const arrived: { invoice: string; status: string }[] = [];
    const send = async ({ body }: OutgoingRequest) => {
      const { data } = JSON.parse(body);
      arrived.push({ invoice: data.id, status: data.status });
      await sleep(100 + (arrived.length % 7) * 30);
      return answerOf(200);
    };
    const workers = [1, 2, 3].map(() => webhookWorker(store, send, () => new Date()));
    const someone = () => workers[Math.floor(Math.random() * workers.length)] as Worker;
    const { tenantId, id: endpointId } = await storedEndpoint(store);
    const invoices = await storedInvoices(store, tenantId, INVOICES);
    const happen = async (invoice: Invoice) => {
      const events = [...invoice.events, statusChange(2), statusChange(3)];
      for (const count of [1, 2, 3]) {
        // Some events are not published, as after a crash; the next publish includes them.
        if (count < 3 && Math.random() < 0.2) continue;
        someone().publisher.publish({ ...invoice, events: events.slice(0, count) });
        await sleep(Math.random() * 60);
      }
    };
    const flows: Promise<void>[] = [];
    for (const invoice of invoices) {
      flows.push(happen(invoice));
      await sleep(10);
    }
    await Promise.all(flows);
    const later = () => {
      for (const { dispatcher } of workers) dispatcher.wake(endpointId);
      return arrived.length;
    };
    await expect.poll(later, { timeout: 90_000, interval: 200 }).toBeGreaterThanOrEqual(3 * INVOICES);
    const firsts = Map.groupBy(arrived, ({ invoice }) => invoice);
    for (const [invoice, seen] of firsts) {
      expect([...new Set(seen.map(({ status }) => status))], invoice).toEqual(['signing', 'transmitted', 'accepted']);
    }
    await Promise.all(workers.map(({ dispatcher }) => dispatcher.settle()));
  }, 180_000);

  it('a waiting first attempt keeps its place in the order when it is resent by hand', async () => {
    const dead = webhookWorker(
      store,
      () => new Promise(() => undefined),
      () => new Date(),
    );
    const { tenantId } = await storedEndpoint(store);
    dead.publisher.publish(await storedInvoice(store, tenantId));
    await dead.publisher.settle();
    await dead.deliveries.freeLeases(new Date(), LEASE_MS);
    const { id } = await onlyDelivery(dead, tenantId);
    expect(await dead.deliveries.reopen([{ id, timesDisabled: 0 }], new Date())).toBe(0);
    const { endpointId } = await onlyDelivery(dead, tenantId);
    const query = { limit: 1, leaseMs: 1000, now: new Date(), retries: false };
    expect(await dead.deliveries.claimMany(endpointId, query)).toMatchObject([{ id, retry: false }]);
  });

  it('deliveries that do not fit in the queue are claimed from the ledger, all and in order', async () => {
    const { requests, send } = receiverThat(() => 200);
    const worker = webhookWorker(
      store,
      async (request) => sleep(2).then(() => send(request)),
      () => new Date(),
    );
    const { tenantId } = await storedEndpoint(store);
    const invoices = await storedInvoices(store, tenantId, 30, 3);
    for (const invoice of invoices) worker.publisher.publish(invoice);
    await turn(worker);
    expect(requests).toHaveLength(90);
    for (const { id } of invoices) {
      const types = requests.map(({ body }) => JSON.parse(body)).filter(({ data }) => data.id === id);
      expect(types.map(({ data }) => data.status)).toEqual(['signing', 'transmitted', 'accepted']);
    }
    expect(worker.problems).toEqual([]);
  });
});

describe('fairness', () => {
  it('a hanging endpoint delays no other', async () => {
    const clock = clockAt();
    const { requests, send } = receiverThat(() => 200);
    const dead = await storedEndpoint(store);
    const worker = webhookWorker(
      store,
      async (request) => (request.url === dead.url ? new Promise(() => undefined) : send(request)),
      clock.read,
    );
    // More than its queue takes.
    for (const invoice of await storedInvoices(store, dead.tenantId, 81)) worker.publisher.publish(invoice);
    const alive = await Promise.all(Array.from({ length: 10 }, () => storedEndpoint(store)));
    for (const { tenantId } of alive) worker.publisher.publish(await storedInvoice(store, tenantId));
    await worker.publisher.settle();
    await expect.poll(() => requests.length).toBe(10);
  });

  it('many hanging endpoints delay no other, even if they occupy all slots', async () => {
    const { requests, send } = receiverThat(() => 200);
    const dead = new Set<string>();
    const worker = webhookWorker(
      store,
      async (request) => (dead.has(request.url) ? new Promise(() => undefined) : send(request)),
      () => new Date(),
    );
    const tenants = [1, 2, 3].map(() => newId('ten'));
    for (const tenantId of tenants) {
      for (let i = 0; i < 16; i++) dead.add((await storedEndpoint(store, { tenantId })).url);
    }
    for (const tenantId of tenants) {
      for (const invoice of await storedInvoices(store, tenantId, 16)) worker.publisher.publish(invoice);
    }
    await worker.publisher.settle();
    const { tenantId } = await storedEndpoint(store);
    worker.publisher.publish(await storedInvoice(store, tenantId));
    await expect.poll(() => requests.length).toBe(1);
  });

  it('first attempts go before retries', async () => {
    const clock = clockAt();
    let healthy = false;
    const { requests, send } = receiverThat(() => (healthy ? 200 : 500));
    const worker = webhookWorker(store, send, clock.read);
    const { tenantId } = await storedEndpoint(store);
    for (const invoice of await storedInvoices(store, tenantId, 20)) worker.publisher.publish(invoice);
    await turn(worker);
    const failed = new Set(requests.splice(0).map(({ headers }) => headers['webhook-id']));
    clock.move(5 * MINUTE);
    healthy = true;
    // Another process has published these events and then died.
    const dead = webhookWorker(
      store,
      () => new Promise(() => undefined),
      () => new Date(clock.read().getTime() - MINUTE),
    );
    for (const invoice of await storedInvoices(store, tenantId, 20)) dead.publisher.publish(invoice);
    await dead.publisher.settle();
    await turn(worker);
    expect(requests).toHaveLength(40);
    const isRetry = requests.map(({ headers }) => failed.has(headers['webhook-id']));
    expect(isRetry).toEqual([...Array(20).fill(false), ...Array(20).fill(true)]);
  });
});
