import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Stage } from '../../src/domain/invoice/lifecycle.ts';
import { createJobs, JOBS_COLLECTION, type Jobs } from '../../src/jobs/agenda.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
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

/** A worker to which these invoices seem overdue at each sweep. */
async function worker(
  overdue: { id: string; stage: Stage }[],
  run: (invoiceId: string) => Promise<void>,
  soleWorker = false,
) {
  const complaints: string[] = [];
  const jobs = await createJobs(
    store.db,
    { overdue: async () => overdue, takeOverdue: async () => true, postponeOverdue: async () => undefined },
    (message, error) => complaints.push(`${message}: ${error}`),
    soleWorker,
  );
  return { jobs, complaints, start: () => jobs.startWorker(run) };
}

const queued = () => store.db.collection(JOBS_COLLECTION).countDocuments();

async function enqueueAll(jobs: Jobs, ids: string[]) {
  for (const id of ids) await jobs.queue.enqueue('render', id, 0);
}

describe('the sweeper', () => {
  it('queues nothing a second time: behind a backlog every job is late, and none is lost', async () => {
    const ids = Array.from({ length: 12 }, (_, i) => `inv_${i}`);
    const gate = Promise.withResolvers<void>();
    const { jobs, start } = await worker(
      // Those that run hold their leases and are not overdue.
      ids.slice(4).map((id) => ({ id, stage: 'render' })),
      () => gate.promise,
    );
    await enqueueAll(jobs, ids);
    await start();
    await sleep(2500);
    expect(await queued()).toBe(12);
    gate.resolve();
    await jobs.stop(30_000);
  });

  it('queues what has no job, and what only a dead worker’s lock holds', async () => {
    const ran = new Set<string>();
    const { jobs, start } = await worker(
      ['inv_lost', 'inv_locked', 'inv_running'].map((id) => ({ id, stage: 'sign' })),
      async (id) => void ran.add(id),
    );
    const now = Date.now();
    const job = { name: 'invoice.sign', priority: 0, type: 'normal', lastModifiedBy: 'fatoura-dead' };
    await store.db.collection(JOBS_COLLECTION).insertMany([
      { ...job, data: { invoiceId: 'inv_locked' }, nextRunAt: new Date(now - 9000), lockedAt: new Date(now - 6000) },
      { ...job, data: { invoiceId: 'inv_running' }, nextRunAt: null, lockedAt: new Date(now - 1000) },
    ]);
    await start();
    // Long before the locks' lifetime of 30 s is over.
    await expect.poll(() => [...ran].sort()).toEqual(['inv_locked', 'inv_lost', 'inv_running']);
    await jobs.stop(30_000);
  });
});

it('a sole worker takes up at its start what the dead one had locked, and removes what that had begun', async () => {
  const ran: string[] = [];
  const { jobs, start } = await worker([], async (id) => void ran.push(id), true);
  const now = new Date();
  const job = { name: 'invoice.sign', priority: 0, type: 'normal', lastModifiedBy: 'fatoura-dead', lockedAt: now };
  await store.db.collection(JOBS_COLLECTION).insertMany([
    { ...job, data: { invoiceId: 'inv_locked' }, nextRunAt: now },
    { ...job, data: { invoiceId: 'inv_begun' }, nextRunAt: null },
  ]);
  await start();
  // Long before the locks' lifetime of 30 s is over.
  await expect.poll(() => ran).toEqual(['inv_locked']);
  await expect.poll(queued).toBe(0);
  await jobs.stop(30_000);
});

it('a stop lets the running jobs finish, starts no other and hands those back', async () => {
  const ids = Array.from({ length: 12 }, (_, i) => `inv_${i}`);
  const begun: string[] = [];
  const ended: string[] = [];
  const gate = Promise.withResolvers<void>();
  const { jobs, complaints, start } = await worker([], async (id) => {
    begun.push(id);
    await gate.promise;
    ended.push(id);
  });
  const locked = () => store.db.collection(JOBS_COLLECTION).countDocuments({ lockedAt: { $ne: null } });
  await enqueueAll(jobs, ids);
  await start();
  await expect.poll(async () => [begun.length, await locked()]).toEqual([4, 12]);
  const stopped = jobs.stop(30_000);
  await expect.poll(locked).toBe(4);
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
