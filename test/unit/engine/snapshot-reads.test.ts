import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withoutPauses } from '../../../src/engine/query/pause.ts';
import type { Doc } from '../../../src/engine/query/types.ts';
import type { Collection } from '../../../src/engine/store/catalog.ts';
import { newReadStats, prepareQuery, type Query } from '../../../src/engine/store/read.ts';
import { Store } from '../../../src/engine/store/store.ts';
import type { Transaction } from '../../../src/engine/store/transactions.ts';
import { encodeDocument } from '../../../src/engine/wire/bson.ts';

/** Reads of a snapshot while others write: what they answer, and how many rows they restore for it. */
const SEED = Number(process.env.TEST_SEED ?? 7);
const COUNT = 60;

let folder: string;
let store: Store;
let collection: Collection;
/** Documents by `_id`, as they are now. */
let documents: Map<number, Doc>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'engine-'));
  store = new Store(folder, { oplogBytes: 1_000_000 });
  documents = new Map();
  store.commit.write(() => {
    collection = store.collectionForWrite('db', 'c');
    store.catalog.addIndex(collection, { v: 2, key: { a: 1, b: -1 }, name: 'a_1_b_-1' });
    store.catalog.addIndex(collection, { v: 2, key: { tags: 1 }, name: 'tags_1' });
    store.catalog.addIndex(collection, { v: 2, key: { u: 1 }, name: 'u_1', unique: true, sparse: true });
  });
  for (let id = 0; id < COUNT; id++) insert(id, made(id, id));
  store.commit.flush();
});

afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const made = (id: number, n: number): Doc => ({ _id: id, a: n % 7, b: n % 11, tags: [n % 5, n % 3], u: 1000 * id + n });

function insert(id: number, doc: Doc): void {
  store.commit.write(() => store.documents.insert(collection, doc, encodeDocument(doc)));
  documents.set(id, doc);
}

/** Replaces a document, removes it (null), or inserts it. */
function change(id: number, doc: Doc | null): void {
  const [match] = found({ filter: { _id: id } });
  if (!match) {
    if (doc) insert(id, doc);
    return;
  }
  store.commit.write(() => {
    if (doc) store.documents.update(collection, match.rid, match.doc, doc, undefined);
    else store.documents.remove(collection, match.rid, match.doc);
  });
  if (doc) documents.set(id, doc);
  else documents.delete(id);
}

function found(query: Partial<Query>): { rid: number; doc: Doc }[] {
  const whole = { filter: {}, sort: {}, skip: 0, limit: 0, hint: undefined, ...query };
  return [...withoutPauses(prepareQuery(store, collection, whole).run(newReadStats()))];
}

/** The answer as a transaction sees it. */
function seen(transaction: Transaction, query: Partial<Query>): Doc[] {
  return store.transactions.read(transaction, () => {
    store.catalog.find('db', 'c');
    return found(query).map(({ doc }) => ({ ...doc }));
  });
}

const queries: Partial<Query>[] = [
  {},
  { filter: { _id: 5 } },
  { filter: { _id: { $in: [1, 2, 59, 70] } } },
  { filter: { a: 3 }, sort: { b: -1 } },
  { filter: { a: { $gt: 2 }, b: 4 } },
  { filter: { a: 3 }, sort: { b: 1 }, limit: 3 },
  { filter: { a: { $in: [1, 4] } }, sort: { b: -1 }, limit: 4, skip: 1 },
  { filter: { tags: 2 } },
  { filter: { u: 5005 } },
  { filter: { u: { $gte: 30_000 } }, sort: { u: -1 }, limit: 5 },
  { filter: { $or: [{ a: 1 }, { tags: 4 }] } },
  { filter: { b: 3 }, sort: { a: 1, b: 1, _id: 1 } },
];

test('are those of their moment, by every plan', () => {
  const writes = fc.sample(fc.tuple(fc.nat(COUNT + 20), fc.nat(200), fc.nat(3)), { numRuns: 400, seed: SEED });
  const open: { transaction: Transaction; expected: string[] }[] = [];
  const answers = (ask: (query: Partial<Query>) => Doc[]) =>
    queries.map((query) => {
      const docs = ask(query);
      // Without a sort, the order of an index may have changed with the rows' numbers.
      return JSON.stringify(query.sort ? docs : docs.sort((a, b) => Number(a._id) - Number(b._id)));
    });
  for (const [n, [id, value, what]] of writes.entries()) {
    if (n % 50 === 0) {
      const transaction = store.transactions.begin(`${n}`.padStart(32, '0'), 1);
      open.push({ transaction, expected: answers((query) => found(query).map(({ doc }) => doc)) });
    }
    change(id, what === 0 ? null : made(id, value));
    if (n % 13 === 0) store.commit.flush();
    if (n % 40 === 39)
      for (const { transaction, expected } of open)
        expect(
          answers((query) => seen(transaction, query)),
          `write ${n}, seed ${SEED}`,
        ).toEqual(expected);
    if (n % 120 === 119) store.transactions.abort((open.shift() as (typeof open)[number]).transaction);
  }
  for (const { transaction } of open) store.transactions.abort(transaction);
  expect(found({})).toHaveLength(documents.size);
  expect(store.versions.formerKeys.within(collection.indexes[0]!.id, new Uint8Array(), Buffer.of(255))).toEqual([]);
});

test('restore only the rows that they come to, however much others wrote', () => {
  const transaction = store.transactions.begin('a'.repeat(32), 1);
  const five = found({ filter: { _id: 5 } }).map(({ doc }) => doc);
  expect(five).toHaveLength(1);
  for (let n = 0; n < 2000; n++) change(n % 300, made(n % 300, n));
  store.commit.flush();
  let restored = 0;
  const put = store.documents.put.bind(store.documents);
  store.documents.put = (...row) => {
    restored++;
    put(...row);
  };
  expect(seen(transaction, { filter: { _id: 5 } })).toEqual(five);
  expect(restored).toBe(1);
  expect(seen(transaction, { filter: { u: 5005 } })).toEqual(five);
  expect(restored).toBe(2);
  expect(seen(transaction, { filter: { _id: 200 } })).toEqual([]);
  expect(restored).toBe(3);
});
