import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  ALL_PARTITIONS,
  LANE_NAMES,
  LANES,
  type Lane,
  PARTITIONS,
  type PartitionRange,
  rangeOf,
  slotAfter,
  slotOf,
  tenantNumber,
} from '../../../src/domain/invoice/lanes.ts';
import { LEASE_MS } from '../../../src/domain/invoice/stages/stage.ts';
import { type Claimer, type ClaimerParts, createClaimer } from '../../../src/jobs/claimer.ts';
import { pendingInvoice } from '../../support/invoices.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Stops a claimer, and lets the time pass for which it waits for its runs. */
async function stopped(claimer: Claimer): Promise<void> {
  await Promise.all([claimer.stop(1000), vi.advanceTimersByTimeAsync(1000)]);
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const template = pendingInvoice({});

/** Invoices in memory, by the rules of the store, each call of which takes `latency` milliseconds. */
function world(latency = 2) {
  const works = new Map<string, { lane: Lane; partition: number; dueAt: number; token: string | null }>();
  const calls = { due: 0, claimMany: 0, release: 0 };
  let tokens = 0;
  let made = 0;
  const invoices: ClaimerParts['invoices'] = {
    async due(lane, { from, until }, limit, lateMs = 0) {
      calls.due++;
      await pause(latency);
      return [...works]
        .filter(([, work]) => work.lane === lane && work.partition >= from && work.partition < until)
        .filter(([, work]) => work.dueAt <= Date.now() - lateMs)
        .sort(([, a], [, b]) => a.partition - b.partition || a.dueAt - b.dueAt)
        .slice(0, limit)
        .map(([invoiceId, { partition }]) => ({ invoiceId, slot: partition }));
    },
    async claimMany(lane, ids, leaseMs) {
      calls.claimMany++;
      await pause(latency);
      const token = `t${++tokens}`;
      const own = ids.filter((id) => works.get(id)?.lane === lane);
      const taken = own.filter((id) => (works.get(id)?.dueAt ?? Number.POSITIVE_INFINITY) <= Date.now());
      for (const id of taken) Object.assign(works.get(id) as object, { token, dueAt: Date.now() + leaseMs });
      await pause(latency);
      return taken.map((id) => ({ token, invoice: { ...template, id } }));
    },
    async release(claims) {
      calls.release++;
      await pause(latency);
      for (const { invoice, token } of claims) {
        const work = works.get(invoice.id);
        if (work?.token === token) Object.assign(work, { token: null, dueAt: Date.now() });
      }
    },
  };
  return {
    works,
    invoices,
    calls,
    add(lane: Lane, partition: number, inMs = 0): string {
      const id = `inv_${made++}`;
      works.set(id, { lane, partition, dueAt: Date.now() + inMs, token: null });
      return id;
    },
    /** Adds invoices of a tenant to the partitions that it has. */
    addOf(tenantId: string, lane: Lane, count: number, inMs = 0): string[] {
      return Array.from({ length: count }, (_, nth) => this.add(lane, slotOf({ tenantId, id: `${nth}` }, lane), inMs));
    },
    isDue: (lane: Lane) => [...works.values()].some((work) => work.lane === lane && work.dueAt <= Date.now()),
  };
}

/** A claimer of this world whose runs take `runMs(id)` and end the invoice's work. */
function worker(
  { works, invoices }: Pick<ReturnType<typeof world>, 'works' | 'invoices'>,
  runMs: (id: string) => number = () => 10,
  own: PartitionRange = ALL_PARTITIONS,
  isAnswering: (beside?: number) => boolean = () => false,
) {
  const begun: string[] = [];
  const running = new Map<Lane, number>(LANE_NAMES.map((lane) => [lane, 0]));
  const most = new Map(running);
  const started = new Map(running);
  const errors: unknown[] = [];
  const count = (lane: Lane, change: number) => {
    const now = (running.get(lane) ?? 0) + change;
    running.set(lane, now);
    most.set(lane, Math.max(now, most.get(lane) ?? 0));
  };
  const work = async (id: string) => {
    const { lane } = works.get(id) as { lane: Lane };
    begun.push(id);
    started.set(lane, (started.get(lane) ?? 0) + 1);
    count(lane, 1);
    try {
      await pause(runMs(id));
      works.delete(id);
    } finally {
      count(lane, -1);
    }
  };
  const claimer = createClaimer({
    invoices,
    ranges: { own: () => own },
    lanes: LANE_NAMES,
    run: ({ invoice }) => work(invoice.id),
    isAnswering,
    report: (_message, error) => errors.push(error),
  });
  return { claimer, begun, running, most, started, errors };
}

interface Step {
  readonly lane: Lane;
  readonly partition: number;
  readonly count: number;
  readonly inMs: number;
  readonly thenMs: number;
  readonly isWoken: boolean;
}

/** The lanes of work that somebody waits for. */
const BUSY_LANES = LANE_NAMES.filter((lane) => lane !== 'idle');

const step: fc.Arbitrary<Step> = fc.record({
  lane: fc.constantFrom(...BUSY_LANES),
  partition: fc.integer({ min: 0, max: PARTITIONS - 1 }),
  count: fc.integer({ min: 0, max: 60 }),
  inMs: fc.integer({ min: 0, max: 3000 }),
  thenMs: fc.integer({ min: 0, max: 1500 }),
  isWoken: fc.boolean(),
});

/** Runs the steps, then stops the claimer. @returns how it went, and the longest time that due work met free places */
async function play(steps: readonly Step[], runMs: number, stopMs: number) {
  const it = world();
  const made = worker(it, () => runMs);
  const { claimer, begun, running, started } = made;
  const idleSince = new Map<Lane, number>();
  /** What each lane had begun at the last ticks. */
  const history = new Map(BUSY_LANES.map((lane) => [lane, [] as number[]]));
  let longest = 0;
  const watch = setInterval(() => {
    for (const lane of BUSY_LANES) {
      const ticks = history.get(lane) ?? [];
      ticks.push(started.get(lane) ?? 0);
      // Runs that are as short as the calls of the store rarely take half of the places at the same time.
      const ofLate = (ticks.at(-1) ?? 0) - (ticks.at(-10) ?? 0);
      // While fewer than a quarter of the places is free, the claimer waits a moment for more of them.
      const taken = Math.max(running.get(lane) ?? 0, ofLate);
      const isIdle = it.isDue(lane) && taken <= LANES[lane].places / 2;
      if (!isIdle) idleSince.delete(lane);
      else idleSince.set(lane, idleSince.get(lane) ?? Date.now());
      longest = Math.max(longest, Date.now() - (idleSince.get(lane) ?? Date.now()));
    }
  }, 10);
  claimer.start();
  for (const { lane, partition, count, inMs, thenMs, isWoken } of steps) {
    for (let i = 0; i < count; i++) it.add(lane, partition, inMs);
    if (isWoken) claimer.wake(lane, { from: partition, until: partition + 1 });
    await vi.advanceTimersByTimeAsync(thenMs);
  }
  await vi.advanceTimersByTimeAsync(stopMs);
  clearInterval(watch);
  let isStopped = false;
  void claimer.stop(5000).then(() => {
    isStopped = true;
  });
  const begunUntilStop = begun.length;
  await vi.advanceTimersByTimeAsync(10_000);
  return { ...made, it, longest, isStopped, begunAfterStop: begun.length - begunUntilStop };
}

it('while clients are answered few runs begin beside them, and all places are taken as soon as they are not', async () => {
  const it = world();
  let isAnswering = true;
  const { claimer, running, begun } = worker(
    it,
    () => 100,
    ALL_PARTITIONS,
    () => isAnswering,
  );
  const { places, besideClients } = LANES.stages;
  for (let i = 0; i < 1500; i++) it.add('stages', i * 2);
  claimer.start();
  for (let i = 0; i < 50; i++) {
    await vi.advanceTimersByTimeAsync(20);
    expect(running.get('stages')).toBeLessThanOrEqual(besideClients);
  }
  // The backlog is worked off meanwhile.
  expect(begun.length).toBeGreaterThan(5 * besideClients);
  isAnswering = false;
  await vi.advanceTimersByTimeAsync(150);
  expect(running.get('stages')).toBeGreaterThan(places / 2);
  isAnswering = true;
  await vi.advanceTimersByTimeAsync(250);
  expect(it.isDue('stages')).toBe(true);
  expect(running.get('stages')).toBeLessThanOrEqual(besideClients);
  isAnswering = false;
  await vi.advanceTimersByTimeAsync(3000);
  expect(begun).toHaveLength(1500);
  void claimer.stop(1000);
  await vi.advanceTimersByTimeAsync(1000);
});

it('no due work waits while places are free, places are never exceeded, and nothing begins after the stop', async () => {
  const property = fc.asyncProperty(
    fc.array(step, { maxLength: 12 }),
    fc.integer({ min: 1, max: 800 }),
    fc.integer({ min: 0, max: 40 }),
    async (steps, runMs, stopMs) => {
      const { it, most, begun, errors, longest, isStopped, begunAfterStop } = await play(steps, runMs, stopMs);
      expect(longest).toBeLessThan(1200);
      for (const lane of LANE_NAMES) expect(most.get(lane)).toBeLessThanOrEqual(LANES[lane].places);
      expect(new Set(begun).size).toBe(begun.length);
      expect([isStopped, begunAfterStop]).toEqual([true, 0]);
      // What was not begun is in nobody's hands.
      for (const { token } of it.works.values()) expect(token).toBeNull();
      expect(errors).toEqual([]);
    },
  );
  await fc.assert(property, { numRuns: 60 });
});

it('a backlog of one tenant drains at the pace of the places, with a few commands for many invoices', async () => {
  const it = world();
  const { places } = LANES.stages;
  // Fake timers count a millisecond for each begin, so shorter runs would end before all places are taken.
  const runMs = places;
  const { claimer, begun, most } = worker(it, () => runMs);
  for (let i = 0; i < 2000; i++) it.add('stages', 7 + (i % 4));
  claimer.start();
  await vi.advanceTimersByTimeAsync(2000 * (runMs / places) * 1.5 + 1000);
  await stopped(claimer);
  expect(begun).toHaveLength(2000);
  expect(most.get('stages')).toBeGreaterThanOrEqual(places * 0.75);
  expect(it.calls.due + 2 * it.calls.claimMany).toBeLessThan(2000);
  expect(claimer.counts()).toEqual({ found: 2000, claimed: 2000 });
});

it('a tenant with 2,000 due invoices does not delay another that creates one after the other', async () => {
  const it = world();
  const waits: number[] = [];
  const made = new Map<string, number>();
  const { claimer } = worker(it, (id) => {
    const at = made.get(id);
    if (at !== undefined) waits.push(Date.now() - at);
    return 10;
  });
  for (let i = 0; i < 2000; i++) it.add('stages', 7 + (i % 4), -60_000);
  claimer.start();
  for (let i = 0; i < 20; i++) {
    made.set(it.add('stages', 3000 + (i % 4)), Date.now());
    await vi.advanceTimersByTimeAsync(25);
  }
  await vi.advanceTimersByTimeAsync(3000);
  await stopped(claimer);
  expect(waits).toHaveLength(20);
  expect(Math.max(...waits)).toBeLessThan(200);
});

it('looks rarely when nothing is due, and at once when it is woken', async () => {
  const it = world();
  const { claimer, begun } = worker(it);
  claimer.start();
  await vi.advanceTimersByTimeAsync(10_000);
  it.calls.due = 0;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(it.calls.due).toBeLessThanOrEqual(11 * LANE_NAMES.length);
  const id = it.add('mail', 5);
  expect(claimer.wake('mail', { from: 5, until: 6 })).toBe(true);
  // The last look may have been a moment ago.
  await vi.advanceTimersByTimeAsync(50);
  expect(begun).toEqual([id]);
  await stopped(claimer);
});

it('leaves the range of another worker to it, until the work is late', async () => {
  const it = world();
  const { claimer, begun } = worker(it, undefined, rangeOf(['a', 'b'], 'a'));
  const [own, others] = [it.add('stages', 0), it.add('stages', PARTITIONS - 1)];
  expect(claimer.wake('stages', { from: PARTITIONS - 1, until: PARTITIONS })).toBe(false);
  claimer.start();
  await vi.advanceTimersByTimeAsync(2900);
  expect(begun).toEqual([own]);
  // Two turns, because it may be the share of the other one first.
  await vi.advanceTimersByTimeAsync(6000);
  expect(begun).toEqual([own, others]);
  await stopped(claimer);
});

it('a worker with work of its own takes up what a slower one has no places for', async () => {
  const it = world();
  const { claimer, begun } = worker(it, undefined, rangeOf(['a', 'b'], 'a'));
  const late = Array.from({ length: 40 }, (_, i) => it.add('stages', PARTITIONS - 1 - i));
  claimer.start();
  // Ten seconds until the work is late, then several looks in each of several turns of three seconds: a worker looks every
  // two seconds, and how its looks lie in the turns depends on the time of the day.
  for (let i = 0; i < 1600; i++) {
    it.add('stages', i);
    await vi.advanceTimersByTimeAsync(15);
  }
  expect(begun).toEqual(expect.arrayContaining(late));
  await stopped(claimer);
});

/** From now on chance is the same in each run. */
function fixChance(): void {
  let state = 1;
  vi.spyOn(Math, 'random').mockImplementation(() => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  });
}

/** Found invoices that another worker was quicker to claim, as a part of those that these workers found. */
function collisionsOf(workers: readonly ReturnType<typeof worker>[]): number {
  const counts = workers.map(({ claimer }) => claimer.counts());
  const found = counts.reduce((sum, each) => sum + each.found, 0);
  return (found - counts.reduce((sum, each) => sum + each.claimed, 0)) / found;
}

it('two workers with work of their own collide in less than one case of a hundred', async () => {
  fixChance();
  const it = world();
  for (let i = 0; i < 2000; i++) it.add('stages', (i % 2 === 0 ? PARTITIONS / 2 : 0) + 17 * (i % 100));
  const workers = ['a', 'b'].map((name) => worker(it, () => 400, rangeOf(['a', 'b'], name)));
  for (const { claimer } of workers) claimer.start();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(it.works.size).toBe(0);
  for (const { begun } of workers) expect(begun.length).toBeGreaterThan(400);
  expect(collisionsOf(workers)).toBeLessThan(0.01);
  await Promise.all(workers.map(({ claimer }) => stopped(claimer)));
});

it('workers without work share the late work of another one, with collisions in less than one case of ten', async () => {
  fixChance();
  const it = world();
  const names = ['a', 'b', 'c', 'd'];
  // All of it belongs to one of four, and has been due for longer than the others leave it alone.
  for (let i = 0; i < 2000; i++) it.add('stages', (101 * (i % 40)) % (PARTITIONS / 4), -60_000);
  const workers = names.map((name) => worker(it, () => 80, rangeOf(names, name)));
  for (const { claimer } of workers) claimer.start();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(it.works.size).toBe(0);
  // Each of them has helped.
  for (const { begun } of workers) expect(begun.length).toBeGreaterThan(100);
  expect(collisionsOf(workers)).toBeLessThan(0.1);
  await Promise.all(workers.map(({ claimer }) => stopped(claimer)));
});

it('claims late invoices of its own range once, whether or not those of others are late too', async () => {
  for (const [from, until] of [
    [0, PARTITIONS / 4],
    [PARTITIONS / 4, PARTITIONS / 2],
    [(PARTITIONS * 3) / 4, PARTITIONS],
  ] as const) {
    const it = world();
    const { claimer, begun } = worker(it, undefined, { from, until });
    const added = Array.from({ length: 20 }, (_, i) => it.add('stages', from + 7 * i, -60_000));
    // These are not of the range: the last partition before it, or behind it.
    for (const partition of [from - 1, until])
      if (partition >= 0 && partition < PARTITIONS) added.push(it.add('stages', partition, -60_000));
    claimer.start();
    await vi.advanceTimersByTimeAsync(60_000);
    await stopped(claimer);
    expect(begun.toSorted()).toEqual(added.toSorted());
    expect(claimer.counts()).toEqual({ found: added.length, claimed: added.length });
  }
});

it('five invoices of a tenant begin at once behind the burst of another, which never has every place', async () => {
  const it = world();
  const { claimer, begun, most } = worker(
    it,
    () => 400,
    ALL_PARTITIONS,
    () => true,
  );
  it.addOf('ten_burst', 'stages', 300);
  claimer.start();
  await vi.advanceTimersByTimeAsync(200);
  expect(begun).toHaveLength(LANES.stages.besideClients - 8);
  const few = it.addOf('ten_few', 'stages', 5);
  claimer.wake('stages', ALL_PARTITIONS);
  await vi.advanceTimersByTimeAsync(100);
  expect(begun).toEqual(expect.arrayContaining(few));
  await vi.advanceTimersByTimeAsync(2000);
  expect(most.get('stages')).toBeLessThanOrEqual(LANES.stages.besideClients - 8 + few.length);
  // Looks that would find nothing but the burst, while it has all the places that it may have, are few.
  expect(it.calls.due).toBeLessThan(400);
  await stopped(claimer);
});

it('behind slow runs of a tenant that has as many places as it may, others find theirs without a wake', async () => {
  const it = world();
  const { claimer, begun } = worker(it, () => 20_000);
  it.addOf('ten_slow', 'signing', 25);
  claimer.start();
  const later = it.addOf('ten_few', 'signing', 1, 2000);
  await vi.advanceTimersByTimeAsync(3500);
  expect(begun).toEqual(expect.arrayContaining(later));
  await stopped(claimer);
});

it('the places that are left to others are taken again as soon as one of their runs ends', async () => {
  const it = world();
  const slow = new Set<string>();
  const { claimer, begun } = worker(it, (id) => (slow.has(id) ? 20_000 : 100));
  for (const id of it.addOf('ten_slow', 'signing', 60)) slow.add(id);
  claimer.start();
  await vi.advanceTimersByTimeAsync(500);
  const few = it.addOf('ten_few', 'signing', 10);
  claimer.wake('signing', ALL_PARTITIONS);
  await vi.advanceTimersByTimeAsync(300);
  expect(begun).toEqual(expect.arrayContaining(few));
  await stopped(claimer);
});

it('wakes for a tenant that has as many places as it may cause no look, and the end of one of its runs does', async () => {
  const it = world();
  const { claimer, begun } = worker(it, () => 10_000);
  it.addOf('ten_slow', 'signing', 60);
  claimer.start();
  await vi.advanceTimersByTimeAsync(3000);
  it.calls.due = 0;
  const [own = 0] = [...it.works.values()].map(({ partition }) => partition);
  for (let n = 0; n < 100; n++) {
    claimer.wake('signing', { from: own, until: slotAfter(own) });
    await vi.advanceTimersByTimeAsync(10);
  }
  // One look of each lane in a second, and in this one a query for each slot of the tenant and the rest.
  expect(it.calls.due).toBeLessThan(LANE_NAMES.length + 10);
  const mostOfOne = LANES.signing.places - 8;
  expect(begun).toHaveLength(mostOfOne);
  await vi.advanceTimersByTimeAsync(6500);
  expect(begun).toHaveLength(2 * mostOfOne);
  await stopped(claimer);
});

it('the looks of a burst take several freed places at once', async () => {
  const it = world();
  const { claimer, begun } = worker(it, (id) => 100 + (Number(id.slice(4)) % 50));
  it.addOf('ten_burst', 'signing', 1000);
  claimer.start();
  await vi.advanceTimersByTimeAsync(7000);
  expect(begun).toHaveLength(1000);
  expect(it.calls.claimMany).toBeLessThan(400);
  await stopped(claimer);
});

it('a tenant leaves places to others when it is late in the range of another worker, too', async () => {
  const it = world();
  const { claimer, begun, most } = worker(it, () => 3000, rangeOf(['a', 'b'], 'a'));
  const slow = it.addOf('ten_slow', 'signing', 60);
  claimer.start();
  // Its own half is done, so that it takes up the other half.
  await vi.advanceTimersByTimeAsync(9000);
  expect(begun.length).toBeGreaterThan(40);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(begun).toEqual(expect.arrayContaining(slow));
  expect(most.get('signing')).toBe(LANES.signing.places - 8);
  await stopped(claimer);
});

it('a PDF waits for one of each tenant before it, not for what they can have at the same time', async () => {
  const it = world();
  const { claimer, begun } = worker(it, () => 60);
  for (let tenant = 0; tenant < 25; tenant++) for (let i = 0; i < 16; i++) it.add('documents', tenant * 100);
  claimer.start();
  await vi.advanceTimersByTimeAsync(500);
  const asked = it.add('documents', 2600);
  const before = begun.length;
  for (let ms = 0; ms < 10_000 && !begun.includes(asked); ms += 20) await vi.advanceTimersByTimeAsync(20);
  expect(begun.indexOf(asked) - before).toBeLessThan(2 * 25);
  await stopped(claimer);
});

describe('a tenant with a backlog', () => {
  /** Runs 500 invoices of 100 ms of a tenant while clients of this tenant are answered. */
  async function burst(answered: string) {
    const it = world();
    const made = worker(
      it,
      () => 100,
      ALL_PARTITIONS,
      (beside) => beside !== tenantNumber(answered),
    );
    it.addOf('ten_burst', 'stages', 500);
    const at: number[] = [];
    made.claimer.start();
    while (made.begun.length < 500 || made.running.get('stages') !== 0) {
      await vi.advanceTimersByTimeAsync(1);
      at.push(made.running.get('stages') ?? 0);
    }
    return { at, ...it, ...made };
  }
  const [OF_ALL, LEFT] = [LANES.stages.besideClients, 8];

  it('rests most of the time while clients of others are answered', async () => {
    const { at, most, claimer } = await burst('ten_shop');
    expect(most.get('stages')).toBe(OF_ALL - LEFT);
    const resting = at.filter((running) => running === 0).length / at.length;
    expect(resting).toBeGreaterThan(0.7);
    expect(resting).toBeLessThan(0.85);
    void claimer.stop(0);
  });

  it('does not rest while only its own clients are answered', async () => {
    const { at, claimer } = await burst('ten_burst');
    expect(at.filter((running) => running === 0).length / at.length).toBeLessThan(0.1);
    void claimer.stop(0);
  });

  it('does not rest because a single one of its invoices is slow', async () => {
    const it = world();
    const { claimer, begun } = worker(
      it,
      (id) => (id === 'inv_0' ? 60_000 : 100),
      ALL_PARTITIONS,
      () => true,
    );
    it.addOf('ten_burst', 'stages', 500);
    claimer.start();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(begun).toHaveLength(500);
    void claimer.stop(0);
  });

  it.each([
    ['fails', () => Promise.reject(new Error('away'))],
    ['was slower than another worker', () => Promise.resolve([])],
  ])('goes on when the claim of its turn %s', async (_what, once) => {
    const it = world();
    const claimMany = vi.spyOn(it.invoices, 'claimMany').mockImplementationOnce(once);
    const { claimer, begun } = worker(
      it,
      () => 100,
      ALL_PARTITIONS,
      () => true,
    );
    it.addOf('ten_burst', 'stages', 100);
    claimer.start();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(claimMany.mock.calls.length).toBeGreaterThan(1);
    expect(begun).toHaveLength(100);
    void claimer.stop(0);
  });

  it('is not looked for again and again while the store refuses', async () => {
    const it = world();
    const { claimer, errors } = worker(
      it,
      () => 100,
      ALL_PARTITIONS,
      () => true,
    );
    it.addOf('ten_burst', 'stages', 500);
    claimer.start();
    await vi.advanceTimersByTimeAsync(1000);
    vi.spyOn(it.invoices, 'due').mockRejectedValue(new Error('away'));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(errors.length).toBeLessThan(200);
    void claimer.stop(0);
  });

  it('leaves places to an invoice of another tenant, which begins at once in its turn and in its rest', async () => {
    const it = world();
    const { claimer, begun, running } = worker(
      it,
      () => 100,
      ALL_PARTITIONS,
      () => true,
    );
    it.addOf('ten_burst', 'stages', 500);
    claimer.start();
    const states = new Set<boolean>();
    for (let nth = 0; nth < 20; nth++) {
      await vi.advanceTimersByTimeAsync(103);
      if (nth % 4 === 0) await vi.advanceTimersByTimeAsync(900);
      states.add(running.get('stages') === 0);
      const slot = slotOf({ tenantId: 'ten_shop', id: `${nth}` }, 'stages');
      const id = it.add('stages', slot);
      claimer.wake('stages', { from: slot, until: slotAfter(slot) });
      // Two looks and the pause between them: the first one may have been under way.
      await vi.advanceTimersByTimeAsync(100);
      expect(begun).toContain(id);
    }
    expect(states).toEqual(new Set([true, false]));
    expect(it.isDue('stages')).toBe(true);
    void claimer.stop(0);
  });
});

it('a tenant that is alone has every place', async () => {
  const it = world();
  const { claimer, most } = worker(it, () => 60);
  for (let i = 0; i < 100; i++) it.add('documents', 7);
  claimer.start();
  await vi.advanceTimersByTimeAsync(1000);
  expect(most.get('documents')).toBe(LANES.documents.places);
  await stopped(claimer);
});

it('goes on after a failure of the store and of a run', async () => {
  const it = world();
  let failures = 3;
  const due: ClaimerParts['invoices']['due'] = async (...query) => {
    if (failures-- > 0) throw new Error('store');
    return it.invoices.due(...query);
  };
  const { claimer, begun, errors } = worker({ ...it, invoices: { ...it.invoices, due } }, () => {
    throw new Error('defect');
  });
  const id = it.add('stages', 1);
  claimer.start();
  await vi.advanceTimersByTimeAsync(LEASE_MS + 3000);
  // The lease of the failed run ended, so that it was run again.
  expect(begun.slice(0, 2)).toEqual([id, id]);
  expect(errors.map(String)).toEqual(expect.arrayContaining(['Error: store', 'Error: defect']));
  await stopped(claimer);
});

it('a run whose lease has lapsed is not claimed again by its own process', async () => {
  const it = world();
  const { claimer, begun } = worker(it, () => 3 * LEASE_MS);
  const id = it.add('stages', 1);
  claimer.start();
  await vi.advanceTimersByTimeAsync(2.5 * LEASE_MS);
  expect(it.isDue('stages')).toBe(true);
  expect(begun).toEqual([id]);
  expect(claimer.counts()).toEqual({ found: 1, claimed: 1 });
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  await stopped(claimer);
});

it('while the store refuses its claims, a lane with a backlog looks less and less often', async () => {
  const it = world();
  const claimMany = async () => {
    throw new Error('store');
  };
  const { claimer, errors } = worker({ ...it, invoices: { ...it.invoices, claimMany } });
  for (let i = 0; i < 500; i++) it.add('stages', i);
  claimer.start();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(errors.length).toBeGreaterThan(5);
  expect(errors.length).toBeLessThan(20);
  await stopped(claimer);
});

it('idle work is taken up one at a time while nothing else runs, and at once after that', async () => {
  const it = world();
  const { claimer, begun, most } = worker(it, (id) => (id === 'inv_0' ? 4000 : 300));
  it.add('stages', 1);
  for (let i = 0; i < 5; i++) it.add('idle', i * 500);
  claimer.start();
  await vi.advanceTimersByTimeAsync(4900);
  expect(begun).toEqual(['inv_0']);
  await vi.advanceTimersByTimeAsync(3500);
  expect(begun).toHaveLength(6);
  expect(most.get('idle')).toBe(1);
  await stopped(claimer);
});

it('a process that was held up for a second was not idle', async () => {
  const it = world();
  const { claimer, begun } = worker(it);
  const now = performance.now.bind(performance);
  let heldUpMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now() + heldUpMs);
  it.add('idle', 0);
  claimer.start();
  await vi.advanceTimersByTimeAsync(500);
  heldUpMs = 1500;
  await vi.advanceTimersByTimeAsync(900);
  expect(begun).toEqual([]);
  await vi.advanceTimersByTimeAsync(2000);
  expect(begun).toHaveLength(1);
  await stopped(claimer);
});

it('idle work of ten minutes ago is taken up in a busy process, which rests as long as it took', async () => {
  const it = world();
  const busy = it.add('stages', 1);
  const { claimer, begun } = worker(it, (id) => (id === busy ? 4100 : 500));
  for (let i = 0; i < 8; i++) it.add('idle', i * 500, -11 * 60_000);
  claimer.start();
  await vi.advanceTimersByTimeAsync(4100);
  expect(begun.length).toBeGreaterThanOrEqual(1 + 3);
  expect(begun.length).toBeLessThanOrEqual(1 + 5);
  await vi.advanceTimersByTimeAsync(6000);
  expect(begun).toHaveLength(1 + 8);
  await stopped(claimer);
});

/** A claimer of live transmissions alone, with a gate that lets in as many as it is told. */
function gated(it: ReturnType<typeof world>, callMs: () => number) {
  const facts = { places: 0, atOnce: 0, most: 0 };
  const reserved = new Set<string>();
  const begun: string[] = [];
  let changed: () => void = () => undefined;
  const claimer = createClaimer({
    invoices: it.invoices,
    ranges: { own: () => ALL_PARTITIONS },
    lanes: ['transmissions'],
    gates: {
      transmissions: {
        places: () => facts.places,
        free: () => facts.places - reserved.size,
        async reserve(invoiceId) {
          if (reserved.size >= facts.places) return false;
          reserved.add(invoiceId);
          return true;
        },
        cancel: (invoiceId) => void reserved.delete(invoiceId),
        onChange: (listener) => {
          changed = listener;
        },
      },
    },
    async run({ invoice }) {
      begun.push(invoice.id);
      expect(reserved.has(invoice.id)).toBe(true);
      facts.most = Math.max(facts.most, ++facts.atOnce);
      await pause(callMs());
      facts.atOnce--;
      it.works.delete(invoice.id);
    },
    isAnswering: () => false,
    report: (_message, error) => expect.unreachable(String(error)),
  });
  return { claimer, facts, begun, reserved, change: () => changed() };
}

it('a lane whose gate is shut asks the store for nothing, and takes up what waits as the gate opens, by turns and age', async () => {
  const it = world();
  const { claimer, facts, begun, reserved, change } = gated(it, () => 100);
  const old = Array.from({ length: 40 }, (_, i) => it.add('transmissions', 7, i - 60_000));
  for (let i = 0; i < 2000; i++) it.add('transmissions', 100 + (i % 5));
  claimer.start();
  for (let second = 0; second < 60; second++) {
    await vi.advanceTimersByTimeAsync(1000);
    change();
  }
  expect([it.calls, begun]).toEqual([{ due: 0, claimMany: 0, release: 0 }, []]);
  facts.places = 3;
  change();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(facts.most).toBe(3);
  expect(begun.filter((id) => old.includes(id))).toEqual(old);
  // Six tenants in turn.
  expect(begun.indexOf(old.at(-1) as string)).toBeLessThan(6 * (old.length + 3));
  expect(begun.length).toBeGreaterThan(300);
  // A search for each turn of a tenant, and each finds no more than there are places for.
  expect(it.calls.due).toBeLessThan(3 * begun.length);
  facts.places = 0;
  await vi.advanceTimersByTimeAsync(1000);
  const before = { ...it.calls };
  await vi.advanceTimersByTimeAsync(60_000);
  expect([it.calls, reserved.size]).toEqual([before, 0]);
  await stopped(claimer);
});

it.each([3, 4])('two tenants share the %i places of a gate, however much each of them has', async (places) => {
  const it = world();
  // The calls that are under way end together, so that several places become free at once.
  const { claimer, facts, begun } = gated(it, () => 200 - (Date.now() % 200));
  for (let i = 0; i < 37; i++) it.add('transmissions', 7, i - 60_000);
  const small = Array.from({ length: 6 }, (_, i) => it.add('transmissions', 2000, i - 60_000));
  facts.places = places;
  claimer.start();
  await vi.advanceTimersByTimeAsync(10_000);
  await stopped(claimer);
  expect(begun).toHaveLength(43);
  expect(begun.indexOf(small[5] as string)).toBeLessThan(2 * small.length + 1);
});

it('a place that was taken for an invoice that another worker was quicker to claim is free again', async () => {
  const it = world();
  const claimMany: ClaimerParts['invoices']['claimMany'] = async () => [];
  const { claimer, facts, reserved } = gated({ ...it, invoices: { ...it.invoices, claimMany } }, () => 100);
  facts.places = 2;
  for (let i = 0; i < 10; i++) it.add('transmissions', i);
  claimer.start();
  await vi.advanceTimersByTimeAsync(5000);
  await stopped(claimer);
  expect(reserved.size).toBe(0);
});
