import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EngineProcess, startEngineProcess } from '../support/engine-process.ts';

const PRLIMIT = '/usr/bin/prlimit';
const FILLING = Buffer.alloc(64 * 1024);

let folder: string;
let engine: EngineProcess;
let client: MongoClient;

/** Writes and reads of the embedded engine share commits, and on a full disk each of these commits fails. */
describe.skipIf(!existsSync(PRLIMIT))('reads beside writes that fail on a full disk', () => {
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'full-'));
    engine = await startEngineProcess(join(folder, 'db'), '--port', '0');
    client = await new MongoClient(engine.uri).connect();
  });
  afterEach(async () => {
    await client.close();
    await engine.kill();
    await rm(folder, { recursive: true, force: true });
  });

  it('answer what is durable, and leave no cursor open', async () => {
    const things = client.db('t').collection<{ _id: number; filling?: Buffer }>('things');
    await things.insertMany(Array.from({ length: 200 }, (_, _id) => ({ _id })));
    execFileSync(PRLIMIT, ['--pid', String(engine.child.pid), '--fsize=4096:']);
    const firstOfCursor = async () => {
      await using cursor = things.find().batchSize(50);
      return await cursor.next();
    };
    for (let round = 0; round < 30; round++) {
      const write = (_id: number) => things.insertOne({ _id, filling: FILLING }).then(String, ({ code }) => code);
      const [writes, counted, distinct, grouped, first, one] = await Promise.all([
        Promise.all([1000, 1001, 1002, 1003].map(write)),
        things.countDocuments(),
        things.distinct('_id'),
        things.aggregate([{ $group: { _id: null, n: { $sum: 1 } } }]).toArray(),
        firstOfCursor(),
        things.findOne({ _id: 7 }),
        client.db('t').command({ hello: 1 }),
      ]);
      expect(writes).toEqual([14031, 14031, 14031, 14031]);
      expect([counted, distinct.length, grouped]).toEqual([200, 200, [{ _id: null, n: 200 }]]);
      expect([first, one]).toEqual([{ _id: 0 }, { _id: 7 }]);
    }
    const { cursor } = (await client.db('t').command({ serverStatus: 1 })).metrics;
    expect(cursor.open.total).toEqual(0);
  });
});
