import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLimits } from '../../../src/adapters/authority/http/limits.ts';
import { ALL_PARTITIONS, PARTITIONS } from '../../../src/domain/invoice/lanes.ts';
import { type ClaimRanges, createClaimRanges, createWholeRange } from '../../../src/jobs/claim-ranges.ts';
import { memoryMembers } from '../../support/live-world.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const fail = (error: unknown) => expect.unreachable(String(error));
const size = (ranges: ClaimRanges) => ranges.own().until - ranges.own().from;

async function started(
  members = memoryMembers(),
  worker = 'w',
  create: typeof createWholeRange = createClaimRanges,
): Promise<ClaimRanges> {
  const ranges = create(members, worker, fail);
  const start = ranges.start(() => 3);
  await pass(0);
  await start;
  return ranges;
}

it('the workers that share a store share the limits of the authority: each takes its part as they come and go', async () => {
  const members = memoryMembers();
  const limits = createLimits({
    limits: () => ({ submissionsPerMinute: 8, lookUpsPerMinute: 8, lookUpsPerSubmissionPerHour: 8, concurrent: 8 }),
    concurrency: 8,
  });
  const one = await started(members, 'one');
  expect([one.workers(), size(one)]).toEqual([1, PARTITIONS]);
  const two = await started(members, 'two');
  await pass(1000);
  expect([one.workers(), two.workers(), size(one), size(two)]).toEqual([2, 2, PARTITIONS / 2, PARTITIONS / 2]);
  limits.setShare(one.workers());
  const places = Array.from({ length: 8 }, () => limits.submission());
  expect(places.filter(({ free }) => free)).toHaveLength(4);
  await two.stop();
  await pass(1000);
  expect([one.workers(), size(one)]).toEqual([1, PARTITIONS]);
  await one.stop();
});

it('a worker that has died loses its range after 5 s, its share of the limits after 15, its heartbeat after a minute', async () => {
  const members = memoryMembers();
  const ranges = await started(members);
  await members.heartbeat({ id: 'dead', at: new Date(), inFlight: 1 });
  await pass(3000);
  expect([ranges.workers(), size(ranges)]).toEqual([2, PARTITIONS / 2]);
  await pass(5000);
  expect([ranges.workers(), ranges.own()]).toEqual([2, ALL_PARTITIONS]);
  await pass(10_000);
  expect(ranges.workers()).toBe(1);
  await pass(30_000);
  expect(members.current.map(({ id }) => id).sort()).toEqual(['dead', 'w']);
  await pass(20_000);
  expect(members.current).toEqual([{ id: 'w', at: expect.any(Date), inFlight: 3 }]);
  await ranges.stop();
});

it('the only worker of a store has everything at once, also after one that was killed, and tells what it transmits', async () => {
  const members = memoryMembers();
  await members.heartbeat({ id: 'killed', at: new Date(), inFlight: 1 });
  const ranges = await started(members, 'w', createWholeRange);
  await pass(1000);
  expect([ranges.workers(), ranges.own()]).toEqual([1, ALL_PARTITIONS]);
  expect(members.current).toEqual([{ id: 'w', at: expect.any(Date), inFlight: 3 }]);
  await ranges.stop();
  expect(members.current).toEqual([]);
});
