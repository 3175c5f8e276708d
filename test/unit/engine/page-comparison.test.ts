import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
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
    for (let _id = 0; _id < count; _id++) {
      const doc = { _id, text: randomBytes(4000).toString('hex') };
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

/** Leaves a closed file of more than 32 MiB without free pages, in which the byte at `place` is another one. */
function leaveDamage(place: (pages: number) => number): number {
  store.close();
  store = new Store(folder, { oplogBytes: 1e9 });
  fill('kept', 2500);
  store.close();
  expect(pages()).toBeGreaterThan(8500);
  const page = place(pages());
  const file = openSync(path(), 'r+');
  writeSync(file, Buffer.of(1), 0, 1, (page - 1) * 4096 + 2000);
  closeSync(file);
  return page;
}

test('a start compares 32 MiB; what changed behind them is found while the engine runs, and by the next start', () => {
  const page = leaveDamage((last) => last - 5);
  store = new Store(folder, { oplogBytes: 1e9 });
  expect(() => compare(100)).toThrow(`page ${page} changed on disk`);
  store.close();
  expect(() => new Store(folder, { oplogBytes: 1e9 })).toThrow('damaged');
});

test('a start finds what changed in the first 32 MiB', () => {
  leaveDamage(() => 8192);
  expect(() => new Store(folder, { oplogBytes: 1e9 })).toThrow('damaged');
});
