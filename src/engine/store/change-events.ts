import { encodeKey } from '../query/keys.ts';
import type { Doc } from '../query/types.ts';
import { decodeDocument } from '../wire/bson.ts';
import type { Scope } from './changes.ts';
import { type Op, type OplogEntry, timestampOf } from './oplog.ts';
import type { Store } from './store.ts';

export interface EventOptions {
  /** `fullDocument: 'updateLookup'`: updates carry the document as it is when they are read. */
  updateLookup: boolean;
}

const TYPES: Readonly<Record<Op, string>> = {
  i: 'insert',
  u: 'update',
  r: 'replace',
  d: 'delete',
  x: 'drop',
  X: 'dropDatabase',
  n: 'rename',
};
/** The change event of an entry, fields in MongoDB's order. */
export function changeEvent(
  store: Store,
  entry: OplogEntry,
  token: Doc,
  options: EventOptions,
  invalidate: boolean,
): Doc {
  const event: Doc = {
    _id: token,
    operationType: invalidate ? 'invalidate' : TYPES[entry.op],
    clusterTime: timestampOf(entry.seq),
    wallTime: new Date(entry.wall),
  };
  if (invalidate) return event;
  const body = entry.body ? decodeDocument(entry.body) : undefined;
  const key = entry.id ? decodeDocument(entry.id) : undefined;
  if (entry.op === 'i' || entry.op === 'r') event.fullDocument = body;
  if (entry.op === 'u' && options.updateLookup) event.fullDocument = lookUp(store, entry, key?._id);
  event.ns = entry.op === 'X' ? { db: entry.db } : { db: entry.db, coll: entry.coll };
  if (entry.op === 'n') event.to = body?.to;
  if (key) event.documentKey = key;
  if (entry.op === 'u') event.updateDescription = body;
  return event;
}

/** Whether the entry is the last that a stream of this scope tells. */
export function endsStream({ op }: OplogEntry, { db, coll }: Scope): boolean {
  if (coll !== undefined) return op === 'x' || op === 'n' || op === 'X';
  return db !== undefined && op === 'X';
}

function lookUp(store: Store, { db, coll }: OplogEntry, id: unknown): Doc | null {
  const collection = store.catalog.find(db, coll);
  const index = collection?.indexes[0];
  if (!index) return null;
  const row = store.database.prepare('SELECT rid FROM idx WHERE i = ? AND key = ?').get(index.id, encodeKey([id], [1]));
  const bytes = row && store.documents.read(row.rid as number);
  return bytes ? decodeDocument(bytes) : null;
}
