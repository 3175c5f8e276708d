import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Store } from '../../../src/engine/store/store.ts';
import { encodeDocument } from '../../../src/engine/wire/bson.ts';

const LIMIT = 100_000;
/** Trimming begins when the size is larger than the limit by this part. */
const BEYOND = 0.05;

let folder: string;
let store: Store;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'engine-'));
  store = new Store(folder, { oplogBytes: LIMIT });
});

afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

function insert(_id: number): void {
  store.commit.write(() => {
    const doc = { _id, text: 'x'.repeat(150) };
    store.documents.insert(store.collectionForWrite('db', 'items'), doc, encodeDocument(doc));
  });
  store.commit.flush();
}

/** From the begin of the oldest entry to the end of the newest, bytes. */
function size(): { bytes: number; entry: number } {
  const row = store.database
    .prepare(
      'SELECT max(pos) - min(pos) AS rest, (SELECT pos FROM oplog ORDER BY seq LIMIT 1 OFFSET 1) - min(pos) AS entry FROM oplog',
    )
    .get() as { rest: number; entry: number };
  return { bytes: row.rest + row.entry, entry: row.entry };
}

test('trimming ends when the size is within the limit, and begins again when that is exceeded by a twentieth', () => {
  const sizes: number[] = [];
  let trims = 0;
  let { floor } = store.oplog;
  for (let n = 0; n < 2000; n++) {
    insert(n);
    if (store.oplog.floor !== floor) trims++;
    ({ floor } = store.oplog);
    if (n > 0) sizes.push(size().bytes);
  }
  const { entry } = size();
  const bytes = 2000 * entry;
  expect(bytes).toBeGreaterThan(4 * LIMIT);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(LIMIT * (1 + BEYOND) + entry);
  // Each deletes a twentieth at once.
  const most = (bytes - LIMIT) / (LIMIT * BEYOND);
  expect(trims).toBeLessThanOrEqual(most + 1);
  expect(trims).toBeGreaterThan(most * 0.8);
  expect(Math.min(...sizes.slice(1000))).toBeLessThanOrEqual(LIMIT);
  expect(Math.min(...sizes.slice(1000))).toBeGreaterThan(LIMIT - 2 * entry);
});
