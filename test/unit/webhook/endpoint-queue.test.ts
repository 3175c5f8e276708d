import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type AttemptKind,
  type AttemptSlot,
  createAttemptSlots,
  createEndpointQueue,
  type EndpointQueue,
  type QueuedDelivery,
} from '../../../src/domain/webhook/endpoint-queue.ts';

let serial = 0;

function workOf({ invoiceId = `inv_${serial}`, retry = false, leaseEnd = 1000 } = {}): QueuedDelivery {
  serial++;
  const claim = { id: `dlv_${serial}`, invoiceId, retry, leaseEnd, token: 't', endpointId: 'we_1' };
  return { claim, body: '{}' } as unknown as QueuedDelivery;
}

/** Begins all attempts that the queue allows. */
function begin(queue: EndpointQueue, leaseUntil = 0): QueuedDelivery[] {
  const begun: QueuedDelivery[] = [];
  while (queue.mayBegin()) {
    const { next: work } = queue.take(leaseUntil, Number.POSITIVE_INFINITY);
    if (!work) break;
    begun.push(work);
  }
  return begun;
}

it('allows 16 concurrent attempts, 4 after three failures in a row, 16 again after a success', () => {
  const queue = createEndpointQueue('we_1');
  for (let i = 0; i < 60; i++) queue.enqueue(workOf());
  const first = begin(queue);
  expect([first.length, queue.kind()]).toEqual([16, 'normal']);
  for (const work of first) queue.finish(work, false);
  const second = begin(queue);
  expect([second.length, queue.kind()]).toEqual([4, 'suspect']);
  queue.finish(second[0] as QueuedDelivery, null);
  expect(queue.kind()).toBe('suspect');
  queue.finish(second[1] as QueuedDelivery, true);
  expect(queue.kind()).toBe('normal');
  expect(begin(queue)).toHaveLength(14);
});

it("attempts one of an invoice's events at a time, in order, and others meanwhile", () => {
  const queue = createEndpointQueue('we_1');
  const [one, two, other] = [workOf({ invoiceId: 'a' }), workOf({ invoiceId: 'a' }), workOf({ invoiceId: 'b' })];
  for (const work of [one, two, other]) queue.enqueue(work);
  expect(begin(queue)).toEqual([one, other]);
  // It waits for no slot that it could not use.
  expect(queue.mayBegin()).toBe(false);
  queue.finish(one, false);
  expect(begin(queue)).toEqual([two]);
});

it('attempts first attempts before retries', () => {
  const queue = createEndpointQueue('we_1');
  const [retry, fresh] = [workOf({ retry: true }), workOf()];
  queue.enqueue(retry);
  expect(queue.kind()).toBe('suspect');
  queue.enqueue(fresh);
  expect(begin(queue)).toEqual([fresh, retry]);
});

it('removes deliveries whose lease expires, together with the later ones of their invoices', () => {
  const queue = createEndpointQueue('we_1');
  const old = workOf({ invoiceId: 'a', leaseEnd: 500 });
  const behind = workOf({ invoiceId: 'a' });
  const other = workOf({ invoiceId: 'b' });
  for (const work of [other, old, behind]) queue.enqueue(work);
  expect(queue.take(501, 2000)).toEqual({ next: other, expiring: [old.claim, behind.claim] });
  expect([old, behind].map(({ claim }) => queue.holds(claim.id))).toEqual([false, false]);
  expect(queue.take(501, 2000)).toEqual({ next: null, expiring: [] });
});

it('removes those whose lease is longer than any, because the clock was set back since', () => {
  const queue = createEndpointQueue('we_1');
  const [ahead, behind] = [workOf({ invoiceId: 'a', leaseEnd: 9000 }), workOf({ invoiceId: 'a' })];
  const other = workOf({ invoiceId: 'b', leaseEnd: 2000 });
  for (const work of [ahead, behind, other]) queue.enqueue(work);
  expect(queue.take(501, 2000)).toEqual({ next: other, expiring: [ahead.claim, behind.claim] });
});

it('reserves no room while deliveries of the endpoint wait in the ledger', () => {
  const queue = createEndpointQueue('we_1');
  expect(Array.from({ length: 65 }, () => queue.reserve()).filter(Boolean)).toHaveLength(64);
  for (let i = 0; i < 64; i++) queue.unreserve();
  queue.setBacklog(true);
  expect(queue.reserve()).toBe(false);
  queue.beginRefill();
  queue.setBacklog(false);
  expect(queue.reserve()).toBe(false);
  queue.endRefill();
  expect(queue.reserve()).toBe(true);
});

describe('the attempt slots of a process', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  function bounded() {
    let told = 0;
    const slots = createAttemptSlots(() => {
      told++;
    });
    /** Takes slots until none is free. */
    const takeAll = (kind: AttemptKind): AttemptSlot[] => {
      const taken: AttemptSlot[] = [];
      while (slots.isFree(kind)) taken.push(slots.take(kind, 'ten_1'));
      return taken;
    };
    return { slots, takeAll, told: () => told };
  }

  it('there are 512, at most half of them for suspect attempts', () => {
    const { slots, takeAll } = bounded();
    const suspect = takeAll('suspect');
    expect(suspect).toHaveLength(256);
    expect(takeAll('normal')).toHaveLength(256);
    for (const slot of suspect) slots.release(slot);
    expect(takeAll('normal')).toHaveLength(256);
    expect(takeAll('suspect')).toHaveLength(0);
  });

  it('hanging attempts leave their slots to others after a second, up to 1,536 of them', () => {
    const { slots, takeAll, told } = bounded();
    const first = takeAll('normal');
    vi.advanceTimersByTime(999);
    expect([takeAll('normal').length, told()]).toEqual([0, 0]);
    vi.advanceTimersByTime(1);
    expect(told()).toBe(1);
    let hanging = first.length;
    for (; hanging < 1536; hanging += 512) {
      expect(takeAll('normal')).toHaveLength(512);
      vi.advanceTimersByTime(1000);
    }
    expect(takeAll('normal')).toHaveLength(512);
    vi.advanceTimersByTime(10_000);
    expect(takeAll('normal')).toHaveLength(0);
    // One hanging attempt ended: another one counts as hanging in its place and frees a slot.
    slots.release(first[0] as AttemptSlot);
    expect(takeAll('normal')).toHaveLength(1);
  });

  it('those of a tenant are counted by kind, without the attempts that hang', () => {
    const { slots, takeAll } = bounded();
    const held = () => [slots.heldBy('normal', 'ten_2'), slots.heldBy('suspect', 'ten_2')];
    const [hangs, ends] = [slots.take('normal', 'ten_2'), slots.take('suspect', 'ten_2')];
    slots.take('suspect', 'ten_2');
    takeAll('normal');
    expect(held()).toEqual([1, 2]);
    slots.release(ends);
    expect(held()).toEqual([1, 1]);
    vi.advanceTimersByTime(1000);
    takeAll('normal');
    expect(held()).toEqual([0, 0]);
    slots.release(hangs);
    expect(held()).toEqual([0, 0]);
  });
});
