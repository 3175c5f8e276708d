import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withoutPauses } from '../../../src/engine/query/pause.ts';
import type { Doc } from '../../../src/engine/query/types.ts';
import type { Collection } from '../../../src/engine/store/catalog.ts';
import type { IndexBuild } from '../../../src/engine/store/index-builds.ts';
import { newReadStats, prepareQuery } from '../../../src/engine/store/read.ts';
import { Store } from '../../../src/engine/store/store.ts';
import { encodeDocument } from '../../../src/engine/wire/bson.ts';
import { matchesIn } from '../../support/engine-matches.ts';

/** What happens between the steps of an index build: after its keys are collected, before they are added. */
const COUNT = 600;

let folder: string;
let store: Store;
let collection: Collection;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'engine-'));
  store = new Store(folder, { oplogBytes: 10_000_000 });
  store.commit.write(() => {
    collection = store.collectionForWrite('db', 'c');
    for (let id = 0; id < COUNT; id++) insert({ _id: id, n: (id * 7) % COUNT });
  });
});

afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

function insert(doc: Doc): void {
  store.documents.insert(collection, doc, encodeDocument(doc));
}

function change(filter: Doc, n: number | null): void {
  for (const { rid, doc } of matchesIn(store, collection, filter))
    if (n === null) store.documents.remove(collection, rid, doc);
    else store.documents.update(collection, rid, doc, { ...doc, n }, undefined);
}

function write<T>(work: () => T): T {
  return store.commit.write(work);
}

function collected(unique: boolean): IndexBuild {
  const build = write(() => store.builds.begin(collection, [{ v: 2, key: { n: 1 }, name: 'n', unique }]));
  for (const _ of store.builds.collect(build)) store.commit.flush();
  return build;
}

function complete(build: IndexBuild, between: () => void = () => {}): void {
  while (store.commit.write(() => store.builds.addNext(build))) between();
  write(() => store.builds.finish(build));
}

/** The ids of the documents by the index, and by none, each in the order of `n`. */
function ids(hint: unknown): unknown[] {
  collection = store.catalog.find('db', 'c') as Collection;
  const query = { filter: { n: { $gte: -1000 } }, sort: { n: 1, _id: 1 }, skip: 0, limit: 0, hint };
  return [...withoutPauses(prepareQuery(store, collection, query).run(newReadStats()))].map(({ doc }) =>
    Number(doc._id),
  );
}

function entries(): number {
  const index = collection.indexes.find(({ name }) => name === 'n');
  return Number(store.database.prepare('SELECT count(*) AS n FROM idx WHERE i = ?').get(index?.id ?? 0)?.n);
}

function expectWhole(): void {
  expect(ids('n')).toEqual(ids({ _id: 1 }));
  expect(entries()).toBe(store.documents.count(collection));
}

test('writes after the keys were collected', () => {
  const build = collected(false);
  write(() => {
    change({ _id: 3 }, 5000);
    change({ _id: 4 }, null);
    insert({ _id: COUNT, n: 10 });
    change({ _id: 5 }, 5001);
    change({ _id: 5 }, (5 * 7) % COUNT);
  });
  let id = 100;
  complete(build, () =>
    write(() => {
      change({ _id: id++ }, id);
      change({ _id: id++ }, null);
      insert({ _id: 10_000 + id, n: id });
    }),
  );
  expectWhole();
});

test('writes that are undone, and transactions that are aborted, leave their keys', () => {
  const build = collected(false);
  expect(() =>
    write(() => {
      change({ _id: { $lt: 50 } }, 7000);
      throw new Error('undone');
    }),
  ).toThrow('undone');
  collection = store.catalog.find('db', 'c') as Collection;
  const transaction = store.transactions.begin('a'.repeat(32), 1);
  const inIt = (work: () => void) =>
    store.transactions.run(transaction, () => {
      collection = store.catalog.find('db', 'c') as Collection;
      work();
    });
  inIt(() => change({ _id: { $gte: 50, $lt: 100 } }, 8000));
  inIt(() => change({ _id: { $gte: 100, $lt: 120 } }, null));
  store.transactions.abort(transaction);
  complete(build);
  expectWhole();
});

test('a duplicate key that comes meanwhile ends the build or is refused, and neither is lost', () => {
  const build = collected(true);
  write(() => insert({ _id: COUNT, n: 14 }));
  expect(() => complete(build)).toThrow(/E11000.*dup key: \{ n: 14 \}/);
  store.builds.abandon(build);
  write(() => change({ _id: COUNT }, null));
  const second = collected(true);
  while (store.commit.write(() => store.builds.addNext(second)));
  expect(() => write(() => insert({ _id: COUNT, n: 14 }))).toThrow(/E11000.*dup key: \{ n: 14 \}/);
  write(() => store.builds.finish(second));
  expectWhole();
});
