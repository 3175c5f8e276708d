import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Int32 } from 'bson';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { PAUSE, type Pausing } from '../../../src/engine/query/pause.ts';
import type { Doc } from '../../../src/engine/query/types.ts';
import type { Collection } from '../../../src/engine/store/catalog.ts';
import {
  countMatches,
  type Match,
  newReadStats,
  prepareQuery,
  rowsToWrite,
  rowToWrite,
} from '../../../src/engine/store/read.ts';
import { Store } from '../../../src/engine/store/store.ts';
import { encodeDocument } from '../../../src/engine/wire/bson.ts';
import { matchesIn } from '../../support/engine-matches.ts';

/** What a search answers when others write in its pauses. */
const COUNT = 1000;

let folder: string;
let store: Store;
let collection: Collection;

beforeEach(() => {
  // Each look at the clock is a millisecond after the last one, so that a search pauses after each document.
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => ++now);
  folder = mkdtempSync(join(tmpdir(), 'engine-'));
  store = new Store(folder, { oplogBytes: 10_000_000 });
  store.commit.write(() => {
    collection = store.collectionForWrite('db', 'c');
    store.catalog.addIndex(collection, { v: 2, key: { i: 1 }, name: 'i' });
    for (let id = 0; id < COUNT; id++) insert({ _id: id, n: id, i: id, state: 'new' });
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

function insert(doc: Doc): void {
  store.documents.insert(collection, doc, encodeDocument(doc));
}

const queryOf = (filter: Doc, sort: Doc = {}, limit = 0) => ({ filter, sort, skip: 0, limit, hint: undefined });

/** Sets fields of the documents, or removes them (null). */
function change(filter: Doc, fields: Doc | null): void {
  store.commit.write(() => {
    for (const { rid, doc } of matchesIn(store, collection, filter))
      if (fields) store.documents.update(collection, rid, doc, { ...doc, ...fields }, undefined);
      else store.documents.remove(collection, rid, doc);
  });
}

/** A document as it is decoded: numbers keep their types. */
const stored = (id: number, n = id) => ({ _id: new Int32(id), n: new Int32(n) });

/** Runs a search to its end. @param atPause called at each pause with its number, from 1 on */
function whole<T>(search: Iterator<unknown, T>, atPause: (number: number) => void): T {
  for (let pauses = 1; ; ) {
    const { done, value } = search.next();
    if (done) return value as T;
    if (value === PAUSE) atPause(pauses++);
  }
}

/** The `n` of the documents of a query, while others write when most documents were read. */
function found(filter: Doc, sort: Doc, limit: number, write: () => void): unknown[] {
  const stats = newReadStats();
  const results: unknown[] = [];
  const matches: Pausing<Match> = prepareQuery(store, collection, queryOf(filter, sort, limit)).run(stats);
  let isWritten = false;
  for (const match of matches)
    if (match !== PAUSE) results.push(Number((match as Match).doc.n));
    else if (stats.docs > COUNT / 2 && !isWritten) {
      write();
      isWritten = true;
    }
  expect(isWritten).toBe(true);
  return results;
}

describe('a sort', () => {
  const all = Array.from({ length: COUNT }, (_, n) => n);

  test.each([1, 3, COUNT - 1, 0])('up to %d has its documents, one of which others remove', (limit) => {
    const wanted = all.slice(0, limit || COUNT);
    expect(found({}, { n: 1 }, limit, () => change({ _id: 0 }, null))).toEqual(wanted);
  });

  test.each([1, 3, COUNT - 1, 0])('up to %d has the versions that it sorts, which others change', (limit) => {
    const wanted = all.slice(0, limit || COUNT);
    expect(found({ n: { $gte: 0 } }, { n: 1 }, limit, () => change({ _id: { $lt: 5 } }, { n: 500.5 }))).toEqual(wanted);
  });

  test('has its documents also if they went through a file', () => {
    const text = 'x'.repeat(1024 * 1024);
    store.commit.write(() => {
      for (let id = COUNT; id < COUNT + 40; id++) insert({ _id: id, n: id, text });
    });
    const sorted = found({}, { n: -1 }, 0, () => change({ _id: 50 }, { n: 5 }));
    expect(sorted).toEqual(Array.from({ length: COUNT + 40 }, (_, n) => COUNT + 39 - n));
  });
});

test('a count has each document once, also if the index becomes multikey meanwhile', () => {
  store.commit.write(() => {
    for (let id = COUNT; id < 6000; id++) insert({ _id: id, n: id, i: id });
  });
  const search = countMatches(store, collection, queryOf({ i: { $gte: 0 } }), Number.POSITIVE_INFINITY);
  const counted = whole(search, (n) => {
    if (n === 1) store.commit.write(() => insert({ _id: 6000, i: [6000, 6001, 6002] }));
  });
  expect(counted).toBe(6001);
});

describe('a search for the one to write', () => {
  const search = (filter: Doc, sort: Doc = {}) =>
    rowToWrite(store, collection, queryOf(filter, sort, 1), Number.POSITIVE_INFINITY);
  const last = { $expr: { $gte: ['$n', COUNT - 2] }, state: 'new' };

  test('returns the present version', () => {
    const match = whole(search(last), (n) => n === 900 && change({ n: COUNT - 2 }, { extra: 1 }));
    expect(match?.doc).toMatchObject({ ...stored(COUNT - 2), state: 'new', extra: { value: 1 } });
  });

  test.each([
    ['is removed', null],
    ['does not match any more', { state: 'taken' }],
  ])('passes over one that %s', (_, fields) => {
    const match = whole(search(last), (n) => n === 900 && change({ n: COUNT - 2 }, fields));
    expect(match?.doc).toMatchObject(stored(COUNT - 1));
  });

  test('is repeated when others change what it has found, and finds what matches then', () => {
    const match = whole(search(last), (n) => {
      if (n !== 900) return;
      change({ n: { $gte: COUNT - 2 } }, { state: 'taken' });
      change({ n: 0 }, { n: COUNT });
    });
    expect(match?.doc).toMatchObject({ ...stored(0, COUNT), state: 'new' });
  });

  test('finds none when others take all', () => {
    expect(whole(search(last), (n) => n === 900 && change({}, { state: 'taken' }))).toBeUndefined();
  });

  test.each([
    ['n', 900],
    ['i', 300],
  ])('in the order of %s takes the next one when others take the first', (field, nth) => {
    const sorted = search({ state: 'new', $expr: { $gte: ['$n', 400] } }, { [field]: 1 });
    const match = whole(sorted, (n) => n === nth && change({ n: { $gte: 400, $lt: 403 } }, { state: 'taken' }));
    expect(match?.doc).toMatchObject(stored(403));
  });

  test('after a sort takes one that is still at its place, or else one that still matches', () => {
    const bySort = () => search({ state: 'new' }, { n: 1 });
    expect(whole(bySort(), (n) => n === 500 && change({ _id: 0 }, { n: COUNT }))?.doc).toMatchObject(stored(1));
    change({ _id: { $ne: 0 } }, { state: 'taken' });
    let next = COUNT;
    expect(whole(bySort(), () => change({ _id: 0 }, { n: ++next }))?.doc).toMatchObject(stored(0, next));
  });

  test('after a sort is repeated when others take all that it has found', () => {
    const match = whole(search({ state: 'new' }, { n: 1 }), (n) => n === 600 && change({ n: { $lt: 500 } }, null));
    expect(match?.doc).toMatchObject(stored(500));
  });
});

test('a search for all to write has each once, also one that others move in the index', () => {
  const search = rowsToWrite(store, collection, queryOf({ i: { $gte: 0 } }), Number.POSITIVE_INFINITY);
  const rids = whole(search, (n) => n === 1 && change({ _id: 0 }, { i: COUNT + 1 }));
  expect(rids).toHaveLength(COUNT);
  expect(new Set(rids).size).toBe(COUNT);
});
