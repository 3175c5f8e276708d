import { once } from 'node:events';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { type AnyBulkWriteOperation, MongoClient } from 'mongodb';
import { expect, test } from 'vitest';
import { randomNumbers } from '../../scripts/random-numbers.ts';
import { type Engine, startEngine } from '../../src/engine/embedded.ts';

/**
 * Updates, deletes and expiries of documents, as many as in years of a small installation (`SOAK_OPERATIONS`, default 2
 * million). The file must not grow after the first tenth, and no command may hold up others: a ping waits at most 50 ms
 * longer than the machine makes an idle engine wait, or a thread that writes one page to the same disk. The engine waits
 * for the disk before it answers, whatever the command.
 */
const OPERATIONS = Number(process.env.SOAK_OPERATIONS ?? 2_000_000);
const COUNT = 100_000;
const BATCH = 50;
/** The oplog is full within the first tenth, so that what grows afterwards is not its. */
const OPLOG_BYTES = 16 * 1024 * 1024;
const LONGEST_MS = 50;

interface Item {
  readonly _id: number;
  readonly n: number;
  readonly key: string;
  readonly text: string;
  readonly until?: Date;
}

test('the file stays as large, and nobody waits', async () => {
  const folders = [await mkdtemp(join(tmpdir(), 'soak-')), await mkdtemp(join(tmpdir(), 'idle-'))];
  const engines: Engine[] = [];
  for (const dataDir of folders) engines.push(await startEngine({ dataDir, oplogBytes: OPLOG_BYTES, ttlSeconds: 1 }));
  const disk = new Worker(new URL('../support/disk-thread.ts', import.meta.url), {
    workerData: { path: join(folders[1] as string, 'page') },
  });
  const [busy, idle] = await Promise.all(engines.map(({ uri }) => MongoClient.connect(uri)));
  if (!busy || !idle) throw new Error('not connected');
  const random = randomNumbers(Number(process.env.TEST_SEED ?? 1));
  const whole = (below: number) => Math.floor(random() * below);
  const items = busy.db('soak').collection<Item>('items');
  const item = (_id: number): Item => ({ _id, n: 0, key: `k${whole(1e9)}`, text: 'x'.repeat(whole(400)) });
  await items.createIndexes([{ key: { key: 1 } }, { key: { until: 1 }, expireAfterSeconds: 0 }]);
  for (let from = 0; from < COUNT; from += 1000)
    await items.insertMany(Array.from({ length: 1000 }, (_, n) => item(from + n)));

  /** The longest answer of each engine to a command that does nothing: of the idle one, it is the machine's doing. */
  const longest = [0, 0];
  let [pings, late] = [0, 0];
  let isOver = false;
  const watching = [busy, idle].map(async (client, n) => {
    while (!isOver) {
      const start = performance.now();
      await client.db('admin').command({ ping: 1 });
      const ms = performance.now() - start;
      longest[n] = Math.max(longest[n] as number, ms);
      if (n === 0) pings++;
      if (n === 0 && ms > LONGEST_MS) late++;
      await sleep(2);
    }
  });
  const sizes: number[] = [];
  const size = () => statSync(join(folders[0] as string, 'engine.sqlite')).size;
  let next = COUNT;
  for (let done = 0; done < OPERATIONS; done += BATCH) {
    const operations: AnyBulkWriteOperation<Item>[] = [];
    for (let n = 0; n < BATCH / 2; n++) {
      operations.push({
        updateOne: {
          filter: { _id: whole(next) },
          update: { $inc: { n: 1 }, $set: { key: `k${whole(1e9)}`, text: 'y'.repeat(whole(400)) } },
        },
      });
      // For each one that is inserted, one goes: at once, or by its time.
      const _id = whole(next);
      operations.push(
        n % 2 === 0
          ? { deleteOne: { filter: { _id } } }
          : { updateOne: { filter: { _id }, update: { $set: { until: new Date() } } } },
      );
    }
    const { deletedCount } = await items.bulkWrite(operations, { ordered: false });
    const missing = COUNT - (await items.estimatedDocumentCount());
    for (let left = missing; left > 0; left -= BATCH)
      await items.insertMany(Array.from({ length: Math.min(left, BATCH) }, () => item(next++)));
    expect(deletedCount).toBeGreaterThanOrEqual(0);
    if (done % (OPERATIONS / 20) < BATCH) sizes.push(size());
  }
  isOver = true;
  await Promise.all(watching);
  const written = once(disk, 'message');
  disk.postMessage('end');
  const [longestOfDisk] = (await written) as [number];
  console.log(`sizes (MB): ${sizes.map((bytes) => Math.round(bytes / 1e6)).join(' ')}`);
  console.log(`longest ping (ms): ${longest.map(Math.round).join(', of an idle engine ')}`);
  console.log(`longest write of a page (ms): ${Math.round(longestOfDisk)}`);
  console.log(`pings over ${LONGEST_MS} ms: ${late} of ${pings}`);
  const afterTenth = sizes[2] as number;
  expect(Math.max(...sizes.slice(2))).toBeLessThan(1.15 * afterTenth);
  expect(longest[0]).toBeLessThan(LONGEST_MS + Math.max(longest[1] as number, longestOfDisk));
  expect(await busy.db('soak').command({ validate: 'items' })).toMatchObject({ valid: true });
  await Promise.all([busy.close(), idle.close()]);
  for (const engine of engines) await engine.close();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});
