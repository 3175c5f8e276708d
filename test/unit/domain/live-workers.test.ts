import { expect, it } from 'vitest';
import { LIVE_MS, watchWorkers } from '../../../src/domain/live-workers.ts';

const START = new Date(0);

/** The heartbeats of two workers, at these times by their own clocks. */
const beats = (one: number, other: number) => [
  { id: 'wrk_1', at: new Date(one), inFlight: 0 },
  { id: 'wrk_2', at: new Date(other), inFlight: 0 },
];

it('a worker whose heartbeat does not change while others read counts as dead, and comes back with its next one', () => {
  let now = 0;
  const workers = watchWorkers(() => now);
  for (now = 0; now <= LIVE_MS; now += 1000) workers.seen(beats(now, 0), START);
  expect(workers.live()).toHaveLength(2);
  now += 1000;
  workers.seen(beats(now, 0), START);
  expect(workers.live()).toHaveLength(1);
  now += 1000;
  workers.seen(beats(now, 1), START);
  expect(workers.live()).toHaveLength(2);
});

it('a process that stalls takes no other worker for dead', () => {
  let now = 0;
  const workers = watchWorkers(() => now);
  workers.seen(beats(0, 0), START);
  now += 10 * LIVE_MS;
  expect(workers.live()).toHaveLength(2);
  // The other one stalled as well, and has not sent its heartbeat yet.
  workers.seen(beats(now, 0), START);
  expect(workers.live()).toHaveLength(2);
});
