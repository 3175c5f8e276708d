import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPublishEvents } from '../../../src/domain/webhook/publish-events.ts';
import { pendingInvoice } from '../../support/invoices.ts';
import { statusChange } from '../../support/webhooks.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function published() {
  const marked: string[] = [];
  let storedUntil = Number.POSITIVE_INFINITY;
  let forced = 0;
  const publisher = createPublishEvents({
    outbox: {
      takeUnpublished: async () => [],
      async markPublished(invoices) {
        marked.push(...invoices.map(({ invoiceId }) => invoiceId));
      },
    },
    events: { append: async () => undefined } as never,
    deliveries: { insert: async () => new Set() },
    behind: {
      async stored() {
        forced++;
        storedUntil = Number.POSITIVE_INFINITY;
      },
      storedUntil: () => storedUntil,
    },
    endpoints: { subscribed: async () => [] },
    dispatcher: { reserve: () => false, offer: () => undefined },
    documentUrl: () => '',
    now: () => new Date(),
    report: () => undefined,
  });
  const publish = () => {
    const invoice = { ...pendingInvoice({}), events: [statusChange(1)] };
    publisher.publish(invoice);
    return invoice.id;
  };
  const hold = (since: number) => {
    storedUntil = since;
  };
  return { publisher, publish, marked, hold, forced: () => forced };
}

it('the outbox is told once a second of what is stored, and nothing is stored before its time for that', async () => {
  const { publish, marked, hold, forced } = published();
  const first = publish();
  await vi.advanceTimersByTimeAsync(900);
  hold(performance.now());
  const second = publish();
  await vi.advanceTimersByTimeAsync(100);
  expect(marked).toEqual([first]);
  await vi.advanceTimersByTimeAsync(5000);
  expect(marked).toEqual([first]);
  hold(Number.POSITIVE_INFINITY);
  await vi.advanceTimersByTimeAsync(1000);
  expect([marked, forced()]).toEqual([[first, second], 0]);
  expect(vi.getTimerCount()).toBe(0);
});

it('at the end all is stored, and the outbox is told of all', async () => {
  const { publisher, publish, marked, hold, forced } = published();
  hold(performance.now());
  const id = publish();
  await publisher.stop();
  expect([marked, forced()]).toEqual([[id], 1]);
});
