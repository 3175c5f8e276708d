import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import type { SendResult } from '../../src/domain/webhook/delivery.ts';
import type { WebhookEndpoint } from '../../src/domain/webhook/endpoint.ts';
import { sendTo } from '../../src/domain/webhook/resend-events.ts';
import type { Store } from '../../src/storage/connect.ts';
import { openTestStore } from '../support/store.ts';
import {
  answerOf,
  clockAt,
  MINUTE,
  onlyDelivery,
  receiverThat,
  statusChange,
  storedEndpoint,
  storedInvoice,
  turn,
  webhookWorker,
} from '../support/webhooks.ts';

let store: Store;
/** The write commands to the ledger. */
let writes: string[] = [];

beforeAll(async () => {
  store = await openTestStore('webhook_publish', true);
  store.client.on('commandStarted', ({ commandName, command }) => {
    if (command[commandName] === 'webhook_deliveries' && commandName !== 'find') writes.push(commandName);
  });
});
afterEach(async () => {
  await store.db.collection('webhook_deliveries').deleteMany({});
  await store.db.collection('invoices').deleteMany({});
  writes = [];
});
afterAll(() => store.close());

const rows = () => store.db.collection('webhook_deliveries').find().toArray();
const outbox = (invoice: Invoice) =>
  store.db.collection('invoices').countDocuments({ _id: invoice.id as never, outbox: { $exists: true } });
const now = () => new Date();
/** Makes all outbox entries due for the sweep. */
const makeOutboxDue = () => store.db.collection('invoices').updateMany({}, { $set: { 'outbox.dueAt': new Date(0) } });

/** Waits for the receiver without calling the worker, so that the worker writes its outcomes unprompted. */
const until = (done: () => boolean) => vi.waitFor(() => expect(done()).toBe(true), { timeout: 45_000, interval: 5 });

describe('new deliveries', () => {
  it('are written in batches: one insert with their leases, one write of their outcomes', async () => {
    const answer = Promise.withResolvers<void>();
    const { requests, send } = receiverThat(() => 200);
    const worker = webhookWorker(store, (request) => answer.promise.then(() => send(request)), now);
    const { tenantId } = await storedEndpoint(store);
    for (let i = 1; i < 16; i++) await storedEndpoint(store, { tenantId });
    writes = [];
    worker.publisher.publish(await storedInvoice(store, tenantId));
    await worker.publisher.settle();
    expect(writes).toEqual(['insert']);
    expect((await rows()).map(({ state, work }) => [state, typeof work?.token, work?.tries])).toEqual(
      Array(16).fill(['pending', 'string', 0]),
    );
    answer.resolve();
    await worker.dispatcher.settle();
    expect(requests).toHaveLength(16);
    // The first outcome is written at once; the others are collected meanwhile.
    expect(writes.slice(1).length).toBeLessThanOrEqual(2);
    expect(new Set(writes.slice(1))).toEqual(new Set(['update']));
    expect(new Set((await rows()).map(({ state, work }) => [state, work].join()))).toEqual(new Set(['delivered,']));
  });

  it('are retried by the schedule when the answer is not a success', async () => {
    const clock = clockAt();
    const { requests, send } = receiverThat(() => (requests.length < 3 ? 503 : 200));
    const worker = webhookWorker(store, send, clock.read);
    const { tenantId, id: endpointId } = await storedEndpoint(store);
    worker.publisher.publish(await storedInvoice(store, tenantId));
    await until(() => requests.length === 1);
    await worker.dispatcher.settle();
    const due = new Date(clock.read().getTime() + 5 * MINUTE);
    expect(worker.wakes).toEqual([{ endpointId, at: due }]);
    expect(await onlyDelivery(worker, tenantId)).toMatchObject({ state: 'pending', nextAttemptAt: due });
    for (const delay of [5 * MINUTE, 30 * MINUTE]) {
      clock.move(delay);
      worker.dispatcher.wake(endpointId);
      await turn(worker);
    }
    const { state, attempts } = await onlyDelivery(worker, tenantId);
    expect({ state, statuses: attempts.map(({ status }) => status) }).toEqual({
      state: 'delivered',
      statuses: [503, 503, 200],
    });
  });
});

describe('a delivery during its first attempt', () => {
  async function underWay(failing?: Parameters<typeof webhookWorker>[3]) {
    const answer = Promise.withResolvers<SendResult>();
    const requests: unknown[] = [];
    const send = (request: unknown) => {
      requests.push(request);
      return answer.promise;
    };
    const worker = webhookWorker(store, send, now, failing);
    const endpoint = await storedEndpoint(store);
    const invoice = await storedInvoice(store, endpoint.tenantId);
    worker.publisher.publish(invoice);
    await until(() => requests.length === 1);
    return { worker, endpoint, invoice, requests, answer };
  }

  it('is cancelled with its endpoint, and the attempt is recorded', async () => {
    const { worker, endpoint, answer } = await underWay();
    expect(await worker.deliveries.cancelPending(endpoint.id, 10)).toBe(1);
    answer.resolve(answerOf(500));
    await worker.dispatcher.settle();
    const { state, attempts } = await onlyDelivery(worker, endpoint.tenantId);
    expect({ state, attempts: attempts.length }).toEqual({ state: 'cancelled', attempts: 1 });
  });

  it('has one row even if its event is resent by hand', async () => {
    const { worker, endpoint, invoice, requests, answer } = await underWay();
    const event = await worker.events.find(endpoint.tenantId, 'test', invoice.events[0]!.id);
    await sendTo(event!, [endpoint], {
      deliveries: worker.deliveries,
      deliveryQueue: { wake: async () => undefined },
      storeNow: now,
    });
    worker.dispatcher.wake(endpoint.id);
    answer.resolve(answerOf(200));
    await turn(worker);
    expect(await onlyDelivery(worker, endpoint.tenantId)).toMatchObject({ state: 'delivered' });
    expect(requests).toHaveLength(1);
  });
});

describe('a store that fails', () => {
  it('leaves the event in the outbox; a delivery is not sent before it is stored', async () => {
    let down = true;
    const { requests, send } = receiverThat(() => 200);
    const worker = webhookWorker(store, send, now, {
      failing: (ledger) => ({
        ...ledger,
        insert: (...given) => (down ? Promise.reject(new Error('the store is away')) : ledger.insert(...given)),
      }),
    });
    const { tenantId } = await storedEndpoint(store);
    const invoice = await storedInvoice(store, tenantId);
    worker.publisher.publish(invoice);
    await turn(worker);
    expect([await outbox(invoice), requests.length, await rows()]).toEqual([1, 0, []]);
    expect(worker.problems).not.toEqual([]);
    down = false;
    await makeOutboxDue();
    await worker.publisher.sweep();
    await turn(worker);
    expect([await outbox(invoice), requests.length]).toEqual([0, 1]);
    expect(await onlyDelivery(worker, tenantId)).toMatchObject({ state: 'delivered' });
  });

  it('may store a delivery and lose the answer: it is sent once, after its lease has expired', async () => {
    const clock = clockAt();
    let lost = true;
    const { requests, send } = receiverThat(() => 200);
    const worker = webhookWorker(store, send, clock.read, {
      failing: (ledger) => ({
        ...ledger,
        async insert(...given) {
          const inserted = await ledger.insert(...given);
          if (lost) throw new Error('the answer was lost');
          return inserted;
        },
      }),
    });
    const { tenantId } = await storedEndpoint(store);
    worker.publisher.publish(await storedInvoice(store, tenantId));
    await turn(worker);
    expect([requests.length, await rows()]).toMatchObject([0, [{ state: 'pending' }]]);
    lost = false;
    await makeOutboxDue();
    await worker.publisher.sweep();
    await turn(worker);
    expect(requests).toHaveLength(0);
    clock.move(MINUTE);
    await vi.waitFor(async () => {
      await turn(worker);
      expect(await onlyDelivery(worker, tenantId)).toMatchObject({ state: 'delivered' });
    });
    expect(requests).toHaveLength(1);
  });

  it('delays the later event while it cannot report whether the earlier one was attempted', async () => {
    let down = true;
    const { requests, send } = receiverThat(() => 200);
    const worker = webhookWorker(store, send, now, {
      failing: (ledger) => ({
        ...ledger,
        unattemptedBefore: (claims) =>
          down && claims.length > 0 ? Promise.reject(new Error('the store is away')) : ledger.unattemptedBefore(claims),
      }),
    });
    const { tenantId } = await storedEndpoint(store);
    const invoice = await storedInvoice(store, tenantId, 2);
    const [first] = invoice.events;
    worker.publisher.publish({ ...invoice, events: [first!] });
    await turn(worker);
    worker.publisher.publish(invoice);
    await worker.publisher.settle();
    expect(requests).toHaveLength(1);
    down = false;
    await vi.waitFor(async () => {
      await turn(worker);
      expect(requests).toHaveLength(2);
    });
  });

  it('loses nothing in a crash: the next worker publishes the event', async () => {
    const dead = webhookWorker(store, () => new Promise(() => undefined), now, {
      failing: (ledger) => ({ ...ledger, insert: () => new Promise(() => undefined) }),
    });
    const { tenantId } = await storedEndpoint(store);
    dead.publisher.publish(await storedInvoice(store, tenantId));
    const { requests, send } = receiverThat(() => 200);
    const next = webhookWorker(store, send, now);
    expect(await rows()).toEqual([]);
    await makeOutboxDue();
    await next.publisher.sweep();
    await turn(next);
    expect(requests).toHaveLength(1);
    expect(await onlyDelivery(next, tenantId)).toMatchObject({ state: 'delivered' });
  });
});

describe('a delivery that may already be stored', () => {
  it.each([
    ['comes from the outbox', 1],
    ['is not the first one of its invoice, whose earlier ones this process does not know', 2],
  ])('is stored before it is attempted: an event that %s', async (_what, changes) => {
    const { requests, send } = receiverThat(() => 200);
    const endpoint = await storedEndpoint(store);
    const earlier = webhookWorker(store, send, now);
    const invoice = await storedInvoice(store, endpoint.tenantId, changes);
    earlier.publisher.publish({ ...invoice, events: invoice.events.slice(0, 1) as never });
    await turn(earlier);
    expect(requests).toHaveLength(1);
    // The process ended before it cleared the outbox. The next one does not send stored deliveries again.
    await store.db
      .collection('invoices')
      .updateMany({}, { $set: { outbox: { sequence: changes, dueAt: new Date(0) } } });
    const next = webhookWorker(store, send, now);
    if (changes === 1) await next.publisher.sweep();
    else next.publisher.publish(invoice);
    await turn(next);
    expect(requests).toHaveLength(changes);
  });

  describe('an older state of the invoice, published late from the outbox', () => {
    async function told(subscription: Partial<WebhookEndpoint> = {}) {
      const { requests, send } = receiverThat(() => 200);
      const { tenantId } = await storedEndpoint(store, subscription);
      const worker = webhookWorker(store, send, now);
      const invoice = await storedInvoice(store, tenantId);
      const tell = (...changes: ReturnType<typeof statusChange>[]) =>
        worker.publisher.publish({ ...invoice, events: [...invoice.events, ...changes] as never });
      const sent = async () => {
        await turn(worker);
        return requests.map(({ body }) => JSON.parse(body).type);
      };
      return { worker, tell, sent, second: statusChange(2), third: statusChange(3) };
    }

    it('repeats nothing', async () => {
      const { worker, tell, sent, second, third } = await told();
      for (const changes of [[], [second], [], [second, third]]) {
        tell(...changes);
        await worker.publisher.settle();
      }
      expect(await sent()).toEqual(['invoice.signing', 'invoice.transmitted', 'invoice.accepted']);
    });

    it('repeats nothing to an endpoint that is subscribed to later events only', async () => {
      const { worker, tell, sent, second, third } = await told({ events: ['invoice.transmitted', 'invoice.accepted'] });
      tell();
      tell(second);
      expect(await sent()).toEqual(['invoice.transmitted']);
      await store.db.collection('invoices').updateMany({}, { $set: { outbox: { sequence: 1, dueAt: new Date(0) } } });
      await worker.publisher.sweep();
      await worker.publisher.settle();
      tell(second, third);
      expect(await sent()).toEqual(['invoice.transmitted', 'invoice.accepted']);
    });

    it('does not replace a newer waiting one', async () => {
      const { tell, sent, second } = await told();
      tell();
      tell(second);
      tell();
      expect(await sent()).toEqual(['invoice.signing', 'invoice.transmitted']);
    });
  });

  it('is left by a write with a lost answer: the next event of the invoice does not repeat it', async () => {
    const clock = clockAt();
    const { requests, send } = receiverThat(() => 200);
    const { tenantId } = await storedEndpoint(store);
    const worker = webhookWorker(store, send, clock.read);
    const invoice = await storedInvoice(store, tenantId);
    const publish = async (...changes: ReturnType<typeof statusChange>[]) => {
      worker.publisher.publish({ ...invoice, events: [...invoice.events, ...changes] as never });
      await turn(worker);
    };
    await publish();
    const [second, third] = [statusChange(2), statusChange(3)];
    const { insert } = worker.deliveries;
    vi.spyOn(worker.deliveries, 'insert').mockImplementationOnce(async (given, at) => {
      await insert(given, at);
      throw new Error('the answer was lost');
    });
    await publish(second);
    expect(worker.problems).toHaveLength(2);
    await publish(second, third);
    // The lease of the stored delivery expires; no worker holds it.
    clock.move(MINUTE);
    await vi.waitFor(async () => {
      await turn(worker);
      expect(requests.length).toBeGreaterThanOrEqual(3);
    });
    await turn(worker);
    expect(requests.map(({ body }) => JSON.parse(body).type)).toEqual([
      'invoice.signing',
      'invoice.transmitted',
      'invoice.accepted',
    ]);
  });
});
