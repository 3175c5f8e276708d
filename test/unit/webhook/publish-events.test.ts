import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPublishEvents } from '../../../src/domain/webhook/publish-events.ts';
import { pendingInvoice } from '../../support/invoices.ts';
import { statusChange } from '../../support/webhooks.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function published() {
  const marked: string[] = [];
  const asked: (number | undefined)[] = [];
  const publisher = createPublishEvents({
    outbox: {
      takeUnpublished: async () => [],
      async markPublished(invoices) {
        marked.push(...invoices.map(({ invoiceId }) => invoiceId));
      },
    },
    events: { append: async () => undefined } as never,
    deliveries: { insert: async () => new Set() },
    async stored(until) {
      asked.push(until);
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
  return { publisher, publish, marked, asked };
}

it('the outbox is told once a second, and what has just been published waits for the next time', async () => {
  const { publish, marked, asked } = published();
  const start = performance.now();
  const first = publish();
  await vi.advanceTimersByTimeAsync(900);
  const second = publish();
  await vi.advanceTimersByTimeAsync(100);
  expect(marked).toEqual([first]);
  // What the second one's deliveries need is under way, and not asked for before its time.
  expect(asked).toEqual([start + 600]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(marked).toEqual([first, second]);
  expect(asked).toEqual([start + 600, start + 1600]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toHaveLength(2);
});

it('at the end it is told of all at once', async () => {
  const { publisher, publish, marked, asked } = published();
  const id = publish();
  await publisher.stop();
  expect([marked, asked]).toEqual([[id], [undefined]]);
});
