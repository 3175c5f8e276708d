import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startApp } from '../../src/app/app.ts';
import { moveData } from '../../src/app/migration.ts';
import { readConfig } from '../../src/config.ts';
import { compareCollection } from '../../src/storage/compare-collection.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { moveCollection } from '../../src/storage/move-collection.ts';
import { watchWrites } from '../../src/storage/other-writers.ts';
import { MOST } from '../../src/storage/raw-documents.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { STAND_IN_RENDERER, sharedThreads, withDatabase } from '../support/service.ts';

// What a move from a server guarantees, and its parts.

const SIGNAL = new AbortController().signal;
const SILENT = { waits: () => {}, begins: () => {}, passes: () => {} };

let mongo: TestMongo;
let folder: string;
beforeAll(async () => {
  mongo = await startTestMongo();
  folder = await mkdtemp(join(tmpdir(), 'move-'));
});
afterAll(async () => {
  await mongo.close();
  await rm(folder, { recursive: true, force: true });
});

/** The URL of a new database, which the end of the test drops. */
async function database(): Promise<Store & { readonly url: string }> {
  const url = withDatabase(mongo.uri, freshDbName('move'));
  const store = await connect(url);
  onTestFinished(async () => {
    await store.db.dropDatabase();
    await store.close();
  });
  return { ...store, url };
}

type Row = { _id: string; at?: Date; n?: number };
const rows = (db: Db) => db.collection<Row>('rows');
const move = (from: string, to: string) => moveData(readConfig({ DATA_DIR: folder }), from, to, SILENT);

describe('a server as the source', () => {
  const settings = (url: string, role: string) =>
    readConfig({
      DATA_DIR: folder,
      PORT: '0',
      ROLE: role,
      LOG_LEVEL: 'silent',
      MONGODB_URL: url,
      MASTER_KEY: 'ab'.repeat(32),
    });

  it('is not moved while a worker runs on it, and ends the processes that do not work', async () => {
    const [source, target] = [await database(), await database()];
    const worker = await startApp(settings(source.url, 'worker'), { ...sharedThreads(), renderer: STAND_IN_RENDERER });
    await expect(move(source.url, target.url)).rejects.toThrow(/^a worker uses mongodb:.* Stop every process/);
    await worker.close();
    const ended = Promise.withResolvers<void>();
    const api = await startApp(settings(source.url, 'api'), { ...sharedThreads(), onFatal: ended.resolve });
    const moved = await move(source.url, target.url);
    await ended.promise;
    await api.close();
    expect(moved.collections?.find(({ name }) => name === 'installation')?.documents).toBeGreaterThan(3);
  });

  it('that is written to meanwhile ends the move', async () => {
    const [source, target] = [await database(), await database()];
    await rows(source.db).insertOne({ _id: 'a' });
    const write = () => void rows(source.db).updateOne({ _id: 'a' }, { $set: { n: 1 } });
    const moved = moveData(readConfig({ DATA_DIR: folder }), source.url, target.url, { ...SILENT, waits: write });
    await expect(moved).rejects.toThrow(/something else wrote .*\(update, rows\)/);
  });

  it('whose last write came just before the end is told of, too', async () => {
    const source = await database();
    await source.db.collection<{ _id: string }>('data_moves').insertOne({ _id: 'source' });
    const watch = await watchWrites(source.db);
    await watch.confirm();
    await rows(source.db).insertOne({ _id: 'late' });
    await expect(watch.confirm()).rejects.toThrow(/something else wrote .*\(insert, rows\)/);
    await watch.close();
  });
});

describe('a collection', () => {
  const compare = (source: Db, target: Db) => compareCollection(source, target, 'rows', () => {}, SIGNAL);

  it('of many batches is moved on behind what is there, also while a killed process still moves it', async () => {
    const [source, target] = [await database(), await database()];
    const all = Array.from({ length: 2 * MOST.documents + 5 }, (_, n) => ({ _id: String(n).padStart(6, '0'), n }));
    await rows(source.db).insertMany(all);
    await rows(target.db).insertMany(all.slice(0, 3));
    const passed: number[] = [];
    const one = () => moveCollection(source.db, target.db, 'rows', ({ documents }) => passed.push(documents), SIGNAL);
    await Promise.all([one(), one()]);
    expect(passed.reduce((sum, n) => sum + n)).toBeLessThanOrEqual(all.length - 3);
    expect(await compare(source.db, target.db)).toMatchObject({ documents: all.length });
  });

  it.each([
    ['lacks', (db: Db) => rows(db).deleteOne({ _id: 'b' }), /the target lacks document "b" of rows/],
    ['lacks the last', (db: Db) => rows(db).deleteOne({ _id: 'c' }), /the target lacks document "c" of rows/],
    ['has one more', (db: Db) => rows(db).insertOne({ _id: 'bb' }), /the source has no document "bb" of rows/],
    ['differs', (db: Db) => rows(db).updateOne({ _id: 'b' }, { $set: { n: 2 } }), /document "b" of rows differs/],
  ])('of which the target %s is not the same', async (_name, change, message) => {
    const [source, target] = [await database(), await database()];
    for (const { db } of [source, target]) await rows(db).insertMany(['a', 'b', 'c'].map((_id) => ({ _id, n: 1 })));
    expect(await compare(source.db, target.db)).toMatchObject({ documents: 3 });
    await change(target.db);
    await expect(compare(source.db, target.db)).rejects.toThrow(message);
  });

  it('may have lost in one of them what a TTL index deletes by now, and nothing else', async () => {
    const [source, target] = [await database(), await database()];
    const at = (seconds: number) => new Date(Date.now() - seconds * 1000);
    await rows(source.db).insertMany([{ _id: 'a', at: at(900) }, { _id: 'b', at: at(7200) }, { _id: 'c' }]);
    await rows(target.db).insertMany([{ _id: '0', at: at(8000) }, { _id: 'a', at: at(900) }, { _id: 'c' }]);
    await rows(target.db).updateOne({ _id: 'a' }, { $set: (await rows(source.db).findOne({ _id: 'a' })) ?? {} });
    await expect(compare(source.db, target.db)).rejects.toThrow(/no document "0"/);
    await rows(source.db).createIndex({ at: 1 }, { expireAfterSeconds: 7700 });
    await expect(compare(source.db, target.db)).rejects.toThrow(/lacks document "b"/);
    await rows(source.db).dropIndexes();
    await rows(source.db).createIndex({ at: 1 }, { expireAfterSeconds: 3600 });
    expect(await compare(source.db, target.db)).toMatchObject({ documents: 2 });
  });
});
