import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, open, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UUID } from 'bson';
import { MongoClient } from 'mongodb';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Engine, startEngine } from '../../src/engine/embedded.ts';
import { runningEngine } from '../../src/engine/running.ts';
import { startServer } from '../../src/engine/server.ts';
import { type EngineProcess, startEngineAs, startEngineProcess, UNPRIVILEGED } from '../support/engine-process.ts';
import { firstOf } from '../support/samples.ts';
import { WireClient } from '../support/wire-client.ts';

/** Tests of the embedded engine's data folder and of its lock. */
let folder: string;
const engines: Engine[] = [];
const processes: EngineProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'engine-'));
});

afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
  await Promise.all(processes.splice(0).map((engine) => engine.kill()));
  await rm(folder, { recursive: true, force: true });
});

/** Starts an engine in this thread, which loads no modules anew. */
async function start(options: Partial<Parameters<typeof startServer>[0]> = {}): Promise<Engine> {
  const engine = await startServer({ dataDir: folder, ...options });
  engines.push(engine);
  return engine;
}

async function startProcess(...options: string[]): Promise<EngineProcess> {
  const engine = await startEngineProcess(folder, ...options);
  processes.push(engine);
  return engine;
}

async function stop(engine: Engine): Promise<void> {
  engines.splice(engines.indexOf(engine), 1);
  await engine.close();
}

async function using<T>(uri: string, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = await new MongoClient(uri).connect();
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

// What was killed is a process; what is started over its folder is in this one, where that shows the same.
describe('kill -9', { timeout: 240_000 }, () => {
  test('every acknowledged write is there once after a restart, and indexes agree with documents', async () => {
    const acknowledged: number[] = [];
    for (const round of firstOf([0, 1, 2])) {
      const engine = await startProcess();
      const client = await new MongoClient(engine.uri, { retryWrites: false }).connect();
      const collection = client.db('test').collection<{ _id: number; half: number; tags: string[] }>('writes');
      await collection.createIndexes([{ key: { half: 1 } }, { key: { tags: 1 } }]);
      const before = acknowledged.length;
      let next = round * 1_000_000;
      const writer = async (): Promise<void> => {
        for (;;) {
          const _id = next++;
          await collection.insertOne({ _id, half: Math.floor(_id / 2), tags: [`a${_id}`, `b${_id}`] });
          acknowledged.push(_id);
          if (acknowledged.length === before + 60 + 40 * round) engine.child.kill('SIGKILL');
        }
      };
      const writers = Promise.allSettled(Array.from({ length: 8 }, writer));
      await Promise.race([once(engine.child, 'exit'), writers]);
      // A writer that is between two inserts when the engine is killed searches for a server for 30 s, unless its
      // client is closed.
      await Promise.race([writers, sleep(1000)]);
      await client.close(true);
      await writers;
      await engine.kill();
      expect(acknowledged.length).toBeGreaterThanOrEqual(before + 60 + 40 * round);
      const again = await start();
      await using(again.uri, async (reader) => {
        const found = await reader
          .db('test')
          .collection<{ _id: number }>('writes')
          .find({ _id: { $in: acknowledged } })
          .toArray();
        expect(found.length).toBe(acknowledged.length);
        expect(await reader.db('test').command({ validate: 'writes' })).toMatchObject({ valid: true, errors: [] });
      });
      await stop(again);
    }
  });

  test('a change stream resumes without a gap', async () => {
    const first = await startProcess();
    const token = await using(first.uri, async (client) => {
      const collection = client.db('test').collection<{ _id: number }>('c');
      const stream = collection.watch([], { maxAwaitTimeMS: 50 });
      await stream.tryNext();
      await collection.insertMany([1, 2, 3].map((_id) => ({ _id })));
      const event = await stream.next();
      // Closed before the kill, because the driver's close() has been seen to wait for a cursor that its dead server
      // could not kill.
      await stream.close();
      return event._id;
    });
    await first.kill();
    const second = await start();
    await using(second.uri, async (client) => {
      const collection = client.db('test').collection<{ _id: number }>('c');
      await collection.insertOne({ _id: 4 });
      const stream = collection.watch([], { resumeAfter: token });
      const ids: unknown[] = [];
      while (ids.length < 3) ids.push(((await stream.next()) as { documentKey: { _id: unknown } }).documentKey._id);
      expect(ids).toEqual([2, 3, 4]);
      await stream.close();
    });
  });

  test('a repeated retryable write is answered from its retry record', async () => {
    const lsid = { id: new UUID() };
    const increment = {
      update: 'c',
      updates: [{ q: { _id: 1 }, u: { $inc: { n: 1 } }, upsert: true }],
      lsid,
      txnNumber: 7n,
      $db: 'test',
    };
    const first = await startProcess();
    const wire = await WireClient.connect(first.uri);
    const answer = await wire.command(increment);
    expect(answer).toMatchObject({ ok: 1, n: 1, upserted: [{ index: 0, _id: 1 }] });
    await first.kill();
    const second = await start();
    const again = await WireClient.connect(second.uri);
    expect(await again.command(increment)).toMatchObject({ ok: 1, n: 1, upserted: [{ index: 0, _id: 1 }] });
    const { cursor } = await again.command({ find: 'c', $db: 'test' });
    expect(cursor.firstBatch).toEqual([{ _id: 1, n: 1 }]);
    again.close();
  });
});

describe('the data folder', { timeout: 180_000 }, () => {
  test('is used by one engine at a time, in this process or another', async () => {
    const engine = await start();
    await expect(startEngine({ dataDir: folder })).rejects.toThrow(/Another engine uses the folder/);
    await expect(startEngineProcess(folder)).rejects.toThrow(/could not start: Another engine uses the folder/);
    await using(engine.uri, async (client) => void (await client.db('test').collection('c').insertOne({})));
    await stop(engine);
    await start();
  });

  test('keeps everything across a restart', async () => {
    const engine = await start();
    await using(engine.uri, async (client) => {
      const collection = client.db('test').collection<{ _id: number; a?: number }>('c');
      await collection.createIndex({ a: -1 }, { unique: true, partialFilterExpression: { a: { $exists: true } } });
      await collection.insertMany([{ _id: 1, a: 1 }, { _id: 2 }, { _id: 3 }]);
      await client.db('test').createCollection('valid', { validator: { n: { $gt: 0 } } });
    });
    await stop(engine);
    await using((await start()).uri, async (client) => {
      const collection = client.db('test').collection<{ _id: number; a?: number }>('c');
      expect(await collection.find().sort({ _id: 1 }).toArray()).toEqual([{ _id: 1, a: 1 }, { _id: 2 }, { _id: 3 }]);
      expect(await collection.indexes()).toMatchObject([
        { name: '_id_' },
        { name: 'a_-1', unique: true, partialFilterExpression: { a: { $exists: true } } },
      ]);
      await expect(collection.insertOne({ _id: 4, a: 1 })).rejects.toMatchObject({
        code: 11000,
        keyPattern: { a: -1 },
        keyValue: { a: 1 },
      });
      await expect(client.db('test').collection('valid').insertOne({ n: 0 })).rejects.toMatchObject({ code: 121 });
    });
  });

  test.each([
    ['its header', 0, 100],
    ['a page of it', 5 * 4096, 4096],
  ])('with %s damaged is refused, and not modified', async (_, position, length) => {
    const engine = await start();
    await using(engine.uri, async (client) => {
      const documents = Array.from({ length: 500 }, (_unused, n) => ({ n, text: 'x'.repeat(200) }));
      await client.db('test').collection('c').insertMany(documents);
    });
    await stop(engine);
    const path = join(folder, 'engine.sqlite');
    const file = await open(path, 'r+');
    await file.write(Buffer.alloc(length, 0xa5), 0, length, position);
    await file.close();
    const before = await stat(path);
    for (const startAgain of firstOf([() => startEngine({ dataDir: folder }), () => startEngineProcess(folder)]))
      await expect(startAgain()).rejects.toThrow(/damaged/);
    expect((await stat(path)).size).toBe(before.size);
  });
});

test('a document whose bytes were changed on disk is never returned', async () => {
  const engine = await start();
  await using(engine.uri, async (client) => {
    const collection = client.db('test').collection<{ _id: number; text: string }>('c');
    await collection.insertMany([
      { _id: 1, text: 'untouched' },
      { _id: 2, text: `needle${'x'.repeat(20_000)}` },
    ]);
  });
  await stop(engine);
  const path = join(folder, 'engine.sqlite');
  const content = await readFile(path);
  const file = await open(path, 'r+');
  for (
    let at = content.indexOf('xxxxxxxx');
    at >= 0 && at < content.length;
    at = content.indexOf('xxxxxxxx', at + 4096)
  ) {
    await file.write('y', at + 4);
  }
  await file.close();
  await expect(startEngine({ dataDir: folder })).rejects.toThrow(/damaged.*checksum/);
});

describe('the address', () => {
  test('is a socket that only its owner can use, like the files', async () => {
    const { uri } = await start();
    const path = decodeURIComponent(/^mongodb:\/\/([^/]+)\//.exec(uri)![1]!);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    for (const name of ['engine.sqlite', 'engine.sqlite-wal', 'engine.json']) {
      expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    }
  });

  test('is a socket in a temporary folder when the path of the data folder is long', async () => {
    const { uri } = await start({ dataDir: join(folder, 'a'.repeat(120)) });
    await using(uri, async (client) => expect(await client.db('test').command({ ping: 1 })).toMatchObject({ ok: 1 }));
  });

  test('is that of the folder on each path to it, and not of a copy', async () => {
    const original = join(folder, 'original');
    const copy = join(folder, 'copy');
    const { uri } = await start({ dataDir: original });
    await mkdir(copy);
    for (const name of ['engine.sqlite', 'engine.sqlite-wal', 'engine.json'])
      await copyFile(join(original, name), join(copy, name));
    await symlink(original, join(folder, 'other-path'));
    expect(await runningEngine(original)).toBe(uri);
    expect(await runningEngine(join(folder, 'other-path'))).toBe(uri);
    expect(await runningEngine(copy)).toBeNull();
  });

  test('is a port of the loopback interface if one is given', async () => {
    const { uri } = await start({ port: 0 });
    expect(uri).toMatch(/^mongodb:\/\/127\.0\.0\.1:\d+\//);
    await using(uri, async (client) => expect(await client.db('test').command({ ping: 1 })).toMatchObject({ ok: 1 }));
  });

  test('in use, or an unusable folder, is a readable error', async () => {
    const { uri } = await start({ port: 0 });
    const port = Number(/:(\d+)\//.exec(uri)![1]);
    await expect(startEngine({ dataDir: join(folder, 'other'), port })).rejects.toThrow(/in use by another process/);
    await expect(startEngine({ dataDir: join(folder, 'engine.sqlite', 'below') })).rejects.toThrow(
      /cannot be used for the data/,
    );
  });

  test('in a folder without write permission is told as that, not as damage', async () => {
    await stop(await start());
    const path = join(folder, 'engine.sqlite');
    const before = await readFile(path);
    for (const [mode, ofFile] of firstOf([
      [0o755, 0o444],
      [0o555, 0o666],
    ] as const)) {
      await chmod(folder, mode);
      await chmod(path, ofFile);
      await expect(startEngineAs(UNPRIVILEGED, folder)).rejects.toThrow(/cannot be used for the data: EACCES/);
    }
    expect((await readFile(path)).equals(before)).toBe(true);
  });

  test('is never reachable from other machines', async () => {
    await expect(startEngineProcess(folder, '--host', '0.0.0.0')).rejects.toThrow(/refused/);
  });
});

test('close() answers the commands in progress and ends waiting streams', { timeout: 120_000 }, async () => {
  const engine = await start();
  const client = await new MongoClient(engine.uri, { serverSelectionTimeoutMS: 1000 }).connect();
  const collection = client.db('test').collection<{ _id: number }>('c');
  const stream = collection.watch([], { maxAwaitTimeMS: 60_000 });
  stream.next().catch(() => {});
  await sleep(100);
  const writes = Array.from({ length: 20 }, (_, _id) => collection.insertOne({ _id }));
  const settled = Promise.allSettled(writes);
  await writes[0];
  const begin = performance.now();
  await stop(engine);
  // The stream would otherwise wait for 60 s.
  expect(performance.now() - begin).toBeLessThan(20_000);
  // All answers have arrived by now. For the remaining operations the driver searches for a server for 30 s.
  await Promise.race([settled, sleep(1000)]);
  await client.close(true);
  const results = await settled;
  const acknowledged = results.filter((result) => result.status === 'fulfilled').length;
  await using((await start()).uri, async (reader) => {
    expect(await reader.db('test').collection('c').countDocuments()).toBeGreaterThanOrEqual(acknowledged);
  });
});
