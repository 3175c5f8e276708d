import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Collection, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ENGINE_MAIN } from '../support/engine-process.ts';

/**
 * The engine runs with a heap of 384 MB on 600 MB of documents. Every operation either streams or is refused with
 * MongoDB's error 292.
 */
interface Item {
  _id: number;
  group: number;
  key: string;
  list: number[];
  text: string;
}

const COUNT = 60_000;
const BATCH = 1000;
const HEAP_MIB = 384;
/** Heap, SQLite's cache of 64 MiB, the program itself and buffers in transit. */
const RESIDENT_MIB = 900;
/** At the start. */
const STARTED_MIB = 400;
const OVER_THE_LIMIT = { code: 292 };

let folder: string;
let stop: () => Promise<void>;
let client: MongoClient;
let items: Collection<Item>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'engine-'));
  await start();
  await items.createIndex({ group: 1, _id: 1 });
  for (let next = 0; next < COUNT; next += BATCH) {
    await items.insertMany(Array.from({ length: BATCH }, (_, n) => item(next + n)));
  }
});

async function start(): Promise<void> {
  const options = [`--max-old-space-size=${HEAP_MIB}`, ENGINE_MAIN, '--data-dir', folder];
  const child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  stop = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  const [uri] = (await once(createInterface(child.stdout), 'line')) as [string];
  client = await new MongoClient(uri).connect();
  items = client.db('memory').collection<Item>('items');
}

afterAll(async () => {
  await client?.close();
  await stop?.();
  await rm(folder, { recursive: true, force: true });
});

function item(_id: number): Item {
  return {
    _id,
    group: _id % 100,
    key: `key ${(_id * 7919) % COUNT}`,
    list: [_id % 7, _id % 11],
    text: 'x'.repeat(10_000),
  };
}

async function residentMiB(): Promise<number> {
  return (await client.db('admin').command({ serverStatus: 1 })).mem.resident;
}

test('all documents are read through cursors, in both directions', async () => {
  for (const sort of [{ _id: 1 }, { group: 1, _id: 1 }] as Record<string, 1>[]) {
    let n = 0;
    for await (const _ of items.find({}, { sort })) n++;
    expect(n).toBe(COUNT);
  }
  expect(await residentMiB()).toBeLessThan(RESIDENT_MIB);
});

test('a sort without an index keeps few keys and documents in memory, with a limit only those of the limit', async () => {
  let last = '';
  let n = 0;
  for await (const { key } of items.find({}, { sort: { key: 1 }, projection: { key: 1 } })) {
    expect(key >= last).toBe(true);
    last = key;
    n++;
  }
  expect(n).toBe(COUNT);
  expect(
    await items
      .find({}, { sort: { key: -1 } })
      .limit(10)
      .toArray(),
  ).toHaveLength(10);
  // With 600 MB of sort keys, of which most go to a file.
  const byText = () => items.find({}, { sort: { text: 1, key: 1 }, projection: { key: 1 } });
  last = '';
  n = 0;
  for await (const { key } of byText()) {
    expect(key >= last).toBe(true);
    last = key;
    n++;
  }
  expect(n).toBe(COUNT);
  await expect(byText().allowDiskUse(false).toArray()).rejects.toMatchObject(OVER_THE_LIMIT);
  expect(await residentMiB()).toBeLessThan(RESIDENT_MIB);
});

test('$group streams its input, and is refused when it needs too much memory', async () => {
  const groups = await items.aggregate([{ $group: { _id: '$group', n: { $sum: 1 } } }]).toArray();
  expect(groups).toHaveLength(100);
  for (const pipeline of [
    [{ $group: { _id: null, texts: { $push: '$text' } } }],
    [{ $group: { _id: { text: '$text', key: '$key' } } }],
    [{ $addFields: { two: 2 } }, { $sort: { text: 1 } }],
  ]) {
    await expect(items.aggregate(pipeline).toArray()).rejects.toMatchObject(OVER_THE_LIMIT);
  }
  expect(await residentMiB()).toBeLessThan(RESIDENT_MIB);
});

test('an open cursor uses little memory', async () => {
  const before = await residentMiB();
  const cursors = Array.from({ length: 300 }, () => items.find({}, { batchSize: 2, sort: { group: 1, _id: 1 } }));
  for (const cursor of cursors) await cursor.next();
  expect((await residentMiB()) - before).toBeLessThan(300);
  for (const cursor of cursors) await cursor.close();
});

test('a start after a kill checks all documents, one at a time', async () => {
  await client.close();
  await stop();
  await start();
  expect(await residentMiB()).toBeLessThan(STARTED_MIB);
  expect(await items.countDocuments()).toBe(COUNT);
});

test('an update and a delete of all documents, and an index on them', async () => {
  expect((await items.updateMany({ group: { $lt: 50 } }, { $inc: { group: 1000 } })).modifiedCount).toBe(COUNT / 2);
  await items.createIndex({ key: 1, list: 1 });
  expect((await items.deleteMany({ group: { $gte: 1000 } })).deletedCount).toBe(COUNT / 2);
  expect(await client.db('memory').command({ validate: 'items' })).toMatchObject({ valid: true, errors: [] });
  expect(await residentMiB()).toBeLessThan(RESIDENT_MIB);
});
