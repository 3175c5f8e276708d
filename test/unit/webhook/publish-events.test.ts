import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPublishEvents } from '../../../src/domain/webhook/publish-events.ts';
import { pendingInvoice } from '../../support/invoices.ts';
import { statusChange } from '../../support/webhooks.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function published() {
  const marked: string[] = [];
  const publisher = createPublishEvents({
    outbox: {
      takeUnpublished: async () => [],
      async markPublished(invoices) {
        marked.push(...invoices.map(({ invoiceId }) => invoiceId));
      },
    },
    events: { append: async () => undefined },
    deliveries: { insert: async () => new Set() },
    endpoints: { subscribed: async () => [] },
    dispatcher: { reserve: () => false, accept: async () => undefined },
    documentUrl: () => '',
    now: () => new Date(),
    report: () => undefined,
  });
  const publish = () => {
    const invoice = { ...pendingInvoice({}), events: [statusChange(1)] };
    publisher.publish(invoice);
    return invoice.id;
  };
  return { publisher, publish, marked };
}

it('the outbox is updated once a second with everything that was published', async () => {
  const { publish, marked } = published();
  const first = publish();
  await vi.advanceTimersByTimeAsync(900);
  const second = publish();
  expect(marked).toEqual([]);
  await vi.advanceTimersByTimeAsync(100);
  expect(marked).toEqual([first, second]);
  const third = publish();
  await vi.advanceTimersByTimeAsync(1000);
  expect(marked).toEqual([first, second, third]);
  expect(vi.getTimerCount()).toBe(0);
});

it('the outbox is updated at once on stop', async () => {
  const { publisher, publish, marked } = published();
  const id = publish();
  await publisher.stop();
  expect(marked).toEqual([id]);
  expect(vi.getTimerCount()).toBe(0);
});
