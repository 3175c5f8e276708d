import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import type { Measured } from './harness.ts';

/** The operations of the benchmark `engine`, prepared in one database. */
export interface StoreWork {
  /** Runs every kind of operation `operations` times. */
  round(operations: number): Promise<Measured>;
  close(): Promise<void>;
}

export interface Item {
  _id: string;
  tenant: string;
  order: number;
  name: string;
  lines: { description: string; amount: number }[];
}

export interface Job {
  _id: number;
  name: string;
  nextRunAt: Date;
  lockedAt: Date | null;
}

export const STORED = 5000;
export const PAGE = 20;
const TENANTS = 10;
const CONCURRENT = 32;
/** Changes are measured in series, so more of them would only take longer. */
export const CHANGES = 50;

/** Fills a database with the data to read: 5,000 documents of 1 KB with an index. Opens a change stream. */
export async function prepareWork(db: Db): Promise<StoreWork> {
  const items = db.collection<Item>('items');
  const jobs = db.collection<Job>('jobs');
  const inserted = db.collection<Item>('inserted');
  const changes = db.collection<{ _id: number }>('changes');
  await items.insertMany(Array.from({ length: STORED }, (_, i) => item(i)));
  await items.createIndex({ tenant: 1, order: -1 });
  await inserted.createIndex({ tenant: 1, order: -1 });
  await jobs.createIndex({ name: 1, nextRunAt: 1, lockedAt: 1 });
  const stream = changes.watch();
  const arrived: ((at: number) => void)[] = [];
  stream.on('change', () => arrived.shift()?.(performance.now()));
  // The driver opens the stream asynchronously.
  await sleep(500);
  let last = STORED;
  let lastChange = 0;

  return {
    async round(operations) {
      const answers: unknown[] = [];
      const rates: Record<string, number> = {};
      const measure = async (name: string, count: number, one: (i: number) => Promise<unknown>, concurrent = 1) => {
        let next = 0;
        const start = performance.now();
        const work = async () => {
          for (let i = next++; i < count; i = next++) await one(i);
        };
        await Promise.all(Array.from({ length: concurrent }, work));
        rates[name] = (count / (performance.now() - start)) * 1000;
      };

      await measure('inserts, serial', operations, () => inserted.insertOne(item(last++)));
      await measure('inserts, 32 concurrent', operations * 2, () => inserted.insertOne(item(last++)), CONCURRENT);
      await measure('finds by _id', operations, async (i) => {
        answers.push(await items.findOne({ _id: soughtId(i) }));
      });
      await measure('pages of 20 by index', operations / 2, async (i) => {
        const { tenant, before } = soughtPage(i);
        answers.push(await page(items, tenant, before));
      });
      await refill(jobs, operations);
      await measure('claims', operations, async () => {
        const claimed = await jobs.findOneAndUpdate(
          { name: 'sign', lockedAt: null, nextRunAt: { $lte: new Date() } },
          { $set: { lockedAt: new Date() } },
          { sort: { nextRunAt: 1 }, returnDocument: 'after' },
        );
        answers.push(claimed?._id);
      });

      const latencies: number[] = [];
      for (let i = 0; i < Math.min(operations, CHANGES); i++) {
        const heard = new Promise<number>((resolve) => arrived.push(resolve));
        const start = performance.now();
        await changes.insertOne({ _id: lastChange++ });
        latencies.push((await heard) - start);
      }
      await inserted.deleteMany({});
      return { rates, latencies: { 'change event': latencies }, answer: JSON.stringify(answers) };
    },
    close: () => stream.close(),
  };
}

/** Makes the `i`-th document, of about 1 KB. */
export function item(i: number): Item {
  return {
    _id: `item-${i.toString().padStart(8, '0')}`,
    tenant: `tenant ${i % TENANTS}`,
    order: i,
    name: `Atlas Distribution ${i}`,
    lines: Array.from({ length: 10 }, (_, k) => ({
      description: `Prestation de conseil, lot ${k}, dossier ${i}`,
      amount: 100 * k,
    })),
  };
}

/** Returns the `_id` that the `i`-th read requests. */
export function soughtId(i: number): string {
  return item((i * 7919) % STORED)._id;
}

/**
 * Returns the page that the `i`-th read requests: the 20 documents of a tenant with the highest orders below `before`.
 */
export function soughtPage(i: number): { tenant: string; before: number } {
  return { tenant: `tenant ${i % TENANTS}`, before: (i * 31) % STORED };
}

function page(items: Collection<Item>, tenant: string, before: number): Promise<Item[]> {
  return items
    .find({ tenant, order: { $lt: before } })
    .sort({ order: -1 })
    .limit(PAGE)
    .toArray();
}

/** Replaces the jobs by `count` due ones, in an order that both servers must keep. */
async function refill(jobs: Collection<Job>, count: number): Promise<void> {
  await jobs.deleteMany({});
  await jobs.insertMany(dueJobs(count));
}

/** Jobs that are all due, in this order. */
export function dueJobs(count: number): Job[] {
  const due = Date.now() - 2 * count;
  return Array.from({ length: count }, (_, i) => ({
    _id: i,
    name: 'sign',
    nextRunAt: new Date(due + i),
    lockedAt: null,
  }));
}
