import { Int32 } from 'bson';
import type { Doc } from '../query/types.ts';
import { decodeDocument } from '../wire/bson.ts';
import type { Collection, Index } from './catalog.ts';
import { documentSum } from './checksums.ts';
import { entriesOf } from './documents.ts';
import type { Store } from './store.ts';

const CHUNK = 200;
const MAX_ERRORS = 20;

/**
 * Checks that the documents of a collection are intact, and that each index contains exactly their keys. Returns the
 * answer of `validate`.
 */
export function validateCollection(store: Store, collection: Collection): Doc {
  const errors: string[] = [];
  const expected = new Map<Index, number>(collection.indexes.map((index) => [index, 0]));
  const held = store.database.prepare('SELECT 1 FROM idx WHERE i = ? AND key = ? AND rid = ?');
  const read = store.database.prepare('SELECT rid, sum, bson FROM doc WHERE rid > ? AND rid <= ? ORDER BY rid LIMIT ?');
  let records = 0;
  let invalid = 0;
  let at = collection.firstRid - 1;
  for (
    let rows = read.all(at, collection.lastRid, CHUNK);
    rows.length > 0;
    rows = read.all(at, collection.lastRid, CHUNK)
  ) {
    for (const row of rows) {
      at = row.rid as number;
      records++;
      const doc = intactDocument(at, row.bson as Uint8Array, row.sum as number);
      if (!doc) {
        invalid++;
        errors.push(`record ${at} is damaged`);
        continue;
      }
      for (const index of collection.indexes) {
        for (const key of entriesOf(index, doc).keys) {
          expected.set(index, (expected.get(index) as number) + 1);
          if (!held.get(index.id, key, at)) errors.push(`index ${index.name} is missing a key of record ${at}`);
        }
      }
    }
  }
  const keysPerIndex: Doc = {};
  for (const [index, count] of expected) {
    const keys = Number(store.database.prepare('SELECT count(*) AS n FROM idx WHERE i = ?').get(index.id)?.n);
    keysPerIndex[index.name] = new Int32(keys);
    if (keys !== count) errors.push(`index ${index.name} has ${keys} keys, but its documents have ${count}`);
  }
  return {
    nInvalidDocuments: new Int32(invalid),
    nrecords: new Int32(records),
    nIndexes: new Int32(collection.indexes.length),
    keysPerIndex,
    valid: errors.length === 0,
    repaired: false,
    warnings: [],
    errors: errors.slice(0, MAX_ERRORS),
  };
}

function intactDocument(rid: number, bytes: Uint8Array, sum: number): Doc | undefined {
  if (documentSum(rid, bytes) !== sum) return undefined;
  try {
    return decodeDocument(bytes);
  } catch {
    return undefined;
  }
}
