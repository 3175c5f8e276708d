import { describe, expect, it } from 'vitest';
import type { SendResult } from '../../src/domain/webhook/delivery.ts';
import { LEASE_MS } from '../../src/domain/webhook/dispatcher.ts';
import type { OutgoingRequest } from '../../src/domain/webhook/ports.ts';
import type { Store } from '../../src/storage/connect.ts';
import { deviates } from '../support/reference-deviations.ts';
import { openedForDeliveries } from '../support/webhook-store.ts';
import {
  answerOf,
  clockAt,
  deliveriesOf,
  HOUR,
  MINUTE,
  onlyDelivery,
  receiverThat,
  SCHEDULE,
  storedEndpoint,
  storedInvoice,
  storedInvoices,
  turn,
  webhookWorker,
} from '../support/webhooks.ts';

let store: Store;

openedForDeliveries((opened) => {
  store = opened;
});

describe('the schedule', () => {
  it('makes five attempts, none before its time; then the delivery is failed', async () => {
    const clock = clockAt();
    const { requests, send } = receiverThat(() => 500);
    const worker = webhookWorker(store, send, clock.read);
    const { tenantId, id: endpointId } = await storedEndpoint(store);
    worker.publisher.publish(await storedInvoice(store, tenantId));
    await turn(worker);
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(requests).toHaveLength(attempt);
      const { state, attempts, nextAttemptAt } = await onlyDelivery(worker, tenantId);
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
      // Woken a millisecond too early, the worker makes no attempt.
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
    const { requests, send } = receiverThat(() => statuses[next++] ?? null);
    const worker = webhookWorker(store, send, clock.read);
    const { tenantId } = await storedEndpoint(store);
    worker.publisher.publish(await storedInvoice(store, tenantId));
    await turn(worker);
    for (const delay of SCHEDULE.slice(1)) {
      // No job wakes the worker; the sweep does, after the grace period.
      clock.move(delay + 3000);
      await turn(worker);
    }
    expect(requests).toHaveLength(count);
    const delivery = await onlyDelivery(worker, tenantId);
    expect(delivery).toMatchObject({ state, nextAttemptAt: null });
    expect(delivery.attempts.map(({ status }) => status)).toEqual(statuses.slice(0, count));
  });
});

describe('nothing is lost', () => {
  it('an event that its process did not publish is published by another', async () => {
    const { requests, send } = receiverThat(() => 200);
    const worker = webhookWorker(store, send, () => new Date());
    const { tenantId } = await storedEndpoint(store);
    const { id } = await storedInvoice(store, tenantId, 3);
    await store.db.collection('invoices').updateOne({ _id: id as never }, { $set: { 'outbox.dueAt': new Date() } });
    await worker.publisher.sweep();
    await turn(worker);
    expect(requests.map(({ body }) => JSON.parse(body).type)).toEqual([
      'invoice.signing',
      'invoice.transmitted',
      'invoice.accepted',
    ]);
    // The outbox is cleared, so the event is not published again.
    const kept = await store.db.collection('invoices').findOne({ _id: id as never });
    expect(kept?.outbox).toBeUndefined();
  });

  it('several processes that publish the same event make one delivery', async () => {
    const { requests, send } = receiverThat(() => 200);
    const workers = [1, 2, 3].map(() => webhookWorker(store, send, () => new Date()));
    const { tenantId } = await storedEndpoint(store);
    const invoice = await storedInvoice(store, tenantId, 3);
    for (const worker of workers) worker.publisher.publish(invoice);
    await Promise.all(workers.map(turn));
    await expect.poll(() => requests.length).toBe(3);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
  });

  it('a delivery that a worker was sending when it died is sent again after its lease', async () => {
    const clock = clockAt();
    const hanging = webhookWorker(store, () => new Promise(() => undefined), clock.read);
    const { tenantId } = await storedEndpoint(store);
    hanging.publisher.publish(await storedInvoice(store, tenantId));
    await hanging.publisher.settle();
    const { requests, send } = receiverThat(() => 200);
    const worker = webhookWorker(store, send, clock.read);
    clock.move(20_000);
    await turn(worker);
    expect(requests).toHaveLength(0);
    clock.move(11_000);
    await turn(worker);
    expect(requests).toHaveLength(1);
    expect(await onlyDelivery(worker, tenantId)).toMatchObject({ state: 'delivered' });
  });

  it.each([
    [200, 500, 'delivered'],
    [500, 500, 'pending'],
    [500, 200, 'pending'],
  ])('an attempt whose lease was lost changes nothing (%i, and late %i)', async (status, lateStatus, state) => {
    const clock = clockAt();
    const slow = Promise.withResolvers<SendResult>();
    const late = webhookWorker(store, () => slow.promise, clock.read);
    const { tenantId } = await storedEndpoint(store);
    late.publisher.publish(await storedInvoice(store, tenantId));
    await late.publisher.settle();
    clock.move(31_000);
    const worker = webhookWorker(store, receiverThat(() => status).send, clock.read);
    await turn(worker);
    const before = await onlyDelivery(worker, tenantId);
    expect([before.state, before.attempts.length]).toEqual([state, 1]);
    slow.resolve(answerOf(lateStatus));
    await late.dispatcher.settle();
    expect(await onlyDelivery(worker, tenantId)).toEqual(before);
  });
});

describe.skipIf(deviates.dateArithmetic)('a clock that was ahead by an hour', () => {
  function world(send = receiverThat(() => 500).send) {
    const clock = clockAt();
    const worker = webhookWorker(store, send, clock.read);
    return {
      clock,
      worker,
      reschedule: () => worker.deliveries.reschedule(clock.read()),
      /** A delivery of another tenant, attempted if its receiver answers; nothing else is swept. */
      async happen() {
        const { tenantId } = await storedEndpoint(store);
        worker.publisher.publish(await storedInvoice(store, tenantId));
        await worker.publisher.settle();
        return { tenantId, next: async () => (await onlyDelivery(worker, tenantId)).nextAttemptAt?.getTime() };
      },
    };
  }

  it('its retries keep their delays, counted from now; what a correct clock planned keeps its time', async () => {
    const { clock, worker, reschedule, happen } = world();
    const correct = await happen();
    await turn(worker);
    clock.move(6 * MINUTE);
    await turn(worker);
    const now = clock.read().getTime();
    expect(await correct.next()).toBe(now + 30 * MINUTE);
    clock.move(HOUR);
    const ahead = await happen();
    await worker.dispatcher.settle();
    expect(await ahead.next()).toBe(now + HOUR + 5 * MINUTE);
    clock.move(-HOUR);
    expect(await reschedule()).toBe(1);
    expect([await correct.next(), await ahead.next()]).toEqual([now + 30 * MINUTE, now + 5 * MINUTE]);
    expect(await reschedule()).toBe(0);
  });

  it('its leases keep their length, and an attempt under one is recorded', async () => {
    const answer = Promise.withResolvers<SendResult>();
    const { clock, worker, reschedule, happen } = world(() => answer.promise);
    const { requests, send } = receiverThat(() => 200);
    const other = webhookWorker(store, send, clock.read);
    clock.move(HOUR);
    const [first, second] = [await happen(), await happen()];
    clock.move(-HOUR);
    expect(await reschedule()).toBe(2);
    // The first attempt ends in time.
    await store.db
      .collection('webhook_deliveries')
      .updateOne({ tenantId: second.tenantId }, { $set: { 'work.token': 'of a process that has died' } });
    answer.resolve(answerOf(200));
    await worker.dispatcher.settle();
    expect(await onlyDelivery(worker, first.tenantId)).toMatchObject({ state: 'delivered' });
    clock.move(29_000);
    await turn(other);
    expect(requests).toEqual([]);
    clock.move(2000);
    await turn(other);
    expect(await onlyDelivery(other, second.tenantId)).toMatchObject({ state: 'delivered' });
    expect(requests).toHaveLength(1);
  });

  it('its deliveries that waited for a slot are not sent again by the process that queued them', async () => {
    const answer = Promise.withResolvers<SendResult>();
    const requests: OutgoingRequest[] = [];
    const { clock, worker, reschedule } = world((request) => {
      requests.push(request);
      return answer.promise;
    });
    const { tenantId, id } = await storedEndpoint(store);
    clock.move(HOUR);
    for (const invoice of await storedInvoices(store, tenantId, 17)) worker.publisher.publish(invoice);
    await worker.publisher.settle();
    expect(requests).toHaveLength(16);
    clock.move(-HOUR);
    await reschedule();
    clock.move(31_000);
    const receiver = receiverThat(() => 200);
    const other = webhookWorker(store, receiver.send, clock.read);
    await turn(other);
    expect(receiver.requests).toHaveLength(17);
    answer.resolve(answerOf(200));
    await worker.dispatcher.settle();
    expect(requests).toHaveLength(16);
    const states = (await deliveriesOf(worker, tenantId)).map(({ endpointId, state }) => [endpointId, state]);
    expect(states).toEqual(Array(17).fill([id, 'delivered']));
  });
});

describe('a delivery whose event is no longer kept', () => {
  it('is cancelled at its next attempt, instead of being released again and again', async () => {
    const [start, offset] = [Date.now(), { ms: 0 }];
    // A clock that runs, so that a released delivery would soon be due.
    const clock = () => new Date(Date.now() + offset.ms);
    const { requests, send } = receiverThat(() => 500);
    const worker = webhookWorker(store, send, clock);
    const { tenantId, id } = await storedEndpoint(store);
    worker.publisher.publish(await storedInvoice(store, tenantId));
    await turn(worker);
    await store.db.collection('webhook_events').deleteMany({ tenantId });
    offset.ms = Date.now() - start + 5 * MINUTE;
    worker.dispatcher.wake(id);
    await worker.dispatcher.settle();
    expect(requests).toHaveLength(1);
    expect(await onlyDelivery(worker, tenantId)).toMatchObject({ state: 'cancelled', nextAttemptAt: null });
    expect(worker.problems).toEqual([]);
  });
});

describe('a worker that stops', () => {
  it('releases the deliveries that it has not started; an attempt that it cuts off does not count as failed', async () => {
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
    const { requests, send } = receiverThat(() => 200);
    const worker = webhookWorker(store, send, () => new Date());
    worker.dispatcher.wake(endpointId);
    await worker.dispatcher.settle();
    // 16 attempts were in progress, and wait until their leases expire.
    expect(requests).toHaveLength(4);
    await worker.deliveries.freeLeases(new Date(), LEASE_MS);
    worker.dispatcher.wake(endpointId);
    await worker.dispatcher.settle();
    expect(requests).toHaveLength(20);
    expect((await deliveriesOf(worker, tenantId)).map(({ state, attempts }) => [state, attempts.length])).toEqual(
      Array(20).fill(['delivered', 1]),
    );
    expect(stopping.problems).toEqual([]);
  });
});
