import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { callable } from '../../src/domain/use-cases.ts';
import type { SendResult } from '../../src/domain/webhook/delivery.ts';
import type { WebhookEndpoint } from '../../src/domain/webhook/endpoint.ts';
import { ENDPOINT_USE_CASES } from '../../src/domain/webhook/manage-endpoints.ts';
import type { DeliveryLedger, OutgoingRequest } from '../../src/domain/webhook/ports.ts';
import { RESEND_USE_CASES } from '../../src/domain/webhook/resend-events.ts';
import type { Store } from '../../src/storage/connect.ts';
import { openedForDeliveries } from '../support/webhook-store.ts';
import {
  answerOf,
  BOX,
  clockAt,
  deliveriesOf,
  HOUR,
  MINUTE,
  onlyDelivery,
  receiverThat,
  storedEndpoint,
  storedInvoice,
  storedInvoices,
  turn,
  type Worker,
  webhookWorker,
} from '../support/webhooks.ts';

let store: Store;

openedForDeliveries((opened) => {
  store = opened;
});

const managerOf = (worker: Worker) =>
  callable(ENDPOINT_USE_CASES, { ...worker, secretBox: BOX, refusalOf: () => null }, async () => undefined);
const key = (tenantId: string) =>
  ({ kind: 'secret', keyId: 'key_1', tenant: { id: tenantId, suspendedAt: null }, environment: 'test' }) as never;

describe('a changed endpoint', () => {
  it.each(['disabled', 'deleted'])('%s: pending retries are cancelled, and nothing more is sent', async (how) => {
    const clock = clockAt();
    const { requests, send } = receiverThat(() => 500);
    const worker = webhookWorker(store, send, clock.read);
    const { tenantId, id } = await storedEndpoint(store);
    const manage = managerOf(worker);
    worker.publisher.publish(await storedInvoice(store, tenantId));
    await turn(worker);
    if (how === 'deleted') await manage.deleteWebhookEndpoint(key(tenantId), id);
    else await manage.updateWebhookEndpoint(key(tenantId), id, { active: false });
    expect(await onlyDelivery(worker, tenantId)).toMatchObject({ state: 'cancelled', nextAttemptAt: null });
    clock.move(5 * MINUTE);
    worker.dispatcher.wake(id);
    await turn(worker);
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['delivered', 200, 'delivered'],
    ['failed', 500, 'cancelled'],
  ])('disabled during an attempt: its outcome is recorded (%s)', async (_what, status, state) => {
    const answer = Promise.withResolvers<SendResult>();
    const worker = webhookWorker(
      store,
      () => answer.promise,
      () => new Date(),
    );
    const { tenantId, id } = await storedEndpoint(store);
    const manage = managerOf(worker);
    worker.publisher.publish(await storedInvoice(store, tenantId));
    await worker.publisher.settle();
    await manage.updateWebhookEndpoint(key(tenantId), id, { active: false });
    expect(await onlyDelivery(worker, tenantId)).toMatchObject({ state: 'cancelled', nextAttemptAt: null });
    answer.resolve(answerOf(status));
    await worker.dispatcher.settle();
    expect(await onlyDelivery(worker, tenantId)).toMatchObject({ state, nextAttemptAt: null, attempts: [{ status }] });
    expect(worker.problems).toEqual([]);
  });

  it.each(['disabled', 'moved', 'rotated'])(
    '%s while deliveries wait for a slot: they use its new state',
    async (how) => {
      const clock = clockAt();
      const held: (() => void)[] = [];
      const requests: OutgoingRequest[] = [];
      const worker = webhookWorker(
        store,
        async (request) => {
          requests.push(request);
          if (requests.length <= 16) await new Promise<void>((resolve) => held.push(resolve));
          return answerOf(200);
        },
        clock.read,
      );
      const { tenantId, id } = await storedEndpoint(store);
      const manage = managerOf(worker);
      for (const invoice of await storedInvoices(store, tenantId, 17)) worker.publisher.publish(invoice);
      await worker.publisher.settle();
      expect(requests).toHaveLength(16);
      if (how === 'disabled') await worker.endpoints.update(tenantId, 'test', id, { active: false });
      else if (how === 'moved')
        await manage.updateWebhookEndpoint(key(tenantId), id, { url: 'https://receiver.test/new' });
      else await manage.rotateWebhookSecret(key(tenantId), id, 0);
      // What another process changes is known after a second, what this one does at once.
      if (how === 'disabled') clock.move(2000);
      for (const release of held) release();
      await worker.dispatcher.settle();
      const { rows } = await worker.deliveries.page({
        tenantId,
        environment: 'test',
        endpointId: id,
        state: 'cancelled',
        limit: 20,
        cursor: null,
        from: null,
        until: null,
      });
      const last = requests[16];
      if (how === 'disabled') expect([requests.length, rows.length]).toEqual([16, 1]);
      else if (how === 'moved') expect(last?.url).toBe('https://receiver.test/new');
      else {
        const former = `whsec_${Buffer.alloc(32).toString('base64')}`;
        const headers = { ...last?.headers } as Record<string, string>;
        expect(() => new Webhook(former).verify(last?.body ?? '', headers)).toThrow();
      }
      expect(worker.problems).toEqual([]);
    },
  );

  it('disabled before an attempt starts: the delivery is cancelled', async () => {
    const clock = clockAt();
    const { requests, send } = receiverThat(() => 500);
    const worker = webhookWorker(store, send, clock.read);
    const { tenantId, id } = await storedEndpoint(store);
    worker.publisher.publish(await storedInvoice(store, tenantId));
    await turn(worker);
    await worker.endpoints.update(tenantId, 'test', id, { active: false });
    clock.move(5 * MINUTE);
    worker.dispatcher.wake(id);
    await turn(worker);
    expect(requests).toHaveLength(1);
    expect(await onlyDelivery(worker, tenantId)).toMatchObject({ state: 'cancelled' });
  });
});

describe('an endpoint that is disabled and at once enabled again', () => {
  /** Disables and enables an endpoint through the use case of this worker. */
  async function toggle(worker: Worker, { tenantId, id }: Pick<WebhookEndpoint, 'tenantId' | 'id'>): Promise<void> {
    for (const active of [false, true]) await managerOf(worker).updateWebhookEndpoint(key(tenantId), id, { active });
  }

  function resendCancelled(worker: Worker, { tenantId, id }: WebhookEndpoint, now: () => Date) {
    const { events, deliveries, endpoints } = worker;
    const queue = { wake: async () => undefined };
    const needs = { events, deliveries, endpoints, deliveryQueue: queue, storeNow: now };
    const resend = callable(RESEND_USE_CASES, needs, async () => undefined);
    const every = { type: null, createdAfter: null, createdBefore: null };
    return resend.resendWebhookDeliveries(key(tenantId), { endpointId: id, state: 'cancelled', ...every });
  }

  const stateOf = async (worker: Worker, tenantId: string) => (await onlyDelivery(worker, tenantId)).state;

  /** A worker whose first 16 requests wait until they are released, so that a further delivery stays in its queue. */
  async function busy(now: () => Date) {
    const held: (() => void)[] = [];
    const requests: OutgoingRequest[] = [];
    const send = async (request: OutgoingRequest) => {
      requests.push(request);
      if (requests.length <= 16) await new Promise<void>((resolve) => held.push(resolve));
      return answerOf(200);
    };
    const worker = webhookWorker(store, send, now);
    const endpoint = await storedEndpoint(store);
    const happen = async (count: number) => {
      for (const invoice of await storedInvoices(store, endpoint.tenantId, count)) worker.publisher.publish(invoice);
      await worker.publisher.settle();
    };
    await happen(17);
    expect(requests).toHaveLength(16);
    const release = () => {
      for (const each of held) each();
      return worker.dispatcher.settle();
    };
    return { worker, endpoint, requests, happen, release };
  }

  it('gets nothing that waited in the queue of this process, and later events', async () => {
    const { worker, endpoint, requests, happen, release } = await busy(clockAt().read);
    await toggle(worker, endpoint);
    await release();
    const states = (await deliveriesOf(worker, endpoint.tenantId)).map(({ state }) => state);
    expect(states.toSorted()).toEqual(['cancelled', ...Array(16).fill('delivered')]);
    await happen(1);
    await worker.dispatcher.settle();
    expect(requests).toHaveLength(17);
    expect(worker.problems).toEqual([]);
  });

  it('gets nothing that waited in the queue of another process, a second later', async () => {
    const clock = clockAt();
    const { endpoint, requests, release } = await busy(clock.read);
    await toggle(webhookWorker(store, receiverThat(() => 200).send, clock.read), endpoint);
    clock.move(1001);
    await release();
    expect(requests).toHaveLength(16);
  });

  it('gets nothing that was stored after pending deliveries were cancelled', async () => {
    const stored = Promise.withResolvers<void>();
    const { requests, send } = receiverThat(() => 200);
    const failing = (ledger: DeliveryLedger): DeliveryLedger => ({
      ...ledger,
      insert: async (rows, now) => {
        await stored.promise;
        return ledger.insert(rows, now);
      },
    });
    const worker = webhookWorker(store, send, () => new Date(), { failing });
    const endpoint = await storedEndpoint(store);
    worker.publisher.publish(await storedInvoice(store, endpoint.tenantId));
    // The publisher has read the endpoint when it inserts.
    await expect.poll(() => worker.events.placesAfter({ ...endpoint }, '', 1)).toHaveLength(1);
    await toggle(worker, endpoint);
    stored.resolve();
    await turn(worker);
    expect([await stateOf(worker, endpoint.tenantId), requests.length]).toEqual(['cancelled', 0]);
  });

  it.each([
    ['a first attempt', 0],
    ['a retry', 1],
  ])('gets no waiting delivery that the cancellation missed: %s', async (_what, attempts) => {
    const clock = clockAt();
    const { requests, send } = receiverThat(() => 500);
    const worker = webhookWorker(store, send, clock.read);
    const endpoint = await storedEndpoint(store);
    worker.publisher.publish(await storedInvoice(store, endpoint.tenantId));
    await worker.publisher.settle();
    await worker.dispatcher.settle();
    if (attempts === 0) {
      await store.db
        .collection('webhook_deliveries')
        .updateMany({ tenantId: endpoint.tenantId }, { $set: { 'work.retry': false, 'work.tries': 0 } });
    }
    for (const active of [false, true])
      await worker.endpoints.update(endpoint.tenantId, 'test', endpoint.id, { active });
    clock.move(5 * MINUTE);
    worker.dispatcher.wake(endpoint.id);
    await turn(worker);
    expect([await stateOf(worker, endpoint.tenantId), requests.length]).toEqual(['cancelled', 1]);
  });

  it('gets what is resent at once, also if an attempt was under way or it was still in the queue', async () => {
    const clock = clockAt();
    const { worker, endpoint, requests, release } = await busy(clock.read);
    await toggle(worker, endpoint);
    expect(await resendCancelled(worker, endpoint, clock.read)).toEqual({ count: 17, more: false });
    await release();
    clock.move(2000);
    await turn(worker);
    const states = (await deliveriesOf(worker, endpoint.tenantId)).map(({ state }) => state);
    expect([states, requests.length]).toEqual([Array(17).fill('delivered'), 17]);
    expect(requests.at(-1)?.headers['Fatoura-Trigger']).toBe('manual');
    expect(worker.problems).toEqual([]);
  });

  it.each(['a later event', 'a cancelled event that is resent'])('gets %s, with the whole schedule', async (what) => {
    const clock = clockAt();
    const { requests, send } = receiverThat(() => 500);
    const worker = webhookWorker(store, send, clock.read);
    const endpoint = await storedEndpoint(store);
    const { tenantId, id: endpointId } = endpoint;
    const happen = async () => worker.publisher.publish(await storedInvoice(store, tenantId));
    if (what === 'a later event') {
      await toggle(worker, endpoint);
      await happen();
    } else {
      await happen();
      await turn(worker);
      await toggle(worker, endpoint);
      expect(await resendCancelled(worker, endpoint, clock.read)).toEqual({ count: 1, more: false });
      requests.length = 0;
    }
    for (const expected of [1, 2]) {
      worker.dispatcher.wake(endpointId);
      await turn(worker);
      expect([await stateOf(worker, tenantId), requests.length]).toEqual(['pending', expected]);
      clock.move(5 * MINUTE);
    }
  });
});

it('a rotated secret also signs for a day, and then no more', async () => {
  const clock = clockAt();
  const { requests, send } = receiverThat(() => 200);
  const worker = webhookWorker(store, send, clock.read);
  const { tenantId, id } = await storedEndpoint(store);
  const principal = key(tenantId);
  const manage = managerOf(worker);
  const former = `whsec_${Buffer.alloc(32).toString('base64')}`;
  const { secret } = await manage.rotateWebhookSecret(principal, id, null);
  const signedBy = async () => {
    worker.publisher.publish(await storedInvoice(store, tenantId));
    await turn(worker);
    const { headers, body } = requests.at(-1) as OutgoingRequest;
    const [t, ...signatures] = (headers['Service-Signature'] ?? '').split(',');
    const signatureOf = (key: string) =>
      `v1=${createHmac('sha256', key)
        .update(`${t?.slice(2)}.${body}`)
        .digest('hex')}`;
    const standard = (headers['webhook-signature'] ?? '').split(' ');
    expect(standard).toHaveLength(signatures.length);
    return [secret, former].map((key) => signatures.includes(signatureOf(key)));
  };
  expect(await signedBy()).toEqual([true, true]);
  clock.move(23 * HOUR + 59 * MINUTE);
  expect(await signedBy()).toEqual([true, true]);
  clock.move(2 * MINUTE);
  expect(await signedBy()).toEqual([true, false]);
});
