import { expect, it } from 'vitest';
import { createLane, type Lane, type Work } from '../../../src/domain/webhook/lane.ts';

let serial = 0;

function workOf({ invoiceId = `inv_${serial}`, retry = false, leaseEnd = 1000 } = {}): Work {
  serial++;
  const claim = { id: `dlv_${serial}`, invoiceId, retry, leaseEnd, token: 't', endpointId: 'we_1' };
  return { claim, endpoint: {}, readAt: 0, body: '{}' } as unknown as Work;
}

/** Begins whatever the lane lets begin. */
function begin(lane: Lane, leaseUntil = 0): Work[] {
  const begun: Work[] = [];
  while (lane.hasPlace()) {
    const { work } = lane.take(leaseUntil);
    if (!work) break;
    begun.push(work);
  }
  return begun;
}

it('attempts 16 at once, 4 after three failures in a row, 16 again after a success', () => {
  const lane = createLane('we_1');
  for (let i = 0; i < 60; i++) lane.put(workOf());
  const first = begin(lane);
  expect([first.length, lane.isDoubtful()]).toEqual([16, false]);
  for (const work of first) lane.finish(work, false);
  const second = begin(lane);
  expect([second.length, lane.isDoubtful()]).toEqual([4, true]);
  lane.finish(second[0] as Work, null);
  expect(lane.isDoubtful()).toBe(true);
  lane.finish(second[1] as Work, true);
  expect(lane.isDoubtful()).toBe(false);
  expect(begin(lane)).toHaveLength(14);
});

it("attempts one of an invoice's events at a time, in order, and others meanwhile", () => {
  const lane = createLane('we_1');
  const [one, two, other] = [workOf({ invoiceId: 'a' }), workOf({ invoiceId: 'a' }), workOf({ invoiceId: 'b' })];
  for (const work of [one, two, other]) lane.put(work);
  expect(begin(lane)).toEqual([one, other]);
  lane.finish(one, false);
  expect(begin(lane)).toEqual([two]);
});

it('attempts what is new before retries', () => {
  const lane = createLane('we_1');
  const [retry, fresh] = [workOf({ retry: true }), workOf()];
  lane.put(retry);
  expect(lane.isDoubtful()).toBe(true);
  lane.put(fresh);
  expect(begin(lane)).toEqual([fresh, retry]);
});

it('gives back what waited too long for its lease, with all that is behind it of its invoice', () => {
  const lane = createLane('we_1');
  const old = workOf({ invoiceId: 'a', leaseEnd: 500 });
  const behind = workOf({ invoiceId: 'a' });
  const other = workOf({ invoiceId: 'b' });
  for (const work of [other, old, behind]) lane.put(work);
  expect(lane.take(501)).toEqual({ work: other, stale: [old.claim, behind.claim] });
  expect([old, behind].map(({ claim }) => lane.holds(claim.id))).toEqual([false, false]);
  expect(lane.take(501)).toEqual({ work: null, stale: [] });
});

it('reserves no place while something of it waits in the ledger', () => {
  const lane = createLane('we_1');
  expect(Array.from({ length: 65 }, () => lane.reserve()).filter(Boolean)).toHaveLength(64);
  for (let i = 0; i < 64; i++) lane.unreserve();
  lane.setBacklog(true);
  expect(lane.reserve()).toBe(false);
  lane.beginRefill();
  lane.setBacklog(false);
  expect(lane.reserve()).toBe(false);
  lane.endRefill();
  expect(lane.reserve()).toBe(true);
});
