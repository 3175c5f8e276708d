import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Store } from '../../src/engine/store/store.ts';
import { encodeDocument } from '../../src/engine/wire/bson.ts';

/** Tests of the embedded engine's store: what a failed commit leaves behind. */
let folder: string;
let store: Store;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'engine-'));
  store = new Store(folder, { oplogBytes: 1_000_000 });
});

afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

function insert(name: string, _id: number): void {
  const doc = { _id, tags: [_id, 'x'] };
  store.documents.insert(store.collectionForWrite('db', name), doc, encodeDocument(doc));
}

/** Resolves with the argument of the `afterCommit` callback. */
function committed(): Promise<Error | undefined> {
  return new Promise((resolve) => store.commit.afterCommit(resolve));
}

const count = (name: string): number | undefined => {
  const collection = store.catalog.find('db', name);
  return collection && store.documents.count(collection);
};

test('writes of one event loop turn share a commit; a write that throws is rolled back alone', async () => {
  let commits = 0;
  const { onCommit } = store.commit;
  store.commit.onCommit = () => {
    commits++;
    onCommit();
  };
  store.commit.write(() => insert('a', 1));
  expect(() =>
    store.commit.write(() => {
      insert('a', 2);
      insert('b', 1);
      throw new Error('no');
    }),
  ).toThrow('no');
  store.commit.write(() => insert('a', 3));
  expect(await committed()).toBeUndefined();
  expect([count('a'), count('b'), commits]).toEqual([2, undefined, 1]);
});

test('a failed commit is reported to all that wait for it and writes nothing; the next commit works', async () => {
  store.commit.write(() => insert('a', 1));
  await committed();
  const { beforeCommit } = store.commit;
  store.commit.beforeCommit = () => {
    throw new Error('disk full');
  };
  store.commit.write(() => insert('a', 2));
  store.commit.write(() => insert('b', 1));
  const answers = await Promise.all([committed(), committed()]);
  expect(answers.map((failure) => failure?.message)).toEqual(['disk full', 'disk full']);
  expect([count('a'), count('b')]).toEqual([1, undefined]);
  store.commit.beforeCommit = beforeCommit;
  store.commit.write(() => insert('a', 2));
  expect(await committed()).toBeUndefined();
  expect(count('a')).toBe(2);
});

test('when SQLite rolls back the transaction, none of its writes is acknowledged', async () => {
  store.commit.write(() => insert('a', 1));
  expect(() =>
    store.commit.write(() => {
      store.database.sqlite.exec('ROLLBACK');
      throw new Error('I/O error');
    }),
  ).toThrow('I/O error');
  expect(() => store.commit.write(() => insert('a', 2))).toThrow('I/O error');
  expect((await committed())?.message).toBe('I/O error');
  expect(count('a')).toBeUndefined();
  store.commit.write(() => insert('a', 3));
  expect(await committed()).toBeUndefined();
  expect(count('a')).toBe(1);
});
