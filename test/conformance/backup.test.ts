import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { copyDatabase, copyLog, type OpenSource, openSource } from '../../src/app/backup/copy-store.ts';
import { FileCopy } from '../../src/engine/copy/file-copy.ts';
import { settleCopy } from '../../src/engine/copy/settle-copy.ts';
import { startEngine } from '../../src/engine/embedded.ts';
import { Backups } from '../../src/engine/store/backups.ts';
import { inspectFile } from '../../src/engine/store/inspect.ts';
import { Store } from '../../src/engine/store/store.ts';
import { encodeDocument } from '../../src/engine/wire/bson.ts';
import { beginBackup } from '../../src/storage/backup-source.ts';
import { type EngineProcess, startEngineProcess } from '../support/engine-process.ts';

// The commands by which a client copies the engine's data file while it is in use.

let folder: string;
let engine: EngineProcess;
let client: MongoClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backup-'));
  // A process of its own, because this one opens and closes the data file.
  engine = await startEngineProcess(join(folder, 'source'));
  client = await new MongoClient(engine.uri).connect();
});

afterAll(async () => {
  await client.close();
  await engine.kill();
  await rm(folder, { recursive: true, force: true });
});

const NEVER = new AbortController().signal;
/** Documents that each insert writes, in one commit. */
const GROUP = 5;
const GROUP_BYTES = 500_000;

const logOf = () => join(folder, 'source', 'engine.sqlite-wal');
const logBytes = () => statSync(logOf()).size;
const running = async () =>
  (await client.db('admin').command({ currentOp: 1 })).inprog.filter(({ desc }: { desc: string }) => desc === 'backup')
    .length;

async function source(): Promise<OpenSource> {
  const store = await new MongoClient(engine.uri).connect();
  const opened = await openSource({ client: store, close: () => store.close() });
  onTestFinished(() => opened.close());
  return opened;
}

/** Inserts groups and deletes others, all of them changed once, until it is told to stop. @returns how many were acknowledged */
function writeOn(name: string): { written: () => number; stop: () => Promise<void> } {
  const collection = client.db('busy').collection<{ group: number; text: string }>(name);
  let [written, stopped] = [0, false];
  const work = (async () => {
    while (!stopped) {
      const text = randomBytes(GROUP_BYTES / GROUP / 2).toString('hex');
      await collection.insertMany(Array.from({ length: GROUP }, () => ({ group: written, text })));
      await collection.updateMany({ group: written }, { $set: { done: true } });
      if (written % 3 === 2) await collection.deleteMany({ group: written - 1 });
      written++;
    }
  })();
  const stop = async (): Promise<void> => {
    stopped = true;
    await work;
  };
  onTestFinished(stop);
  return { written: () => written, stop };
}

async function finished(opened: OpenSource, copy: FileCopy): Promise<void> {
  await copyLog(opened, copy);
  await opened.end();
  await copy.endLog();
  await copy.close();
}

/** Opens a copy as an engine does. */
async function read(copied: string, name: string): Promise<Map<number, number>> {
  const other = await startEngine({ dataDir: join(copied, 'data', 'db') });
  const reader = await new MongoClient(other.uri).connect();
  try {
    expect(await reader.db('busy').command({ validate: name })).toMatchObject({ valid: true });
    const groups = await reader
      .db('busy')
      .collection(name)
      .aggregate<{ _id: number; n: number }>([{ $group: { _id: '$group', n: { $sum: 1 } } }])
      .toArray();
    return new Map(groups.map(({ _id, n }) => [_id, n]));
  } finally {
    await reader.close();
    await other.close();
  }
}

test('two copies at once, one of them slow, are whole while the log is moved several times', async () => {
  await client.db('busy').collection('both').createIndex({ group: 1 });
  const writer = writeOn('both');
  await expect.poll(writer.written).toBeGreaterThan(5);
  const before = writer.written();
  const [fast, slow] = [await source(), await source()];
  expect(await running()).toBe(2);
  const copies = [join(folder, 'fast'), join(folder, 'slow')] as const;
  const [first, second] = [
    await copyDatabase(fast, copies[0], NEVER),
    await FileCopy.create(join(copies[1], 'data', 'db')),
  ];
  // The fast one moves the log whenever it has its end; the slow one gets what it has not read.
  let moved = 0;
  const endLog = first.endLog.bind(first);
  first.endLog = async () => {
    moved++;
    await endLog();
  };
  for (let [offset, turn] = [0, 0]; moved < 2 || offset < slow.fileBytes; turn++) {
    await copyLog(fast, first);
    if (turn % 4 > 0) continue;
    const bytes = await slow.readFile(offset);
    if (bytes.length > 0) await second.writeFile(bytes, offset);
    offset += bytes.length === 0 ? slow.fileBytes : bytes.length;
    await copyLog(slow, second);
  }
  expect(logBytes()).toBeLessThan(64 * 1024 * 1024);
  const after = writer.written();
  await Promise.all([finished(fast, first), finished(slow, second)]);
  await writer.stop();
  for (const copied of copies) {
    expect(inspectFile(join(copied, 'data', 'db', 'engine.sqlite')).documents['busy.both']).toBeGreaterThan(0);
    const groups = await read(copied, 'both');
    expect(Math.max(...groups.keys())).toBeGreaterThanOrEqual(after - 1);
    for (let group = 0; group < before; group++) expect(groups.get(group) ?? (group % 3 === 1 ? GROUP : 0)).toBe(GROUP);
    for (const n of groups.values()) expect(n).toBe(GROUP);
  }
  expect(await running()).toBe(0);
});

test('a copy of a file that becomes shorter meanwhile has its new size', async () => {
  const large = client.db('shrinks').collection('large');
  await large.insertMany(Array.from({ length: 200 }, () => ({ text: randomBytes(10_000).toString('hex') })));
  await client.db('shrinks').collection('kept').insertOne({ kept: true });
  const opened = await source();
  const copied = join(folder, 'shorter');
  const copy = await copyDatabase(opened, copied, NEVER);
  await large.drop();
  await client.db('shrinks').command({ compact: 'kept' });
  await finished(opened, copy);
  const path = join(copied, 'data', 'db', 'engine.sqlite');
  expect(statSync(path).size).toBeLessThan(opened.fileBytes - 3_000_000);
  expect(inspectFile(path).documents).toMatchObject({ 'shrinks.kept': 1 });
});

test('a copy whose log is kept beside it opens as after a power cut, with everything that was copied', async () => {
  const opened = await source();
  const copied = join(folder, 'beside');
  const copy = await copyDatabase(opened, copied, NEVER);
  await client
    .db('busy')
    .collection('beside')
    .insertMany(Array.from({ length: GROUP }, () => ({ group: 0 })));
  await copyLog(opened, copy);
  const bytes = copy.logBytes;
  await copy.close();
  await opened.end();
  expect(existsSync(`${copy.path}-wal`)).toBe(true);
  settleCopy(join(copied, 'data', 'db'), bytes);
  expect(await read(copied, 'beside')).toEqual(new Map([[0, GROUP]]));
});

describe('a copied log is refused', () => {
  async function copyWithLog(name: string): Promise<{ path: string; bytes: number }> {
    const opened = await source();
    const copy = await copyDatabase(opened, join(folder, name), NEVER);
    await client
      .db('busy')
      .collection('log')
      .insertMany(Array.from({ length: 20 }, (_, group) => ({ group })));
    await copyLog(opened, copy);
    const bytes = copy.logBytes;
    await copy.close();
    await opened.end();
    return { path: copy.path, bytes };
  }

  test.each([
    ['with a flipped bit', (log: Buffer) => log.writeUInt8(log.readUInt8(log.length - 2000) ^ 4, log.length - 2000)],
    [
      'with two flipped bits in the last frame',
      (log: Buffer) => log.writeUInt8(log.readUInt8(log.length - 2000) ^ 12, log.length - 2000),
    ],
    ['with another header', (log: Buffer) => log.writeUInt8(log.readUInt8(20) ^ 1, 20)],
  ])('%s', async (name, damage) => {
    const { path, bytes } = await copyWithLog(`damaged ${name}`);
    const log = readFileSync(`${path}-wal`);
    damage(log);
    writeFileSync(`${path}-wal`, log);
    expect(() => settleCopy(join(path, '..'), bytes)).toThrow(/is damaged/);
  });

  test('without its end', async () => {
    const { path, bytes } = await copyWithLog('short');
    writeFileSync(`${path}-wal`, readFileSync(`${path}-wal`).subarray(0, bytes - 4120));
    expect(() => settleCopy(join(path, '..'), bytes)).toThrow(/is damaged/);
  });
});

test('a backup ends with its connection, and the log is moved as before', async () => {
  const other = await new MongoClient(engine.uri, { maxPoolSize: 1 }).connect();
  await beginBackup(other);
  expect(await running()).toBe(1);
  await other.close();
  await expect.poll(running).toBe(0);
});

test('what is wrong is refused', async () => {
  const admin = client.db('admin');
  await expect(client.db('busy').command({ beginBackup: 1 })).rejects.toMatchObject({ code: 13 });
  await expect(admin.command({ backupLog: 4711 })).rejects.toMatchObject({ code: 96 });
  await expect(admin.command({ backupLog: 'a' })).rejects.toMatchObject({ code: 14 });
  await expect(admin.command({ beginBackup: 1, to: '/tmp' })).rejects.toMatchObject({ code: 40415 });
  const begun = await beginBackup(client);
  const { end } = (await begun.askLog(0)) as { end: number };
  await expect(begun.askLog(-1)).rejects.toMatchObject({ code: 51024 });
  await expect(begun.askLog(end + 1)).rejects.toMatchObject({ code: 2 });
  await begun.askLog(end);
  if (end > 0) await expect(begun.askLog(0)).rejects.toMatchObject({ code: 2 });
  await begun.end();
  await begun.end();
  await expect(begun.askLog(end)).rejects.toThrow(/it has ended/);
});

describe('without a client that reads', () => {
  function open(): Store {
    const store = new Store(join(folder, randomBytes(4).toString('hex')), { oplogBytes: 1_000_000 });
    onTestFinished(() => store.close());
    return store;
  }

  function write(store: Store, times: number): void {
    for (let i = 0; i < times; i++) {
      store.commit.write(() => {
        const doc = { _id: randomBytes(8).toString('hex'), text: 'x'.repeat(50_000) };
        store.documents.insert(store.collectionForWrite('db', 'c'), doc, encodeDocument(doc));
      });
      store.commit.flush();
    }
  }

  test('the log grows to its limit, then the backup ends and the log is moved again', async () => {
    const store = open();
    const backups = new Backups(store.database, 20_000_000);
    const { id } = backups.begin();
    write(store, 300);
    expect(statSync(store.database.logPath).size).toBeGreaterThan(20_000_000);
    await expect.poll(() => backups.ids).toEqual([]);
    expect(() => backups.log(id, 0)).toThrow(/slower than the writes/);
    write(store, 1);
    // Moved, so that the next write begins at its start.
    expect(store.database.logEnd()).toBeGreaterThan(20_000_000);
    write(store, 1);
    expect(store.database.logEnd()).toBeLessThan(1_000_000);
  });

  test('a failed commit ends all backups, and gives the log back', () => {
    const store = open();
    const { id } = store.backups.begin();
    write(store, 100);
    const { beforeCommit } = store.commit;
    store.commit.beforeCommit = () => {
      throw new Error('the disk is full');
    };
    write(store, 1);
    store.commit.beforeCommit = beforeCommit;
    expect(statSync(store.database.logPath).size).toBe(0);
    expect(() => store.backups.log(id, 0)).toThrow(/the disk may be full/);
    write(store, 1);
  });
});
