import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { summedOf } from '../../../src/domain/invoice/periods/summed-invoice.ts';
import { createPublishEvents } from '../../../src/domain/webhook/publish-events.ts';
import { pendingInvoice } from '../../support/invoices.ts';
import { statusChange } from '../../support/webhooks.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function published() {
  const marked: string[] = [];
  const publisher = createPublishEvents({
    outbox: { takeUnpublished: async () => [] },
    sums: {
      async record(invoices) {
        marked.push(...invoices.map(({ invoiceId }) => invoiceId));
      },
    },
    summedOf,
    events: { append: async (rows) => [...rows] },
    deliveries: { insert: async () => new Set() },
    endpoints: { subscribed: async () => [] },
    dispatcher: { reserve: () => false, accept: async () => undefined },
    documentUrl: () => '',
    now: () => new Date(),
    report: () => undefined,
  });
  const publish = (tenantId = 'ten_1') => {
    const invoice = { ...pendingInvoice({}), tenantId, events: [statusChange(1)] };
    publisher.publish(invoice);
    return invoice.id;
  };
  return { publisher, publish, marked };
}

it('the outbox is updated once a second with what was published a second before', async () => {
  const { publish, marked } = published();
  const first = publish();
  await vi.advanceTimersByTimeAsync(900);
  const second = publish();
  expect(marked).toEqual([]);
  await vi.advanceTimersByTimeAsync(100);
  expect(marked).toEqual([first]);
  await vi.advanceTimersByTimeAsync(1000);
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

it('tenants take turns, and beyond 1,000 invoices the outbox keeps the events of a tenant', async () => {
  const { publisher, publish, marked } = published();
  const burst = Array.from({ length: 1500 }, () => publish());
  const other = publish('ten_2');
  await publisher.settle();
  // The first is taken at once.
  expect(new Set(marked)).toEqual(new Set([...burst.slice(0, 1001), other]));
  const later = Array.from({ length: 500 }, () => publish());
  const between = publish('ten_2');
  await publisher.settle();
  const ofLater = marked.slice(1002);
  // In the first batch, although 500 were before it.
  expect(ofLater.indexOf(between)).toBeLessThan(64);
  expect(new Set(ofLater)).toEqual(new Set([...later, between]));
});
