import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startEngine } from '../../src/engine/embedded.ts';
import { type EngineProcess, startEngineProcess } from '../support/engine-process.ts';
import { firstOf } from '../support/samples.ts';
import { opMsg, WireClient } from '../support/wire-client.ts';

/** Runs the embedded engine in its own process against hostile clients. */
let folder: string;
let engine: EngineProcess;
let friend: MongoClient;
const clients: WireClient[] = [];
const ping = { ping: 1, $db: 'admin' };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'engine-'));
  engine = await startEngineProcess(folder);
  friend = await new MongoClient(engine.uri).connect();
});

afterAll(async () => {
  for (const client of clients) client.close();
  await friend.close();
  await engine.kill();
  await rm(folder, { recursive: true, force: true });
});

async function client(uri = engine.uri): Promise<WireClient> {
  const made = await WireClient.connect(uri);
  clients.push(made);
  return made;
}

async function residentMiB(): Promise<number> {
  const { mem } = await friend.db('admin').command({ serverStatus: 1 });
  return mem.resident;
}

async function eventually(check: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 50_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 20))) {
    if (await check()) return;
  }
  throw new Error('did not come about within 50 s');
}

describe('connections', { timeout: 180_000 }, () => {
  test('a thousand at once are served while half of them send incomplete messages', async () => {
    const many = await Promise.all(Array.from({ length: 1000 }, () => client()));
    const halves = many.filter((_, n) => n % 2 === 0);
    for (const half of halves) half.send(opMsg(1, ping).subarray(0, 30));
    const whole = many.filter((_, n) => n % 2 === 1);
    const replies = await Promise.all(
      whole.map((wire, _id) => wire.command({ insert: 'many', documents: [{ _id }], $db: 'crowd' })),
    );
    expect(replies.every((reply) => reply.ok === 1)).toBe(true);
    expect(await friend.db('crowd').collection('many').countDocuments()).toBe(500);
    for (const wire of many) wire.close();
    await eventually(async () => {
      const { connections } = await friend.db('admin').command({ serverStatus: 1 });
      return connections.current < 100;
    });
  });

  test('a client that disconnects during a getMore leaves no cursor', async () => {
    const open = async (): Promise<number> => {
      const { metrics } = await friend.db('admin').command({ serverStatus: 1 });
      return Number(metrics.cursor.open.total);
    };
    const before = await open();
    const gone = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const wire = await client();
        const { cursor } = await wire.command({
          aggregate: 'c',
          pipeline: [{ $changeStream: {} }],
          cursor: {},
          $db: 'gone',
        });
        wire.send(wire.message({ getMore: cursor.id, collection: 'c', maxTimeMS: 600_000, $db: 'gone' }));
        return wire;
      }),
    );
    expect(await open()).toBe(before + 50);
    for (const wire of gone) wire.close();
    await eventually(async () => (await open()) === before);
  });

  test('answers to clients that do not read them are buffered up to a limit', async () => {
    const collection = friend.db('greedy').collection<{ _id: number; text: string }>('c');
    const text = 'x'.repeat(1_000_000);
    await collection.insertMany(Array.from({ length: 16 }, (_, _id) => ({ _id, text })));
    const before = await residentMiB();
    const greedy = await Promise.all(Array.from({ length: 5 }, () => client()));
    for (const wire of greedy) {
      wire.pause();
      const request = wire.message({ find: 'c', batchSize: 16, $db: 'greedy' });
      wire.send(Buffer.concat(Array.from({ length: 500 }, () => request)));
    }
    for (let n = 0; n < 20; n++) expect(await friend.db('greedy').command({ ping: 1 })).toMatchObject({ ok: 1 });
    // 2,500 answers of 16 MB were requested: 40 GB in total.
    expect((await residentMiB()) - before).toBeLessThan(800);
    for (const wire of greedy) wire.close();
  });

  test.each(
    firstOf([
      { heldMiB: 64, asking: 16 },
      { heldMiB: 512, asking: 64 },
    ]),
  )(
    '$asking that ask for much at once get shorter batches within $heldMiB MiB, and none is closed',
    async ({ heldMiB, asking }) => {
      const own = await startEngine({ dataDir: join(folder, `${heldMiB}`), heldBytes: heldMiB * 1024 * 1024 });
      onTestFinished(() => own.close());
      const writer = await new MongoClient(own.uri).connect();
      onTestFinished(() => writer.close());
      const collection = writer.db('many').collection<{ _id: number; text: string }>('c');
      const text = 'x'.repeat(1_300_000);
      await collection.insertMany(Array.from({ length: 12 }, (_, _id) => ({ _id, text })));
      const pool = await Promise.all(Array.from({ length: asking }, () => client(own.uri)));
      for (const wire of pool) {
        wire.pause();
        wire.send(wire.message({ find: 'c', batchSize: 12, $db: 'many' }));
      }
      // Answers of 15.6 MB: together, twice what may be held or more. None is read until all are there.
      await eventually(async () => pool.every((wire) => wire.isAnswered));
      for (const wire of pool) wire.resume();
      const replies = await Promise.all(pool.map((wire) => wire.reply()));
      const lengths = replies.map(({ cursor }) => cursor.firstBatch.length);
      const shortest = lengths.indexOf(Math.min(...lengths));
      expect(lengths[shortest]).toBeGreaterThan(0);
      expect(lengths[shortest]).toBeLessThan(12);
      // What a short batch lacks is in the next one.
      const { id, firstBatch } = replies[shortest]!.cursor;
      const { cursor } = await pool[shortest]!.command({ getMore: id, collection: 'c', $db: 'many' });
      expect([...firstBatch, ...cursor.nextBatch].map(({ _id }) => _id)).toEqual([...Array(12).keys()]);
      for (const wire of pool) wire.close();
    },
  );

  test('incomplete messages are buffered up to a limit; beyond it their connections are closed', async () => {
    const before = await residentMiB();
    const slow = await Promise.all(Array.from({ length: 14 }, () => client()));
    const head = Buffer.alloc(16);
    head.writeInt32LE(48_000_000, 0);
    head.writeInt32LE(2013, 12);
    const most = Buffer.concat([head, Buffer.alloc(40_000_000)]);
    for (const wire of slow) wire.send(most);
    await Promise.race(slow.map((wire) => wire.closed()));
    expect((await residentMiB()) - before).toBeLessThan(1500);
    expect(await friend.db('admin').command(ping)).toMatchObject({ ok: 1 });
    for (const wire of slow) wire.close();
  });
});
