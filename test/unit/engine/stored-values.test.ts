import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Int32, Long } from 'bson';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Doc } from '../../../src/engine/query/types.ts';
import type { Collection } from '../../../src/engine/store/catalog.ts';
import { Store } from '../../../src/engine/store/store.ts';
import { validateCollection } from '../../../src/engine/store/validate.ts';
import { decodeDocument, encodeDocument } from '../../../src/engine/wire/bson.ts';

// What is stored decides the keys of the indexes: values that would be others after an update are refused.

const UNDEFINED = 6;
const DATE = 9;

let folder: string;
let store: Store;
let collection: Collection;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'engine-'));
  store = new Store(folder, { oplogBytes: 1_000_000 });
  collection = store.commit.write(() => {
    const made = store.collectionForWrite('db', 'c');
    for (const path of ['when', 'o']) store.catalog.addIndex(made, { v: 2, key: { [path]: 1 }, name: `${path}_1` });
    return made;
  });
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** BSON in which the element of this name has another type. */
function withType(doc: Doc, name: string, type: number): Buffer {
  const bytes = Buffer.from(encodeDocument(doc));
  bytes[bytes.indexOf(`${name}\0`) - 1] = type;
  return bytes;
}

const insert = (bytes: Uint8Array) =>
  store.commit.write(() => store.documents.insert(collection, decodeDocument(bytes), bytes));

function isIntact(): boolean {
  const steps = validateCollection(store, collection);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return (value as Doc).valid === true;
  }
}

test.each([
  ['a date beyond those of JavaScript', withType({ _id: 1, when: Long.fromBigInt(9n * 10n ** 15n) }, 'when', DATE)],
  ['an undefined value in a document', withType({ _id: 1, o: { b: null, c: 1 } }, 'b', UNDEFINED)],
])('%s is refused', (_what, bytes) => {
  expect(() => insert(bytes)).toThrow(expect.objectContaining({ code: 2 }));
  expect(store.documents.count(collection)).toBe(0);
});

test.each<[string, Doc, boolean]>([
  ['a field without a value', { o: { x: undefined, y: new Int32(1) } }, true],
  ['a date that is none', { when: new Date(Number.NaN) }, false],
])('an update to %s leaves document and indexes alike', (_what, change, isStored) => {
  const before = { _id: new Int32(1), when: new Date(0), o: { y: new Int32(2) } };
  insert(encodeDocument(before));
  const description = { updatedFields: change, removedFields: [], truncatedArrays: [] };
  const update = () =>
    store.commit.write(() =>
      store.documents.update(collection, collection.firstRid, before, { ...before, ...change }, description),
    );
  if (isStored) update();
  else expect(update).toThrow(expect.objectContaining({ code: 2 }));
  expect(isIntact()).toBe(true);
});
