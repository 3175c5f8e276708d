import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Long } from 'bson';
import { expect, test } from 'vitest';
import { Store } from '../../../src/engine/store/store.ts';
import { removeExpired } from '../../../src/engine/store/ttl.ts';
import { decodeDocument, encodeDocument } from '../../../src/engine/wire/bson.ts';

const DATE = 9;

test("a date beyond JavaScript's, as the end of time in other languages, does not expire", () => {
  const folder = mkdtempSync(join(tmpdir(), 'engine-'));
  const store = new Store(folder, { oplogBytes: 1_000_000 });
  const dates = [0n, -(8n * 10n ** 15n), 2n ** 63n - 1n, 9n * 10n ** 15n];
  const collection = store.commit.write(() => {
    const made = store.collectionForWrite('db', 'c');
    store.catalog.addIndex(made, { v: 2, key: { at: 1 }, name: 'at_1', expireAfterSeconds: 0 });
    for (const [id, ms] of dates.entries()) {
      const bytes = Buffer.from(encodeDocument({ _id: id, at: Long.fromBigInt(ms) }));
      bytes[bytes.indexOf('at\0') - 1] = DATE;
      store.documents.insert(made, decodeDocument(bytes), bytes);
    }
    return made;
  });
  for (const _ of removeExpired(store, Date.now()));
  expect(store.documents.count(collection)).toBe(2);
  store.close();
  rmSync(folder, { recursive: true, force: true });
});
