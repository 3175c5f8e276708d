import { Binary } from 'bson';
import { CommandError } from '../errors.ts';
import { encodeKey } from '../query/keys.ts';
import type { Doc } from '../query/types.ts';
import { decodeDocument, elements, encodeDocument, encodeReply, RawDocument } from '../wire/bson.ts';
import { type EventExtra, type Op, type OplogEntry, type Scope, timestampOf } from './oplog.ts';
import type { Store } from './store.ts';

export interface EventOptions {
  /** The document in update events: none, the version at the time of reading, or the post-image. */
  fullDocument: 'default' | 'updateLookup' | 'whenAvailable' | 'required';
  fullDocumentBeforeChange: 'off' | 'whenAvailable' | 'required';
  /** `showExpandedEvents`: also events of collections and indexes, and more fields. */
  expanded: boolean;
}

const TYPES: Readonly<Record<Op, string>> = {
  i: 'insert',
  u: 'update',
  r: 'replace',
  d: 'delete',
  x: 'drop',
  X: 'dropDatabase',
  n: 'rename',
  c: 'create',
  k: 'createIndexes',
  K: 'dropIndexes',
  m: 'modify',
};
const EXPANDED: readonly Op[] = ['c', 'k', 'K', 'm'];
const WITH_BEFORE: readonly Op[] = ['u', 'r', 'd'];

/** The `operationType` of an entry's event. */
export function typeOf({ op }: OplogEntry): string {
  return TYPES[op];
}

/** Whether only streams with `showExpandedEvents` report the entry. */
export function isExpanded({ op }: OplogEntry): boolean {
  return EXPANDED.includes(op);
}

/**
 * Builds the change event of an oplog entry, with fields in MongoDB's order. Error 47 when a required pre- or
 * post-image was not stored.
 */
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
  };
  if (!invalidate && options.expanded && entry.uuid) event.collectionUUID = new Binary(entry.uuid, 4);
  event.wallTime = new Date(entry.wall);
  if (invalidate) return event;
  const extra = entry.extra ? (decodeDocument(entry.extra) as EventExtra) : {};
  const body = entry.body ? decodeDocument(entry.body) : undefined;
  const key = entry.id ? decodeDocument(entry.id) : undefined;
  if (extra.lsid) Object.assign(event, { lsid: extra.lsid, txnNumber: extra.txnNumber });
  if (entry.op === 'i' || entry.op === 'r') event.fullDocument = body;
  if (entry.op === 'u') addFullDocument(event, store, entry, key?._id, extra, options);
  event.ns = entry.op === 'X' ? { db: entry.db } : { db: entry.db, coll: entry.coll };
  if (entry.op === 'n') event.to = body?.to;
  if (key) event.documentKey = key;
  if (entry.op === 'u') event.updateDescription = describedUpdate(body ?? {}, options);
  if (options.expanded && body?.operationDescription) event.operationDescription = body.operationDescription;
  if (entry.op === 'm') event.stateBeforeChange = body?.stateBeforeChange;
  if (WITH_BEFORE.includes(entry.op) && options.fullDocumentBeforeChange !== 'off') {
    event.fullDocumentBeforeChange = image(extra.before, options.fullDocumentBeforeChange, 'pre-image');
  }
  return event;
}

/**
 * Encodes the event of an entry. If the event has no other content than the entry, that content is copied as it is.
 * This applies to insertions and to updates without images, when the options are the defaults.
 */
export function encodedEvent(store: Store, entry: OplogEntry, token: Doc, options: EventOptions): Uint8Array {
  const { op, id, body, extra } = entry;
  const { fullDocument, fullDocumentBeforeChange, expanded } = options;
  const isPlain =
    id &&
    body &&
    !extra &&
    !expanded &&
    (op === 'i' || (op === 'u' && !isDisambiguated(body))) &&
    fullDocument === 'default' &&
    fullDocumentBeforeChange === 'off';
  if (!isPlain) return encodeDocument(changeEvent(store, entry, token, options, false));
  const content = new RawDocument(body);
  return encodeReply({
    _id: token,
    operationType: TYPES[op],
    clusterTime: timestampOf(entry.seq),
    wallTime: new Date(entry.wall),
    ...(op === 'i' && { fullDocument: content }),
    ns: { db: entry.db, coll: entry.coll },
    documentKey: new RawDocument(id),
    ...(op === 'u' && { updateDescription: content }),
  });
}

function isDisambiguated(body: Uint8Array): boolean {
  for (const { name } of elements(body)) if (name === 'disambiguatedPaths') return true;
  return false;
}

function addFullDocument(
  event: Doc,
  store: Store,
  entry: OplogEntry,
  id: unknown,
  { after }: EventExtra,
  { fullDocument }: EventOptions,
): void {
  if (fullDocument === 'updateLookup') event.fullDocument = lookUp(store, entry, id);
  else if (fullDocument !== 'default') event.fullDocument = image(after, fullDocument, 'post-image');
}

function image(bytes: Binary | undefined, mode: 'whenAvailable' | 'required', kind: string): Doc | null {
  if (bytes) return decodeDocument(bytes.buffer);
  if (mode === 'whenAvailable') return null;
  throw new CommandError(
    'NoMatchingDocument',
    `Change stream was configured to require a ${kind} for all update, delete and replace events, but the ${kind} was not found for event`,
    {},
    ['NonResumableChangeStreamError'],
  );
}

function describedUpdate({ disambiguatedPaths, ...description }: Doc, { expanded }: EventOptions): Doc {
  return expanded && disambiguatedPaths ? { ...description, disambiguatedPaths } : description;
}

/** Whether a stream of this scope ends after the entry. */
export function endsStream({ op }: OplogEntry, { db, coll }: Scope): boolean {
  if (coll !== undefined) return op === 'x' || op === 'n' || op === 'X';
  return db !== undefined && op === 'X';
}

/** Reads the document as it is now; null if the document or its collection is gone. */
function lookUp(store: Store, { db, coll, uuid }: OplogEntry, id: unknown): Doc | null {
  const collection = store.catalog.find(db, coll);
  const index = collection?.indexes[0];
  if (!collection || !index || !uuid || Buffer.compare(collection.uuid.buffer, uuid) !== 0) return null;
  const row = store.database.prepare('SELECT rid FROM idx WHERE i = ? AND key = ?').get(index.id, encodeKey([id], [1]));
  const bytes = row && store.documents.read(row.rid as number);
  return bytes ? decodeDocument(bytes) : null;
}
