import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient, Timestamp } from 'mongodb';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { copyDatabase, copyLog, type OpenSource, openSource } from '../../src/app/backup/copy-store.ts';
import { FileCopy } from '../../src/engine/copy/file-copy.ts';
import { settleCopy } from '../../src/engine/copy/settle-copy.ts';
import { startServer } from '../../src/engine/server.ts';
import { Backups } from '../../src/engine/store/backups.ts';
import { inspectFile } from '../../src/engine/store/inspect.ts';
import { Store } from '../../src/engine/store/store.ts';
import { encodeDocument } from '../../src/engine/wire/bson.ts';
import { beginBackup } from '../../src/storage/backup-source.ts';
import { type EngineProcess, startEngineProcess } from '../support/engine-process.ts';
import { testLong } from '../support/samples.ts';

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
/** Pause between two groups of a writer, milliseconds. */
const PAUSE_MS = 20;
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
      // A part of what the machine can do, so that copies keep up on a busy one, too.
      await sleep(PAUSE_MS);
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

/** Opens a copy as an engine does, in this thread, which loads no modules anew. */
async function read(copied: string, name: string): Promise<Map<number, number>> {
  const other = await startServer({ dataDir: join(copied, 'data', 'db') });
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

testLong('two copies at once, one of them slow, are whole while the log is moved several times', async () => {
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

describe('behind the bytes that a followed copy promises, a power cut', () => {
  const COMMITS = 5;
  let copied: string;
  /** Where the log ends behind each commit. */
  const ends: number[] = [];

  beforeAll(async () => {
    const store = await new MongoClient(engine.uri).connect();
    const opened = await openSource({ client: store, close: () => store.close() });
    copied = join(folder, 'cut');
    const copy = await copyDatabase(opened, copied, NEVER);
    for (let group = 0; group < COMMITS; group++) {
      await client
        .db('busy')
        .collection('cut')
        .insertMany(Array.from({ length: GROUP }, () => ({ group })));
      await copyLog(opened, copy);
      ends.push(copy.logBytes);
    }
    await copy.close();
    await opened.close();
  });

  /** Another copy, with damage to its log. */
  function damaged(name: string, damage: (log: Buffer) => void): string {
    const other = join(folder, `cut with ${name}`);
    cpSync(copied, other, { recursive: true });
    const path = join(other, 'data', 'db', 'engine.sqlite-wal');
    const log = readFileSync(path);
    damage(log);
    writeFileSync(path, log);
    return other;
  }
  const settle = (other: string, bytes: number) => settleCopy(join(other, 'data', 'db'), bytes);
  const hole = (log: Buffer) => void log.fill(0, ends[1], ends[2]);
  const groups = (count: number) => new Map(Array.from({ length: count }, (_, group) => [group, GROUP]));

  test('that leaves a hole costs what follows it', async () => {
    const other = damaged('a hole', hole);
    settle(other, ends[0] as number);
    expect(await read(other, 'cut')).toEqual(groups(2));
  });

  test('that loses a part of a frame costs what follows it', async () => {
    const other = damaged('a lost sector', (log) => void log.fill(0, (ends[3] as number) - 512, ends[3]));
    settle(other, ends[2] as number);
    expect(await read(other, 'cut')).toEqual(groups(3));
  });

  test('that loses the begin of a new log costs the log', () => {
    const other = damaged('no header', (log) => void log.fill(0, 0, 4096));
    expect(settle(other, 0).documents['busy.cut']).toBeUndefined();
  });

  test('is no excuse for damage before them', () => {
    const other = damaged('damage', hole);
    expect(() => settle(other, ends[3] as number)).toThrow(/is damaged/);
  });
});

test('a log is needed before its first page is written into the file, until all are on the disk', async () => {
  const opened = await source();
  const copy = await copyDatabase(opened, join(folder, 'needed'), NEVER);
  await client.db('busy').collection('needed').insertOne({ needed: true });
  await copyLog(opened, copy);
  const [bytes, before] = [copy.logBytes, readFileSync(copy.path)];
  const needed: [number, boolean][] = [];
  await copy.endLog(async (logBytes) => void needed.push([logBytes, readFileSync(copy.path).equals(before)]));
  expect(needed).toEqual([
    [bytes, true],
    [0, false],
  ]);
  await copy.close();
});

test('a state is found in the history of the data, also when the oplog no longer has it', () => {
  const store = new Store(join(folder, 'states'), { oplogBytes: 1_000_000 });
  onTestFinished(() => store.close());
  const { history, commit, oplog } = store;
  expect(() => history.state()).toThrow('has no id');
  commit.write(() => history.begin());
  commit.flush();
  const empty = history.state();
  const insert = (times: number) => {
    for (let i = 0; i < times; i++) {
      commit.write(() => {
        const doc = { _id: randomBytes(8).toString('hex'), text: 'x'.repeat(50_000) };
        store.documents.insert(store.collectionForWrite('db', 'c'), doc, encodeDocument(doc));
      });
      commit.flush();
    }
  };
  insert(2);
  const early = history.state();
  for (const state of [empty, early]) expect(history.includes(state)).toBe(true);
  for (const change of [{ id: early.id - 1 }, { seq: early.seq + 1 }, { sum: early.sum - 1 }])
    expect(history.includes({ ...early, ...change })).toBe(false);
  insert(60);
  expect(oplog.floor).toBeGreaterThan(early.seq);
  expect(history.includes(early)).toBe(true);
  expect(history.includes(early, true)).toBe(false);
  expect(history.includes(history.state(), true)).toBe(true);
  expect(history.includes({ ...early, id: early.id - 1 })).toBe(false);
  commit.write(() => history.begin());
  commit.flush();
  expect(history.state().id).toBe(early.id);
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
  for (const since of [{}, { id: 1, sum: 1, time: 1 }, { id: 'a', sum: 1, time: new Timestamp(1n) }, 1])
    await expect(admin.command({ beginBackup: 1, since })).rejects.toMatchObject({ code: 14 });
  await expect(admin.command({ beginBackup: 1, since: { to: 1 } })).rejects.toMatchObject({ code: 40415 });
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
    const backups = new Backups(store.database, 8_000_000);
    const { id } = backups.begin();
    write(store, 120);
    expect(statSync(store.database.logPath).size).toBeGreaterThan(8_000_000);
    await expect.poll(() => backups.ids).toEqual([]);
    expect(() => backups.log(id, 0)).toThrow(/slower than the writes/);
    write(store, 1);
    // Moved, so that the next write begins at its start.
    expect(store.database.logEnd()).toBeGreaterThan(8_000_000);
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
