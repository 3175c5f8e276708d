import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { NEW_WORK } from '../../src/domain/invoice/invoice.ts';
import { slotOf } from '../../src/domain/invoice/lanes.ts';
import type { QueuedInvoice } from '../../src/domain/invoice/repository.ts';
import { createJobs, type Jobs } from '../../src/jobs/agenda.ts';
import { JOBS_COLLECTION } from '../../src/jobs/stage-jobs.ts';
import { createClaimMembers } from '../../src/storage/claim-members.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { pendingInvoice } from '../support/invoices.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

let mongo: TestMongo;
let store: Store;

beforeAll(async () => {
  mongo = await startTestMongo();
});
afterAll(() => mongo.close());
beforeEach(async () => {
  store = await connect(mongo.uri, freshDbName('jobs'));
  return async () => {
    await store.db.dropDatabase();
    await store.close();
  };
});

const SINCE = new Date();

/** The input of `enqueue` for an invoice that is to be rendered. */
const toRender = (id: string, since = SINCE): QueuedInvoice => ({
  ...{ id, tenantId: 'ten_1', environment: 'test' },
  work: { ...NEW_WORK, stage: 'render', dueAt: since, claims: 0, since },
});

/** A worker whose claimer finds these invoices at stage `render`, each until it is run. */
async function worker(due: string[], run: (invoiceId: string) => Promise<void>, soleWorker = false, jobRate = 1000) {
  const complaints: string[] = [];
  const left = new Set(due);
  const jobs = await createJobs({
    db: store.db,
    invoices: {
      async due(lane, { from }, limit) {
        const ids = lane === 'documents' && from === 0 ? [...left].slice(0, limit) : [];
        return ids.map((invoiceId) => ({ invoiceId, slot: 0 }));
      },
      claimMany: async (_lane, ids) => ids.map((id) => ({ token: 'any', invoice: pendingInvoice({ id }) })),
      handBack: async () => undefined,
      placeEarlierWork: async () => 0,
    },
    members: createClaimMembers(store.db),
    report: (message, error) => complaints.push(`${message}: ${error}`),
    ...{ soleWorker, jobRate },
  });
  const done = new Set<string>();
  const once = async (id: string) => {
    left.delete(id);
    if (done.has(id)) return;
    done.add(id);
    await run(id);
  };
  return {
    jobs,
    complaints,
    add: (id: string) => void left.add(id),
    start: () => jobs.startWorker({ run: once, runClaimed: ({ invoice }) => once(invoice.id) }),
  };
}

const stored = () => store.db.collection(JOBS_COLLECTION);
const queued = () => stored().countDocuments();
const names = (count: number) => Array.from({ length: count }, (_, i) => `inv_${i}`);

async function enqueueAll(jobs: Jobs, ids: string[]) {
  for (const id of ids) await jobs.queue.enqueue(toRender(id), 0);
}

it('invoices without a job, or whose job is locked by an ended worker, are found by the claimer', async () => {
  const ran: string[] = [];
  const lost = ['inv_lost', 'inv_locked', 'inv_running'];
  const { jobs, start } = await worker(lost, async (id) => void ran.push(id));
  await enqueueAll(jobs, ['inv_locked', 'inv_running']);
  const lock = { lastModifiedBy: 'fatoura-dead', lockedAt: new Date(Date.now() - 4500) };
  await stored().updateOne({ 'data.invoiceId': 'inv_locked' }, { $set: lock });
  await stored().updateOne({ 'data.invoiceId': 'inv_running' }, { $set: { ...lock, nextRunAt: null } });
  await start();
  // Long before the locks expire.
  await expect.poll(() => ran.toSorted()).toEqual(lost.toSorted());
  await jobs.stop(30_000);
});

it('jobs and the claimer share the places of a lane, and a job without a place leaves its invoice to the claimer', async () => {
  const found = names(6);
  const gate = Promise.withResolvers<void>();
  const begun: string[] = [];
  const { jobs, complaints, start } = await worker(found, async (id) => {
    begun.push(id);
    await gate.promise;
  });
  await start();
  await expect.poll(() => begun.length).toBe(4);
  await jobs.queue.enqueue(toRender('inv_5'), 0);
  await expect.poll(queued).toBe(0);
  expect(begun).toHaveLength(4);
  gate.resolve();
  await expect.poll(() => begun.toSorted()).toEqual(found);
  await jobs.stop(30_000);
  expect(complaints).toEqual([]);
});

it('an invoice has one job for its next work, however often and by whichever process it is queued', async () => {
  const workers = [await worker([], async () => {}), await worker([], async () => {})];
  await Promise.all(Array.from({ length: 20 }, (_, i) => workers[i % 2]?.jobs.queue.enqueue(toRender('inv_1'), i)));
  expect(await queued()).toBe(1);
  // The job of a failed attempt still exists when the retry is queued.
  await workers[0]?.jobs.queue.enqueue(toRender('inv_1', new Date(SINCE.getTime() + 1)), 0);
  expect(await queued()).toBe(2);
  expect(workers.flatMap(({ complaints }) => complaints)).toEqual([]);
});

it('a process locks only the jobs that it runs, so that other processes can run the waiting ones', async () => {
  const gate = Promise.withResolvers<void>();
  const begun: string[][] = [[], []];
  const workers = await Promise.all(
    begun.map((mine) =>
      worker([], async (id) => {
        mine.push(id);
        await gate.promise;
      }),
    ),
  );
  await enqueueAll(workers[0]!.jobs, names(12));
  for (const { start } of workers) await start();
  await expect.poll(() => begun.map(({ length }) => length)).toEqual([4, 4]);
  expect(await stored().countDocuments({ lockedAt: { $ne: null } })).toBe(8);
  gate.resolve();
  await expect.poll(queued).toBe(0);
  await Promise.all(workers.map(({ jobs }) => jobs.stop(30_000)));
});

it('a job is taken at once by the worker to whom its partition belongs, and by no other', async () => {
  const ran = [new Map<string, number>(), new Map<string, number>()];
  const workers = await Promise.all(ran.map((_, nth) => worker([], async (id) => void ran[nth]!.set(id, nth))));
  for (const { start } of workers) await start();
  // Both know each other after a heartbeat.
  await sleep(1500);
  const byPartition = new Map<number, number[]>();
  for (const id of names(60)) {
    await workers[0]!.jobs.queue.enqueue(toRender(id), 0);
    await expect.poll(() => ran.some((each) => each.has(id)), { interval: 5 }).toBe(true);
    const partition = slotOf({ tenantId: 'ten_1', id });
    const takers = byPartition.get(partition) ?? [0, 0];
    takers[ran[0]!.has(id) ? 0 : 1]!++;
    byPartition.set(partition, takers);
  }
  await Promise.all(workers.map(({ jobs }) => jobs.stop(5000)));
  const takers = [...byPartition.values()];
  // Another one takes a job that is due just when it polls, every two seconds.
  const astray = takers.reduce((sum, [first = 0, second = 0]) => sum + Math.min(first, second), 0);
  expect(astray).toBeLessThan(10);
  expect(new Set(takers.map(([first = 0, second = 0]) => first > second)).size).toBe(2);
});

it('the next job starts when a job ends, not at the next poll', async () => {
  const ids = names(80);
  const ran: string[] = [];
  const { jobs, complaints, start } = await worker([], async (id) => void ran.push(id));
  await enqueueAll(jobs, ids);
  await start();
  // With 4 jobs per poll it would take 40 s.
  await expect.poll(() => ran.length, { timeout: 30_000 }).toBe(80);
  await jobs.stop(30_000);
  expect(ran.sort()).toEqual(ids.sort());
  expect(await queued()).toBe(0);
  expect(complaints).toEqual([]);
});

it('at its start, a sole worker unlocks the jobs of an ended worker, and removes those that were running', async () => {
  const ran: string[] = [];
  const { jobs, start } = await worker([], async (id) => void ran.push(id), true);
  const now = new Date();
  const job = { name: 'invoice.sign', priority: 0, type: 'normal', lastModifiedBy: 'fatoura-dead', lockedAt: now };
  await store.db.collection(JOBS_COLLECTION).insertMany([
    { ...job, data: { invoiceId: 'inv_locked' }, nextRunAt: now },
    { ...job, data: { invoiceId: 'inv_begun' }, nextRunAt: null },
  ]);
  await start();
  // Long before the locks expire.
  await expect.poll(() => ran).toEqual(['inv_locked']);
  await expect.poll(queued).toBe(0);
  await jobs.stop(30_000);
});

it('a stop waits for running jobs, starts no others and unlocks them for other processes', async () => {
  const ids = names(12);
  const begun: string[] = [];
  const ended: string[] = [];
  const gate = Promise.withResolvers<void>();
  const { jobs, complaints, start } = await worker([], async (id) => {
    begun.push(id);
    await gate.promise;
    ended.push(id);
  });
  const locked = () => stored().countDocuments({ lockedAt: { $ne: null } });
  await enqueueAll(jobs, ids);
  await start();
  await expect.poll(async () => [begun.length, await locked()]).toEqual([4, 4]);
  const stopped = jobs.stop(30_000);
  await sleep(100);
  expect(ended).toEqual([]);
  gate.resolve();
  await stopped;
  expect(begun).toHaveLength(4);
  expect(ended.sort()).toEqual(begun.sort());
  const left = await store.db
    .collection(JOBS_COLLECTION)
    .find({ nextRunAt: { $ne: null } })
    .toArray();
  expect(left.map(({ lockedAt }) => lockedAt ?? null)).toEqual(Array.from({ length: 8 }, () => null));
  expect(complaints).toEqual([]);
});

it.each(['normalize', 'sign', 'transmit', 'decide', 'receipt'] as const)(
  'live invoices that wait for a slow authority at %s hold no place of a test invoice',
  async (stage) => {
    const slow = Promise.withResolvers<void>();
    const ran: string[] = [];
    const { jobs, complaints, start } = await worker([], async (id) => {
      if (id.startsWith('inv_live')) await slow.promise;
      else ran.push(id);
    });
    const work = { ...NEW_WORK, stage, dueAt: SINCE, claims: 0, since: SINCE };
    for (let i = 0; i < 33; i++)
      await jobs.queue.enqueue({ id: `inv_live_${i}`, tenantId: 'ten_1', environment: 'live', work }, 0);
    await start();
    await jobs.queue.enqueue({ id: 'inv_test', tenantId: 'ten_1', environment: 'test', work }, 0);
    await expect.poll(() => ran, { timeout: 10_000 }).toEqual(['inv_test']);
    slow.resolve();
    await expect.poll(queued, { timeout: 10_000 }).toBe(0);
    await jobs.stop(30_000);
    expect(complaints).toEqual([]);
  },
);

it('beyond the rate, one job a second tells of many invoices, and wakes the worker to whom they belong', async () => {
  const api = await worker([], async () => {}, false, 0);
  const startedAt = performance.now();
  for (const id of names(200)) await api.jobs.queue.enqueue(toRender(id), 0);
  const seconds = Math.floor((performance.now() - startedAt) / 1000) + 2;
  const wakes = await stored().find().toArray();
  expect(new Set(wakes.map(({ name }) => name))).toEqual(new Set(['invoices.due']));
  // The partitions of one tenant are in four ranges.
  expect(wakes.length).toBeLessThanOrEqual(4 * seconds);
  const begun: string[] = [];
  const other = await worker([], async (id) => void begun.push(id), false, 0);
  await other.start();
  await expect.poll(queued).toBe(0);
  const waits: number[] = [];
  for (const id of names(5)) {
    // Cold: without being woken it looks once a second.
    await sleep(2100);
    other.add(id);
    const at = performance.now();
    await api.jobs.queue.enqueue(toRender(id), 0);
    await expect.poll(() => begun, { interval: 5 }).toContain(id);
    waits.push(performance.now() - at);
  }
  expect(waits.sort((a, b) => a - b)[2]).toBeLessThan(200);
  await expect.poll(queued).toBe(0);
  await Promise.all([api, other].map(({ jobs }) => jobs.stop(5000)));
  expect([...api.complaints, ...other.complaints]).toEqual([]);
});
