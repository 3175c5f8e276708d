import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { ClaimedDelivery } from '../../src/domain/webhook/delivery.ts';
import { deliveryOf } from '../../src/domain/webhook/delivery.ts';
import type { DeliveryLedger, NewDelivery } from '../../src/domain/webhook/delivery-ports.ts';
import type { WebhookEvent } from '../../src/domain/webhook/webhook-event.ts';
import { createWriteBehind } from '../../src/domain/webhook/write-behind.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createDeliveryLedger, type DeliveryDocument } from '../../src/storage/webhook-deliveries.ts';
import { randomNumbers } from '../support/corpus.ts';
import { openTestStore } from '../support/store.ts';
import { answerOf, MINUTE, storedEndpoint } from '../support/webhooks.ts';

const DELIVERIES = 80;
const RETENTION = 60 * MINUTE;

let store: Store;
beforeAll(async () => {
  store = await openTestStore('write_behind_model');
});
afterAll(() => store.close());

/** A ledger whose writes are late, and fail now and then: before they are made, or after. */
function faulty(ledger: DeliveryLedger, random: () => number): DeliveryLedger {
  const late =
    <Given extends unknown[], Result>(write: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      await sleep(random() * 12);
      const fault = random();
      if (fault < 0.15) throw new Error('the store is away');
      const result = await write(...given);
      if (fault < 0.3) throw new Error('the answer was lost');
      return result;
    };
  const { insert, insertAttempted, record, release, cancel } = ledger;
  return {
    ...ledger,
    insert: late(insert),
    insertAttempted: late(insertAttempted),
    record: late(record),
    release: late(release),
    cancel: late(cancel),
  };
}

it.each([1, 2])(
  'whatever happens at once, each delivery ends as the one ledger alone would have it (%i)',
  async (seed) => {
    const random = randomNumbers(seed);
    const now = () => new Date();
    const endpoint = await storedEndpoint(store);
    const behind = createWriteBehind(faulty(createDeliveryLedger(store.db, RETENTION), random), now, () => undefined);
    const { tenantId } = endpoint;
    const documents = store.db.collection<DeliveryDocument>('webhook_deliveries');
    const isStored = async (id: string) => (await documents.countDocuments({ _id: id })) === 1;
    const untilDone = async (work: () => Promise<unknown>) => {
      for (;;) {
        try {
          return await work();
        } catch {
          await sleep(random() * 20);
        }
      }
    };

    async function live(): Promise<[id: string, expected: object]> {
      await sleep(random() * 300);
      const { order } = newCreationMoment();
      const event = {
        id: newId('evt'),
        tenantId,
        environment: 'test',
        type: 'invoice.signing',
        invoiceId: newId('inv'),
      };
      const delivery = deliveryOf({ ...event, sequence: 1, createdAt: now(), order } as WebhookEvent, endpoint);
      const lease = { token: newId('evt'), end: Date.now() + MINUTE };
      const row: NewDelivery = { delivery, lease, isNew: true, manual: false };
      expect(await behind.insert([row], now())).toEqual(new Set([delivery.id]));
      const claim: ClaimedDelivery = {
        ...delivery,
        tries: 0,
        retry: false,
        manual: false,
        token: lease.token,
        leaseEnd: lease.end,
      };
      const attempt = { at: now(), url: endpoint.url, requestHeaders: {}, ...answerOf(200) };
      const due = new Date(Date.now() + MINUTE);
      const watchers = Promise.all([
        // Whoever asks sees it; the outbox is told only of what is stored.
        untilDone(async () => behind.find(tenantId, 'test', delivery.id)).then((found) => expect(found).not.toBeNull()),
        untilDone(() => behind.stored()).then(async () => expect(await isStored(delivery.id)).toBe(true)),
        // An event that is sent by hand, or once more by the outbox, stays one delivery; what is under way is not reopened.
        untilDone(() => behind.insert([{ ...row, lease: null, isNew: false }], now())),
      ]);
      await sleep(random() < 0.3 ? 200 + random() * 300 : random() * 30);
      const end = random();
      if (end < 0.5) await untilDone(() => behind.record([{ claim, attempt, outcome: { state: 'delivered' } }]));
      else if (end < 0.7)
        await untilDone(() => behind.record([{ claim, attempt, outcome: { state: 'pending', nextAttemptAt: due } }]));
      else if (end < 0.85) await untilDone(() => behind.release([claim], due));
      else await untilDone(() => behind.cancel([claim]));
      await watchers;
      const attempts = end < 0.7 ? 1 : 0;
      if (end < 0.5) return [delivery.id, { state: 'delivered', attempts, work: null }];
      if (end >= 0.85) return [delivery.id, { state: 'cancelled', attempts, work: null }];
      return [delivery.id, { state: 'pending', attempts, work: { tries: attempts, token: null, readyAt: due } }];
    }

    const expected = await Promise.all(Array.from({ length: DELIVERIES }, live));
    await untilDone(() => behind.stored());
    const found = await documents.find({ tenantId }).toArray();
    const endings = found.map(({ _id, state, attempts, work }) => [
      _id,
      {
        state,
        attempts: attempts.length,
        work: work ? { tries: work.tries, token: work.token, readyAt: work.readyAt } : null,
      },
    ]);
    expect(Object.fromEntries(endings)).toEqual(Object.fromEntries(expected));
  },
);
