import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Agenda } from 'agenda';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { NEW_WORK } from '../../src/domain/invoice/invoice.ts';
import { LANE_NAMES, LANES, type Lane, laneOf, PARTITIONS, slotOf } from '../../src/domain/invoice/lanes.ts';
import type { Stage } from '../../src/domain/invoice/lifecycle.ts';
import type { QueuedInvoice } from '../../src/domain/invoice/stage-queue.ts';
import type { Environment } from '../../src/domain/tenant/tenant.ts';
import { createJobs, type Jobs, type JobsParts } from '../../src/jobs/agenda.ts';
import { COLD_LOOKS } from '../../src/jobs/claimer.ts';
import { JOBS_COLLECTION } from '../../src/jobs/job-documents.ts';
import { WAITS_A_SECOND, WAKE_MS } from '../../src/jobs/stage-jobs.ts';
import { createClaimMembers } from '../../src/storage/claim-members.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { pendingInvoice } from '../support/invoices.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { firstOf } from '../support/samples.ts';

let mongo: TestMongo;
let store: Store;

beforeAll(async () => {
  mongo = await startTestMongo();
});
afterAll(() => mongo.close());
const stops: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  store = await connect(mongo.uri, freshDbName('jobs'));
  return async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
    await store.db.dropDatabase();
    await store.close();
  };
});

const SINCE = new Date();

/** The invoices with work that nobody has claimed. */
const waiting = new Map<string, { readonly lane: Lane; readonly slot: number; readonly dueAt: number }>();
beforeEach(() => waiting.clear());

/** The input of `enqueue` for an invoice, by default one that is to be rendered. */
function queuedInvoice(id: string, stage: Stage = 'render', environment: Environment = 'test', since = SINCE) {
  const work = { ...NEW_WORK, stage, dueAt: since, claims: 0, since };
  return { id, tenantId: 'ten_1', environment, work } satisfies QueuedInvoice;
}

/** Stores that the invoice is due in so many milliseconds. */
function makeDue(invoice: ReturnType<typeof queuedInvoice>, inMs = 0): void {
  const lane = laneOf(invoice.environment, invoice.work) as Lane;
  waiting.set(invoice.id, { lane, slot: slotOf(invoice, lane), dueAt: Date.now() + inMs });
}

interface Options extends Partial<Pick<JobsParts, 'soleWorker' | 'pauses'>> {
  /** Whether it takes up late work of others; default true. */
  readonly isHelpful?: boolean;
}

/** A process whose worker, when it is started, claims the invoices in `waiting` and runs each. */
async function worker(run: (invoiceId: string) => Promise<void>, options: Options = {}) {
  const { isHelpful = true, soleWorker = false, ...pauses } = options;
  const complaints: string[] = [];
  /** Looks in a row, in the lane of PDFs, that found nothing. */
  let vain = 0;
  const jobs = await createJobs({
    db: store.db,
    lanes: LANE_NAMES,
    invoices: {
      async due(lane, { from, until }, limit, lateMs = 0) {
        if (lateMs > 0 && !isHelpful) return [];
        const found = [...waiting]
          .filter(([, each]) => each.lane === lane && each.slot >= from && each.slot < until)
          .filter(([, { dueAt }]) => dueAt <= Date.now() - lateMs)
          .sort(([, a], [, b]) => a.slot - b.slot)
          .slice(0, limit)
          .map(([invoiceId, { slot }]) => ({ invoiceId, slot }));
        const isNewLook = lane === 'documents' && until % (PARTITIONS / 2) === 0;
        if (isNewLook) vain = found.length > 0 ? 0 : vain + 1;
        return found;
      },
      claimMany: async (_lane, ids) =>
        ids.filter((id) => waiting.delete(id)).map((id) => ({ token: 'any', invoice: pendingInvoice({ id }) })),
      release: async () => undefined,
    },
    members: createClaimMembers(store.db),
    report: (message, error) => complaints.push(`${message}: ${error}`),
    soleWorker,
    ...pauses,
    isAnswering: () => false,
  });
  // Of a failed test it would take the invoices of the next one.
  stops.push(() => jobs.stop(5000));
  return {
    jobs,
    complaints,
    start: () => jobs.startWorker({ runClaimed: ({ invoice }) => run(invoice.id) }),
    /** Resolves when the pause after its last look is the longest. */
    untilCold: () => expect.poll(() => vain).toBeGreaterThanOrEqual(COLD_LOOKS),
  };
}

const stored = () => store.db.collection(JOBS_COLLECTION);
const queued = () => stored().countDocuments();
const names = (count: number) => Array.from({ length: count }, (_, i) => `inv_${i}`);

/** Stores that these invoices are due in so many milliseconds, and queues them as a stage does. */
async function enqueueAll(jobs: Jobs, ids: readonly string[], inMs = 0): Promise<void> {
  for (const id of ids) {
    makeDue(queuedInvoice(id), inMs);
    await jobs.queue.enqueue(queuedInvoice(id), inMs);
  }
}

it('invoices without a job, or whose job is locked by an ended worker, are found by the claimer', async () => {
  const ran: string[] = [];
  const lost = ['inv_lost', 'inv_locked', 'inv_running'];
  const { jobs, start } = await worker(async (id) => void ran.push(id));
  makeDue(queuedInvoice('inv_lost'));
  await enqueueAll(jobs, ['inv_locked', 'inv_running'], 1);
  const lock = { lastModifiedBy: 'fatoura-dead', lockedAt: new Date(Date.now() - 4500) };
  await stored().updateOne({ 'data.invoiceId': 'inv_locked' }, { $set: lock });
  await stored().updateOne({ 'data.invoiceId': 'inv_running' }, { $set: { ...lock, nextRunAt: null } });
  await start();
  // Long before the locks expire.
  await expect.poll(() => ran.toSorted()).toEqual(lost.toSorted());
  await jobs.stop(30_000);
});

it('a job only wakes: it takes no place, ends while its invoice waits for one, and the claimer runs the invoice', async () => {
  const gate = Promise.withResolvers<void>();
  const begun: string[] = [];
  const { jobs, complaints, start } = await worker(async (id) => {
    begun.push(id);
    await gate.promise;
  });
  await enqueueAll(jobs, names(6), 50);
  expect(await queued()).toBe(6);
  await start();
  await expect.poll(queued).toBe(0);
  await expect.poll(() => begun.length).toBe(LANES.documents.places);
  gate.resolve();
  await expect.poll(() => begun.toSorted()).toEqual(names(6));
  await jobs.stop(30_000);
  expect(complaints).toEqual([]);
});

it('what is due now has no job where its own worker queues it', async () => {
  const ran: string[] = [];
  const { jobs, start } = await worker(async (id) => void ran.push(id), { soleWorker: true });
  await start();
  const inserted: unknown[] = [];
  const stream = stored().watch([{ $match: { operationType: { $in: ['insert'] } } }]);
  stream.on('change', (change) => inserted.push(change));
  // The server has opened it.
  await once(stream, 'resumeTokenChanged');
  await enqueueAll(jobs, names(20));
  await expect.poll(() => ran.toSorted()).toEqual(names(20).toSorted());
  // Proves that the stream works.
  await jobs.queue.enqueue(queuedInvoice('inv_later'), 3_600_000);
  await expect.poll(() => inserted.length).toBe(1);
  await stream.close();
  await jobs.stop(30_000);
});

it('an invoice has one job for its next work, however often and by whichever process it is queued', async () => {
  const workers = [await worker(async () => {}), await worker(async () => {})];
  const queue = (i: number) => workers[i % 2]?.jobs.queue.enqueue(queuedInvoice('inv_1'), i + 1);
  await Promise.all(Array.from({ length: 20 }, (_, i) => queue(i)));
  expect(await queued()).toBe(1);
  // The job of a failed attempt still exists when the retry is queued.
  const retry = queuedInvoice('inv_1', 'render', 'test', new Date(SINCE.getTime() + 1));
  await workers[0]?.jobs.queue.enqueue(retry, 1);
  expect(await queued()).toBe(2);
  expect(workers.flatMap(({ complaints }) => complaints)).toEqual([]);
});

it('a due invoice is run by the worker to whom its partition belongs, and by no other', async () => {
  const ran = [new Set<string>(), new Set<string>()];
  const workers = await Promise.all(ran.map((mine) => worker(async (id) => void mine.add(id), { isHelpful: false })));
  for (const { start } of workers) await start();
  await expect.poll(() => workers.map(({ jobs }) => jobs.workers())).toEqual([2, 2]);
  const byPartition = new Map<number, number[]>();
  for (const id of names(60)) {
    await enqueueAll(workers[0]!.jobs, [id]);
    await expect.poll(() => ran.some((each) => each.has(id)), { interval: 5 }).toBe(true);
    const partition = Math.floor(slotOf({ tenantId: 'ten_1', id }, 'stages'));
    const takers = byPartition.get(partition) ?? [0, 0];
    takers[ran[0]!.has(id) ? 0 : 1]!++;
    byPartition.set(partition, takers);
  }
  await Promise.all(workers.map(({ jobs }) => jobs.stop(5000)));
  const takers = [...byPartition.values()];
  for (const [first = 0, second = 0] of takers) expect(Math.min(first, second)).toBe(0);
  expect(new Set(takers.map(([first = 0, second = 0]) => first > second)).size).toBe(2);
});

it('at its start, a sole worker unlocks the jobs of an ended worker, and removes those that were running', async () => {
  const { jobs, start } = await worker(async () => {}, { soleWorker: true });
  const now = new Date();
  const job = { name: 'invoice.sign', priority: 0, type: 'normal', lastModifiedBy: 'fatoura-dead', lockedAt: now };
  await stored().insertMany([
    { ...job, data: { invoiceId: 'inv_locked' }, nextRunAt: now },
    { ...job, data: { invoiceId: 'inv_begun' }, nextRunAt: null },
  ]);
  await start();
  // Long before the locks expire.
  await expect.poll(queued).toBe(0);
  await jobs.stop(30_000);
});

it('a stop waits for running invoices, begins no others, and unlocks the jobs for other processes', async () => {
  const ids = names(12);
  const begun: string[] = [];
  const ended: string[] = [];
  const gate = Promise.withResolvers<void>();
  const pauses = { jobsMs: 600_000, invoicesMs: 1000 };
  const run = async (id: string) => {
    begun.push(id);
    await gate.promise;
    ended.push(id);
  };
  const { jobs, complaints, start } = await worker(run, { pauses });
  const locked = () => stored().countDocuments({ lockedAt: { $ne: null } });
  await enqueueAll(jobs, ids);
  // Due soon enough to be locked at the first search, and late enough to be stopped before.
  for (const id of ['inv_later', 'inv_even_later']) await jobs.queue.enqueue(queuedInvoice(id), 500_000);
  await start();
  await expect.poll(async () => [begun.length, await locked()]).toEqual([LANES.documents.places, 2]);
  const stopped = jobs.stop(30_000);
  await sleep(100);
  expect(ended).toEqual([]);
  gate.resolve();
  await stopped;
  expect(begun).toHaveLength(LANES.documents.places);
  expect(ended.sort()).toEqual(begun.sort());
  expect(waiting.size).toBe(12 - LANES.documents.places);
  const left = await stored().find({ name: 'invoice.render' }).toArray();
  expect(left.map(({ lockedAt }) => lockedAt ?? null)).toEqual([null, null]);
  expect(complaints).toEqual([]);
});

it('a stop during a search waits until the job that it finds is unlocked', async () => {
  const { jobs, complaints, start } = await worker(async () => undefined);
  const { search, unlock } = slowly(jobs.agenda);
  await jobs.queue.enqueue(queuedInvoice('inv_found'), 1000);
  await start();
  await search.begun;
  let isStopped = false;
  const stopped = jobs.stop(30_000).then(() => {
    isStopped = true;
  });
  await sleep(100);
  search.goOn();
  await unlock.begun;
  await sleep(100);
  expect(isStopped).toBe(false);
  unlock.goOn();
  await stopped;
  expect(await stored().countDocuments({ lockedAt: { $ne: null } })).toBe(0);
  expect(complaints).toEqual([]);
});

it('an unlocking that fails during a stop is reported', async () => {
  const { jobs, complaints, start } = await worker(async () => undefined);
  const { search, unlock } = slowly(jobs.agenda);
  await jobs.queue.enqueue(queuedInvoice('inv_found'), 1000);
  await start();
  await search.begun;
  const stopped = jobs.stop(30_000);
  search.goOn();
  await unlock.begun;
  unlock.fail(new Error('the store is away'));
  await stopped;
  expect(complaints).toEqual([expect.stringMatching(/could not be unlocked: Error: the store is away/)]);
});

/** Holds Agenda's search that finds a job after the store has locked it, and Agenda's unlocking before the store is asked. */
function slowly({ db }: Agenda) {
  // The repository's collection: what Agenda asks of the store.
  const { collection } = db as unknown as { collection: Record<string, (...words: unknown[]) => Promise<unknown>> };
  const [search, unlock] = [held(), held()];
  const find = collection.findOneAndUpdate!.bind(collection);
  collection.findOneAndUpdate = async (...words) => {
    const found = await find(...words);
    if (found !== null) await search.reached();
    return found;
  };
  const update = collection.updateOne!.bind(collection);
  collection.updateOne = async (...words) => {
    await unlock.reached();
    return update(...words);
  };
  return { search, unlock };
}

function held() {
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  return {
    begun: begun.promise,
    goOn: () => gate.resolve(),
    fail: (error: Error) => gate.reject(error),
    reached() {
      begun.resolve();
      return gate.promise;
    },
  };
}

it.each(['normalize', 'sign', 'transmit', 'decide', 'receipt'] as const)(
  'live invoices that wait for a slow authority at %s hold no place of a test invoice',
  async (stage) => {
    const slow = Promise.withResolvers<void>();
    const ran: string[] = [];
    const { jobs, complaints, start } = await worker(async (id) => {
      if (id.startsWith('inv_live')) await slow.promise;
      else ran.push(id);
    });
    const queue = async (invoice: ReturnType<typeof queuedInvoice>) => {
      makeDue(invoice);
      await jobs.queue.enqueue(invoice, 0);
    };
    for (let i = 0; i < 33; i++) await queue(queuedInvoice(`inv_live_${i}`, stage, 'live'));
    await start();
    await queue(queuedInvoice('inv_test', stage));
    await expect.poll(() => ran).toEqual(['inv_test']);
    slow.resolve();
    await expect.poll(() => waiting.size).toBe(0);
    await jobs.stop(30_000);
    expect(complaints).toEqual([]);
  },
);

const HOUR_MS = 3_600_000;
/** With these a worker that is cold runs only what it is told of. */
const TOLD_ONLY = { jobsMs: HOUR_MS, invoicesMs: HOUR_MS };
/**
 * With these it runs only what a job wakes it for. Agenda's timer may fire a millisecond before the job's time, and the
 * job then waits for the next search.
 */
const JOBS_ONLY = { jobsMs: 500, invoicesMs: HOUR_MS };

/**
 * Invoices that are added while the workers are cold, which takes them seconds each time. One more than have to be heard
 * of in time: a stall of the machine may move the partitions to another worker at that moment.
 */
const ADDED = firstOf(names(5), 3);

type Worker = Awaited<ReturnType<typeof worker>>;

/** Starts these workers of PDFs. @returns when each of them hears what `api` says */
async function startHearing(api: Jobs, workers: readonly (Worker & { readonly ran: Set<string> })[]): Promise<void> {
  for (const { start } of workers) await start();
  await expect.poll(() => workers.map(({ jobs }) => jobs.workers())).toEqual(workers.map(() => workers.length));
  await Promise.all(workers.map(({ untilCold }) => untilCold()));
  for (const { ran } of workers) ran.clear();
  let asked = 0;
  const haveRun = async () => {
    await enqueueAll(api, [`inv_asked_${asked++}`]);
    return workers.every(({ ran }) => ran.size > 0);
  };
  await expect.poll(haveRun).toBe(true);
  await expect.poll(() => waiting.size).toBe(0);
}

/**
 * Adds invoices one by one, each while the workers are cold, and waits until it has run.
 * @returns how long each took, milliseconds
 */
async function addToCold(workers: readonly (Worker & { readonly ran: Set<string> })[], add: (id: string) => unknown) {
  const tookMs: number[] = [];
  for (const id of ADDED) {
    await Promise.all(workers.map(({ untilCold }) => untilCold()));
    const startedAt = performance.now();
    await add(id);
    await expect.poll(() => workers.some(({ ran }) => ran.has(id))).toBe(true);
    tookMs.push(performance.now() - startedAt);
  }
  return tookMs;
}

/** A worker with the invoices that it has run. */
async function counted(pauses: JobsParts['pauses'] = TOLD_ONLY) {
  const ran = new Set<string>();
  return { ran, ...(await worker(async (id) => void ran.add(id), { pauses, isHelpful: false })) };
}

it('few jobs tell of many due invoices; they wake the worker to whom those belong, and are removed', async () => {
  const api = await worker(async () => {});
  const startedAt = performance.now();
  await enqueueAll(api.jobs, names(200));
  const turns = Math.floor((performance.now() - startedAt) / WAKE_MS) + 2;
  const wakes = await stored().find().toArray();
  expect(new Set(wakes.map(({ name }) => name))).toEqual(new Set(['invoices.due']));
  // The partitions of one tenant are in four ranges.
  expect(wakes.length).toBeLessThanOrEqual(4 * turns);
  const other = await counted();
  await startHearing(api.jobs, [other]);
  await addToCold([other], (id) => enqueueAll(api.jobs, [id]));
  await expect.poll(queued).toBe(0);
  await Promise.all([api, other].map(({ jobs }) => jobs.stop(5000)));
  expect([...api.complaints, ...other.complaints]).toEqual([]);
});

it.each([
  ['as it hears of it', 20_000, 300],
  ['at a search', JOBS_ONLY.jobsMs, 1000],
])('a job wakes the worker of its invoice on time, whichever worker has locked it: %s', async (_, jobsMs, inMs) => {
  const api = await worker(async () => {});
  const pauses = { jobsMs, invoicesMs: HOUR_MS };
  const workers = [await counted(pauses), await counted(pauses)];
  await startHearing(api.jobs, workers);
  const tookMs = await addToCold(workers, (id) => enqueueAll(api.jobs, [id], inMs));
  // After a search the next one comes 20 s later, so a search alone finds at most one sooner.
  expect(tookMs.toSorted((a, b) => a - b)[1]).toBeLessThan(10_000);
  const all = [api, ...workers];
  await Promise.all(all.map(({ jobs }) => jobs.stop(5000)));
  expect(all.flatMap(({ complaints }) => complaints)).toEqual([]);
});

it('waits beyond some in a second share a job, which wakes the worker at the end of the second in which they are due', async () => {
  const [api, other] = [await worker(async () => {}), await counted(JOBS_ONLY)];
  await startHearing(api.jobs, [other]);
  let far = 0;
  await addToCold([other], async (id) => {
    const [now, since] = [Date.now(), performance.now()];
    // All within one second, however slow the store is.
    const clock = vi.spyOn(Date, 'now').mockReturnValue(now);
    for (let i = 0; i < 3 * WAITS_A_SECOND; i++)
      await api.jobs.queue.enqueue(queuedInvoice(`inv_far_${far++}`), 2 * HOUR_MS);
    // By the time that passes: while it stands still, a worker that is woken finds nothing due.
    const second = 1000 * Math.ceil((now + performance.now() - since) / 1000 + 1);
    await enqueueAll(api.jobs, [id], second + 100 - now);
    clock.mockRestore();
    await expect.poll(() => other.ran.has(id)).toBe(true);
    expect(Date.now()).toBeGreaterThan(second + 900);
  });
  // Those of the far waits: the one that woke the worker is removed only now.
  const later = { name: 'invoice.render', nextRunAt: { $gt: new Date(Date.now() + HOUR_MS) } };
  const kept = await stored().find(later).toArray();
  const shared = kept.filter(({ data }) => data.invoiceId === undefined);
  expect(kept.length - shared.length).toBe(ADDED.length * WAITS_A_SECOND);
  // Those of each of the four ranges that a tenant has.
  expect(shared.length).toBeGreaterThanOrEqual(ADDED.length);
  expect(shared.length).toBeLessThanOrEqual(ADDED.length * 4);
  await Promise.all([api, other].map(({ jobs }) => jobs.stop(5000)));
  expect([...api.complaints, ...other.complaints]).toEqual([]);
});
