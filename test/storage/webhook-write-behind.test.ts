import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import type { Delivery } from '../../src/domain/webhook/delivery.ts';
import type { WebhookEndpoint } from '../../src/domain/webhook/endpoint.ts';
import { sendTo } from '../../src/domain/webhook/resend-events.ts';
import type { SendResult } from '../../src/domain/webhook/sender.ts';
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

/** Longer than a delivery is held. */
const LONG_MS = 600;

let store: Store;
/** What was written to the ledger, and nothing that was read. */
let writes: string[] = [];

beforeAll(async () => {
  store = await openTestStore('write_behind', true);
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

/** Waits for the receiver without asking anything of the worker: it stores what it is asked about. */
const until = (done: () => boolean) => vi.waitFor(() => expect(done()).toBe(true), { timeout: 15_000, interval: 5 });

describe('a delivery whose receiver answers soon', () => {
  it('is written once, with its outcome', async () => {
    const { requests, send } = receiverThat(() => 200);
    const worker = webhookWorker(store, send, now, { alone: true });
    const endpoints = await storedEndpoint(store);
    writes = [];
    worker.publisher.publish(await storedInvoice(store, endpoints.tenantId));
    await until(() => requests.length === 1);
    await worker.dispatcher.settle();
    expect(writes).toEqual(['insert']);
    await turn(worker);
    expect(writes.filter((name) => name !== 'insert')).toEqual([]);
    const { state, attempts, nextAttemptAt } = await onlyDelivery(worker, endpoints.tenantId);
    expect({ state, nextAttemptAt, statuses: attempts.map(({ status }) => status) }).toEqual({
      ...{ state: 'delivered', nextAttemptAt: null, statuses: [200] },
    });
    expect(requests).toHaveLength(1);
  });

  it('is attempted again by the schedule when the answer is no success', async () => {
    const clock = clockAt();
    const { requests, send } = receiverThat(() => (requests.length < 3 ? 503 : 200));
    const worker = webhookWorker(store, send, clock.read, { alone: true });
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
      ...{ state: 'delivered', statuses: [503, 503, 200] },
    });
  });
});

describe('a delivery that is held', () => {
  async function heldOne(failing?: Parameters<typeof webhookWorker>[3]) {
    const answer = Promise.withResolvers<SendResult>();
    const requests: unknown[] = [];
    const send = (request: unknown) => {
      requests.push(request);
      return answer.promise;
    };
    const worker = webhookWorker(store, send, now, { alone: true, ...failing });
    const endpoint = await storedEndpoint(store);
    const invoice = await storedInvoice(store, endpoint.tenantId);
    worker.publisher.publish(invoice);
    await until(() => requests.length === 1);
    return { worker, endpoint, invoice, requests, answer };
  }

  it('is stored with its lease when the receiver is slow, and its outcome follows', async () => {
    const { worker, endpoint, answer } = await heldOne();
    await vi.waitFor(async () => expect(await rows()).toMatchObject([{ state: 'pending', attempts: [] }]), 15_000);
    const [row] = await rows();
    expect(row?.work).toMatchObject({ token: expect.any(String), tries: 0, retry: false });
    answer.resolve(answerOf(200));
    await worker.dispatcher.settle();
    expect(await onlyDelivery(worker, endpoint.tenantId)).toMatchObject({ state: 'delivered' });
  });

  it.each<[string, (held: Awaited<ReturnType<typeof heldOne>>) => Promise<unknown>]>([
    ['a list', ({ worker, endpoint }) => onlyDelivery(worker, endpoint.tenantId)],
    [
      'the event',
      ({ worker, endpoint, invoice }) =>
        worker.deliveries.ofEvents(endpoint, [invoice.events[0]!.id]).then(([one]) => one),
    ],
  ])('is there for whoever asks for %s', async (_what, ask) => {
    const held = await heldOne();
    expect(await ask(held)).toMatchObject({
      state: 'pending',
      endpointId: held.endpoint.id,
    } satisfies Partial<Delivery>);
    held.answer.resolve(answerOf(200));
    await held.worker.dispatcher.settle();
    expect(await ask(held)).toMatchObject({ state: 'delivered' });
  });

  it('is cancelled with its endpoint; what comes of the attempt is kept', async () => {
    const { worker, endpoint, answer } = await heldOne();
    expect(await worker.deliveries.cancelPending(endpoint.id, 10)).toBe(1);
    answer.resolve(answerOf(500));
    await worker.dispatcher.settle();
    const { state, attempts } = await onlyDelivery(worker, endpoint.tenantId);
    expect({ state, attempts: attempts.length }).toEqual({ state: 'cancelled', attempts: 1 });
  });

  it('has one row when its event is sent again by hand meanwhile', async () => {
    const { worker, endpoint, invoice, requests, answer } = await heldOne();
    const event = await worker.events.find(endpoint.tenantId, 'test', invoice.events[0]!.id);
    await sendTo(event!, [endpoint], { deliveries: worker.deliveries, queue: { wake: async () => undefined }, now });
    worker.dispatcher.wake(endpoint.id);
    answer.resolve(answerOf(200));
    await turn(worker);
    expect(await onlyDelivery(worker, endpoint.tenantId)).toMatchObject({ state: 'delivered' });
    expect(requests).toHaveLength(1);
  });

  it('leaves the outbox as it is until it is stored', async () => {
    let down = true;
    const { worker, endpoint, invoice, answer } = await heldOne({
      failing: (ledger) => ({
        ...ledger,
        insert: (...given) => (down ? Promise.reject(new Error('the store is away')) : ledger.insert(...given)),
      }),
    });
    await worker.publisher.settle();
    expect(await outbox(invoice)).toBe(1);
    expect(await rows()).toEqual([]);
    await sleep(LONG_MS);
    expect(worker.problems).not.toEqual([]);
    down = false;
    await vi.waitFor(async () => expect(await rows()).toHaveLength(1), 15_000);
    // The outbox was not told, so that it is published once more, which changes nothing.
    await store.db.collection('invoices').updateMany({}, { $set: { 'outbox.dueAt': new Date(0) } });
    await worker.publisher.sweep();
    await worker.publisher.settle();
    expect(await outbox(invoice)).toBe(0);
    answer.resolve(answerOf(200));
    await worker.dispatcher.settle();
    expect(await onlyDelivery(worker, endpoint.tenantId)).toMatchObject({ state: 'delivered' });
  });

  it('gets its outcome also where the answer to the insert was lost', async () => {
    // Each one's: it may be stored by its own clock before it is asked for here.
    const { worker, endpoint, answer } = await heldOne({
      failing: (ledger) => ({
        ...ledger,
        async insert(...given) {
          await ledger.insert(...given);
          throw new Error('the answer was lost');
        },
      }),
    });
    await expect(worker.behind?.stored()).rejects.toThrow('the answer was lost');
    expect(await rows()).toMatchObject([{ state: 'pending' }]);
    answer.resolve(answerOf(200));
    await worker.dispatcher.settle();
    const { state, attempts } = await onlyDelivery(worker, endpoint.tenantId);
    expect({ state, attempts: attempts.length }).toEqual({ state: 'delivered', attempts: 1 });
  });

  it('is attempted again by whoever comes after a crash', async () => {
    const dead = await heldOne({ failing: (ledger) => ({ ...ledger, insert: () => new Promise(() => undefined) }) });
    const { requests, send } = receiverThat(() => 200);
    const next = webhookWorker(store, send, now, { alone: true });
    expect(await rows()).toEqual([]);
    await store.db.collection('invoices').updateMany({}, { $set: { 'outbox.dueAt': new Date(0) } });
    await next.publisher.sweep();
    await turn(next);
    expect(requests).toHaveLength(1);
    expect(await onlyDelivery(next, dead.endpoint.tenantId)).toMatchObject({ state: 'delivered' });
  });
});

describe('what may be stored already', () => {
  it.each([
    ['comes from the outbox', 1],
    ['is not the first event, and nothing is known of those before', 2],
  ])('is stored before it is attempted: an invoice that %s', async (_what, changes) => {
    const { requests, send } = receiverThat(() => 200);
    const endpoint = await storedEndpoint(store);
    const earlier = webhookWorker(store, send, now, { alone: true });
    const invoice = await storedInvoice(store, endpoint.tenantId, changes);
    earlier.publisher.publish({ ...invoice, events: invoice.events.slice(0, 1) as never });
    await turn(earlier);
    expect(requests).toHaveLength(1);
    // The process ends before it has told the outbox; the next one does not send again what is there.
    await store.db
      .collection('invoices')
      .updateMany({}, { $set: { outbox: { sequence: changes, dueAt: new Date(0) } } });
    const next = webhookWorker(store, send, now, { alone: true });
    if (changes === 1) await next.publisher.sweep();
    else next.publisher.publish(invoice);
    await turn(next);
    expect(requests).toHaveLength(changes);
  });

  describe('an older state of the invoice, which the outbox tells late', () => {
    async function told(subscription: Partial<WebhookEndpoint> = {}) {
      const { requests, send } = receiverThat(() => 200);
      const { tenantId } = await storedEndpoint(store, subscription);
      const worker = webhookWorker(store, send, now, { alone: true });
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

    it('repeats nothing to an endpoint that takes later events alone', async () => {
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

    it('hides no newer one that waits', async () => {
      const { tell, sent, second } = await told();
      tell();
      tell(second);
      tell();
      expect(await sent()).toEqual(['invoice.signing', 'invoice.transmitted']);
    });
  });

  it('is what a failed write leaves: the next event of the invoice does not repeat it', async () => {
    const clock = clockAt();
    const { requests, send } = receiverThat(() => 200);
    const { tenantId } = await storedEndpoint(store);
    const worker = webhookWorker(store, send, clock.read, { alone: true });
    const invoice = await storedInvoice(store, tenantId);
    const publish = async (...changes: ReturnType<typeof statusChange>[]) => {
      worker.publisher.publish({ ...invoice, events: [...invoice.events, ...changes] as never });
      await turn(worker);
    };
    await publish();
    const [second, third] = [statusChange(2), statusChange(3)];
    const { insert } = worker.deliveries;
    vi.spyOn(worker.deliveries, 'insert').mockImplementationOnce(async (given, at) => {
      await insert(
        given.map((row) => ({ ...row, isNew: false })),
        at,
      );
      throw new Error('the answer was lost');
    });
    await publish(second);
    expect(worker.problems).toHaveLength(2);
    await publish(second, third);
    // The lease that nobody has ends.
    clock.move(MINUTE);
    await vi.waitFor(async () => {
      await turn(worker);
      expect(requests.length).toBeGreaterThanOrEqual(3);
    }, 15_000);
    await turn(worker);
    expect(requests.map(({ body }) => JSON.parse(body).type)).toEqual([
      ...['invoice.signing', 'invoice.transmitted', 'invoice.accepted'],
    ]);
  });
});
