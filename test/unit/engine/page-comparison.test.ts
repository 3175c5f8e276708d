import { randomBytes } from 'node:crypto';
import {
  closeSync,
  cpSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { giveBack } from '../../../src/engine/store/free-space.ts';
import { Store } from '../../../src/engine/store/store.ts';
import { encodeDocument } from '../../../src/engine/wire/bson.ts';

let folder: string;
let store: Store;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'engine-'));
  store = new Store(folder, { oplogBytes: 100_000 });
});

afterEach(() => {
  if (store.database.sqlite.isOpen) store.close();
  rmSync(folder, { recursive: true, force: true });
});

const path = () => join(folder, 'engine.sqlite');
const pages = () => statSync(path()).size / 4096;

function fill(name: string, count: number): void {
  store.commit.write(() => {
    const collection = store.collectionForWrite('db', name);
    const text = randomBytes(4000).toString('hex');
    for (let _id = 0; _id < count; _id++) {
      const doc = { _id, text };
      store.documents.insert(collection, doc, encodeDocument(doc));
    }
  });
  moveToFile();
}

/** Drops the collection and gives its space back to the file system. */
function drop(name: string): void {
  store.commit.write(() => store.dropCollection(store.collectionForWrite('db', name)));
  while (store.commit.write(() => store.builds.removeLeaving()));
  for (const _ of giveBack(store, 0)) store.commit.flush();
  moveToFile();
}

function moveToFile(): void {
  store.commit.flush();
  store.database.checkpoint();
}

function compare(times: number): void {
  for (let n = 0; n < times; n++) store.database.comparePages();
}

test('the comparison of pages goes on when the file has shrunk, wherever it was', () => {
  fill('kept', 10);
  for (const position of [1, 4, 8]) {
    fill('dropped', 1200);
    expect(pages()).toBeGreaterThan(2300);
    compare(position);
    drop('dropped');
    expect(pages()).toBeLessThan(200);
    compare(20);
  }
  const file = openSync(path(), 'r+');
  writeSync(file, Buffer.of(1), 0, 1, 10 * 4096 + 100);
  closeSync(file);
  expect(() => compare(2)).toThrow('page 11 changed on disk');
});

const open = (options: object = {}) => new Store(folder, { oplogBytes: 1e9, ...options });

/** Overwrites bytes of a page of the data file. */
function write(page: number, bytes: Uint8Array, at = 0): void {
  const file = openSync(path(), 'r+');
  writeSync(file, bytes, 0, bytes.length, (page - 1) * 4096 + at);
  closeSync(file);
}

test('what changed in a closed file is found while the engine runs if the start had no time for it, and by the next start', () => {
  fill('kept', 300);
  store.close();
  const page = pages() - 5;
  write(page, Buffer.of(1), 2000);
  store = open({ examinedMs: 0 });
  expect(() => compare(100)).toThrow(`page ${page} changed on disk`);
  store.close();
  expect(() => open({ examinedMs: 0 })).toThrow('damaged');
});

/** Whether a start compares the pages of a closed file. @param change what is done to the file */
function isCompared(change: () => void): boolean {
  fill(`kept_${randomBytes(4).toString('hex')}`, 100);
  store.close();
  change();
  store = open();
  return !store.database.sums.isFirstRound;
}

test('a file that nobody has written to since the stop is compared while the engine runs, any other by the start', () => {
  expect(isCompared(() => {})).toBe(false);
  expect(
    isCompared(() => {
      const file = openSync(path(), 'r+');
      const byte = Buffer.alloc(1);
      readSync(file, byte, 0, 1, 5000);
      writeSync(file, byte, 0, 1, 5000);
      closeSync(file);
    }),
  ).toBe(true);
  expect(
    isCompared(() => {
      const { atimeMs, mtimeMs } = statSync(path());
      const copy = `${path()}.copy`;
      cpSync(path(), copy);
      utimesSync(copy, atimeMs / 1000, mtimeMs / 1000);
      renameSync(copy, path());
    }),
  ).toBe(true);
  expect(isCompared(() => {})).toBe(false);
});

test('a start that checks everything compares all pages, however long it takes', () => {
  fill('kept', 300);
  store.close();
  write(pages() - 5, Buffer.of(1), 2000);
  expect(() => open({ examinedMs: 0, checkAll: true })).toThrow('damaged');
});

/** Goes on with the folder as a crash after a last commit leaves it. */
function crash(): void {
  store.commit.write(() => store.collectionForWrite('db', 'last'));
  store.commit.flush();
  const crashed = mkdtempSync(join(tmpdir(), 'engine-'));
  cpSync(folder, crashed, { recursive: true });
  store.close();
  rmSync(folder, { recursive: true, force: true });
  folder = crashed;
}

/** A folder as a crash leaves it, whose disk has lost what a commit wrote to a page: it is as it was before. */
function crashWithLostWrite(): { page: number; repair: () => void } {
  store.close();
  store = open();
  fill('kept', 300);
  const update = (state: string) =>
    store.commit.write(() => {
      const collection = store.collectionForWrite('db', 'small');
      const doc = { _id: 1, state, text: 'x'.repeat(1000) };
      const row = store.database.prepare('SELECT rid FROM doc ORDER BY rid DESC LIMIT 1').get() as { rid: number };
      const stored = store.documents.read(row.rid) as Uint8Array;
      if (state === 'UNPAID') store.documents.insert(collection, doc, encodeDocument(doc));
      else store.documents.put(collection, row.rid, stored, encodeDocument(doc));
    });
  update('UNPAID');
  moveToFile();
  const before = readFileSync(path());
  update('PAID!!');
  moveToFile();
  // Another log begins, so that the page is in the data file only.
  fill('others', 1);
  crash();
  const now = readFileSync(path());
  const pageOf = (bytes: Buffer, number: number) => bytes.subarray((number - 1) * 4096, number * 4096);
  for (let page = 2; page <= before.length / 4096; page++) {
    if (!pageOf(before, page).includes('UNPAID') || !pageOf(now, page).includes('PAID!!')) continue;
    write(page, pageOf(before, page));
    return { page, repair: () => write(page, pageOf(now, page)) };
  }
  throw new Error('no page has the document');
}

test('a write that the disk lost before a crash is found by the start, and by each one after it', () => {
  const { page } = crashWithLostWrite();
  for (let n = 0; n < 3; n++) expect(() => open()).toThrow(`page ${page} changed on disk`);
});

test('a write that the disk lost before a crash is refused for good if it is found while the engine runs', () => {
  const { page } = crashWithLostWrite();
  store = open({ examinedMs: 0 });
  expect(() => compare(100)).toThrow(`page ${page} changed on disk`);
  store.close();
  for (const options of [{}, { checkAll: true }, { examinedMs: 0 }])
    expect(() => open(options)).toThrow(`page ${page} changed on disk`);
});

test('a file without the damage that was found is accepted again', () => {
  const { repair } = crashWithLostWrite();
  store = open({ examinedMs: 0 });
  expect(() => compare(100)).toThrow('changed on disk');
  store.close();
  expect(() => open()).toThrow('engine.sqlite.sums to let the content decide');
  repair();
  store = open();
});

test('who writes to a closed file is responsible for it, also after a crash: its content decides', () => {
  crashWithLostWrite().repair();
  store = open({ examinedMs: 0 });
  store.close();
  const text = 2000 + readFileSync(path()).subarray(2000).indexOf('xxxxxxxxxxxxxxxx');
  write(1 + Math.floor(text / 4096), Buffer.of(1), text % 4096);
  expect(() => open()).toThrow('rows with a wrong checksum');
});

test('a stop before all pages are compared does not forget that there was a crash', () => {
  const { page } = crashWithLostWrite();
  store = open({ examinedMs: 0 });
  store.close();
  for (let n = 0; n < 2; n++) expect(() => open()).toThrow(`page ${page} changed on disk`);
});

test('once all pages were compared after a crash, a closed file with another page is judged by its content again', () => {
  store.close();
  store = open();
  fill('kept', 300);
  crash();
  store = open({ examinedMs: 0 });
  compare(100);
  store.close();
  write(pages() - 5, Buffer.of(1), 2000);
  expect(() => open()).toThrow('rows with a wrong checksum');
});
