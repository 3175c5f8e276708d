import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandStartedEvent } from 'mongodb';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { LANE_NAMES, LANES, PARTITIONS, slotOf } from '../../src/domain/invoice/lanes.ts';
import type { Claim, InvoiceRepository } from '../../src/domain/invoice/repository.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import { type ClaimRanges, createClaimRanges } from '../../src/jobs/claim-ranges.ts';
import { type ClaimCounts, type Claimer, createClaimer } from '../../src/jobs/claimer.ts';
import { createClaimMembers } from '../../src/storage/claim-members.ts';
import type { Store } from '../../src/storage/connect.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { pendingInvoice } from '../support/invoices.ts';
import { firstOf, testLong } from '../support/samples.ts';
import { openTestStore } from '../support/store.ts';

let store: Store;
let invoices: InvoiceRepository;
const stops: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  store = await openTestStore('claims', true);
  invoices = createInvoiceRepository(store.db);
  return () => store.close();
});
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

/** Stores due invoices of a tenant. @returns their ids */
async function backlog(tenantId: string, count: number): Promise<string[]> {
  const invoice = pendingInvoice({ tenantId });
  await invoices.insert(invoice, newCreationMoment().order, null);
  const collection = store.db.collection<InvoiceDocument>('invoices');
  const like = (await collection.findOne({ _id: invoice.id })) as InvoiceDocument;
  const copies = Array.from({ length: count - 1 }, (): InvoiceDocument => {
    const id = newId('inv');
    const work = { ...like.work, partition: slotOf({ tenantId, id }, 'stages') } as NonNullable<
      InvoiceDocument['work']
    >;
    return { ...like, _id: id, order: newCreationMoment().order, work };
  });
  if (copies.length > 0) await collection.insertMany(copies);
  return [invoice.id, ...copies.map(({ _id }) => _id)];
}

interface Worker {
  readonly claimer: Claimer;
  readonly ranges: ClaimRanges;
  /** The invoices that it ran, with the times. */
  readonly ran: Map<string, number>;
  /** Ends like a killed process: nothing is handed back or removed. */
  kill(): void;
}

/**
 * A worker whose run of an invoice takes `runMs` and ends its work.
 * @param isHelpful whether it takes up late work of others
 */
async function worker(runMs: number, isHelpful = true): Promise<Worker> {
  const ran = new Map<string, number>();
  const errors: unknown[] = [];
  let isDead = false;
  const alive = <Args extends unknown[], Answer>(call: (...args: Args) => Promise<Answer>) =>
    (async (...args) => {
      if (isDead) return new Promise<never>(() => undefined);
      return call(...args);
    }) as (...args: Args) => Promise<Answer>;
  const members = createClaimMembers(store.db);
  const ranges = createClaimRanges(
    { heartbeat: alive(members.heartbeat), forget: members.forget },
    `w-${randomUUID()}`,
    (error) => errors.push(error),
  );
  const claimer = createClaimer({
    invoices: {
      due: alive(async (lane, partitions, limit, lateMs = 0) =>
        lateMs > 0 && !isHelpful ? [] : invoices.due(lane, partitions, limit, lateMs),
      ),
      claimMany: alive(invoices.claimMany),
      release: alive(invoices.release),
    },
    ranges,
    lanes: LANE_NAMES,
    isAnswering: () => false,
    run: alive(async (claim: Claim) => {
      expect(ran.has(claim.invoice.id)).toBe(false);
      await sleep(runMs);
      if (isDead) return;
      ran.set(claim.invoice.id, Date.now());
      await invoices.change(claim, { work: null }, 1000);
    }),
    report: (_message, error) => errors.push(error),
  });
  await ranges.start();
  stops.push(async () => {
    if (!isDead) await Promise.all([claimer.stop(5000), ranges.stop()]);
    expect(errors).toEqual([]);
  });
  return {
    claimer,
    ranges,
    ran,
    kill() {
      isDead = true;
    },
  };
}

const sumOf = (counts: readonly ClaimCounts[], name: keyof ClaimCounts) =>
  counts.reduce((sum, each) => sum + each[name], 0);

const ofAll = (workers: readonly Worker[]) => workers.flatMap(({ ran }) => [...ran.keys()]);

/** Due invoices of each of 40 tenants. */
const EACH = firstOf([12, 50]).at(-1) ?? 0;

it('two workers claim a backlog, each invoice once, and do not collide while neither is so late that the other helps', async () => {
  const tenants = Array.from({ length: 40 }, () => newId('ten'));
  const ids = (await Promise.all(tenants.map((tenantId) => backlog(tenantId, EACH)))).flat();
  const all = ids.length;
  const workers = [await worker(2, false), await worker(2, false)];
  // Each knows of the other after two heartbeats.
  await expect.poll(() => workers.map(({ ranges }) => ranges.own().until - ranges.own().from)).toEqual([2048, 2048]);
  const commands = new Map<string, number>();
  store.client.on('commandStarted', ({ commandName, command }: CommandStartedEvent) => {
    if (command[commandName] === 'invoices') commands.set(commandName, (commands.get(commandName) ?? 0) + 1);
  });
  for (const { claimer } of workers) claimer.start();
  await expect.poll(() => ofAll(workers).length, { timeout: 60_000 }).toBe(all);
  expect(ofAll(workers).sort()).toEqual(ids.sort());
  for (const { ran } of workers) expect(ran.size).toBeGreaterThan(all / 5);
  const counts = workers.map(({ claimer }) => claimer.counts());
  const [found, claimed] = [sumOf(counts, 'found'), sumOf(counts, 'claimed')];
  expect([found, claimed]).toEqual([all, all]);
  // One update of each ends its work; the rest is what claiming costs.
  const claiming = [...commands.values()].reduce((sum, count) => sum + count, 0) - all;
  expect(claiming / all).toBeLessThan(1);
});

// How rarely they collide is a matter of times: test/unit/jobs/claimer.test.ts, with a clock of its own.
testLong('workers without work share the late work of another one, and each invoice is claimed once', async () => {
  const tenants = Array.from({ length: 10 }, () => newId('ten'));
  await Promise.all(tenants.map((tenantId) => backlog(tenantId, 200)));
  // All of it belongs to one of four, and has been due for longer than the others leave it alone.
  const late = {
    'work.partition': { $mod: ['$work.partition', PARTITIONS / 4] },
    'work.dueAt': new Date(Date.now() - 60_000),
  };
  await store.db.collection('invoices').updateMany({}, [{ $set: late }]);
  // The others help when they have looked in vain for over a second: with long runs, most of it is left then.
  const workers = await Promise.all(Array.from({ length: 4 }, () => worker(80)));
  await expect
    .poll(() => workers.map(({ ranges }) => ranges.own().until - ranges.own().from))
    .toEqual([1024, 1024, 1024, 1024]);
  for (const { claimer } of workers) claimer.start();
  await expect.poll(() => ofAll(workers).length, { timeout: 60_000 }).toBe(2000);
  const counts = workers.map(({ claimer }) => claimer.counts());
  expect(sumOf(counts, 'claimed')).toBe(2000);
  // Each of them has helped.
  for (const { ran } of workers) expect(ran.size).toBeGreaterThan(100);
});

it('when a worker dies, the other takes over its range and, when they end, its leases', async () => {
  const workers = [await worker(20), await worker(20)];
  const [dead, other] = workers as [Worker, Worker];
  await expect.poll(() => workers.map(({ ranges }) => ranges.own().until - ranges.own().from)).toEqual([2048, 2048]);
  const tenants = Array.from({ length: 20 }, () => newId('ten'));
  const ids = (await Promise.all(tenants.map((tenantId) => backlog(tenantId, 20)))).flat();
  for (const { claimer } of workers) claimer.start();
  await expect.poll(() => dead.ran.size).toBeGreaterThan(20);
  dead.kill();
  const died = Date.now();
  await expect.poll(() => new Set(ofAll(workers)).size).toBe(400);
  expect(Date.now() - died).toBeLessThan(10_000);
  expect([...new Set(ofAll(workers))].sort()).toEqual(ids.sort());
  await expect.poll(() => other.ranges.own()).toEqual({ from: 0, until: 4096 });
});

const partitions = (tenantId: string) => Math.floor(slotOf({ tenantId, id: '' }, 'stages')) % (PARTITIONS / 4);

/** A tenant whose partitions are those of this one, or are others. */
function tenantBeside(tenantId: string, isSame: boolean): string {
  for (;;) {
    const other = newId('ten');
    if ((partitions(other) === partitions(tenantId)) === isSame) return other;
  }
}

it.each(
  firstOf([
    ['the same', true],
    ['other', false],
  ]),
)('a tenant in %s partitions does not wait for the 2,000 due invoices of another tenant', async (_, isSame) => {
  const busyTenant = newId('ten');
  await backlog(busyTenant, 2000);
  const it = await worker(10);
  it.claimer.start();
  await expect.poll(() => it.ran.size).toBeGreaterThan(50);
  const tenantId = tenantBeside(busyTenant, isSame);
  /** How many invoices had been run when each was created. */
  const created = new Map<string, number>();
  for (let i = 0; i < 20; i++) {
    const [id] = (await backlog(tenantId, 1)) as [string];
    created.set(id, it.ran.size);
    await sleep(25);
  }
  await expect.poll(() => [...created.keys()].filter((id) => !it.ran.has(id))).toEqual([]);
  const order = [...it.ran.keys()];
  const passed = [...created].map(([id, before]) => order.indexOf(id) - before);
  // Counted, not timed, however long the backlog is: those that run, those of the look under way, and as many for a
  // machine that is busy (it was 200 with 64 places).
  expect(Math.max(...passed)).toBeLessThan(3 * LANES.stages.places);
});
