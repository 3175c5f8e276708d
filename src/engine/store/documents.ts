import { Binary } from 'bson';
import { CommandError } from '../errors.ts';
import type { IndexEntries } from '../query/keys.ts';
import { asDoc, type Doc, typeName } from '../query/types.ts';
import type { UpdateDescription } from '../query/update-types.ts';
import { checkDepth, decodeDocument, encodeDocument, MAX_DOCUMENT } from '../wire/bson.ts';
import type { Catalog, Collection, Index } from './catalog.ts';
import { documentSum, rowSum, verified } from './checksums.ts';
import type { Database } from './database.ts';
import { duplicateKey } from './duplicate-key.ts';
import { hasNumberedField, inOrderOf } from './field-order.ts';
import type { Op, Oplog } from './oplog.ts';
import { updateEntryBody } from './update-event.ts';
import type { Validate } from './validator.ts';

/** A stored document: row id and BSON bytes. */
export interface StoredDocument {
  rid: number;
  bytes: Uint8Array;
}

/** Consulted before rows are written, and notified afterwards. The open transactions implement it. */
export interface RowObserver {
  /** False when no snapshot or transaction is open; then no other method is called. */
  readonly active: boolean;
  claimRow(collection: Collection, rid: number): void;
  /** Called before a key is added to a unique index. */
  claimKey(index: Index, key: Uint8Array): void;
  recordWrite(collection: Collection, rid: number, before: Uint8Array | null, after: Uint8Array | null): void;
}

/** The indexes that are being built. */
export interface UnfinishedIndexes {
  /** The indexes that must have the entries of a row: those of the collection, and builds that have passed the row. */
  indexesWith(collection: Collection, rid: number): readonly Index[];
  /** Called when an entry of an index in a build is removed, which the build may not have added yet. */
  removed(index: Index, key: Uint8Array, rid: number): void;
}

/**
 * Documents with their index rows and oplog entries. Every method validates first and writes afterwards, so a method
 * that throws has written nothing. Call them inside `GroupCommit.write`.
 */
export class Documents {
  readonly #database: Database;
  readonly #catalog: Catalog;
  readonly #oplog: Oplog;
  observer: RowObserver | undefined;
  /** The indexes that are being built. */
  builds: UnfinishedIndexes | undefined;

  constructor(database: Database, catalog: Catalog, oplog: Oplog) {
    this.#database = database;
    this.#catalog = catalog;
    this.#oplog = oplog;
  }

  /**
   * Stores a document. Error 53 for an invalid `_id`, 11000 for a duplicate key in a unique index.
   * @param validate the collection's validator; undefined to skip it
   */
  insert(collection: Collection, given: Doc, bytes: Uint8Array, validate?: Validate): void {
    checkId(given._id);
    const doc = storable(given, bytes);
    validate?.(doc);
    const rid = collection.nextRid;
    if (rid < collection.firstRid || rid > collection.lastRid) throw outsideError(collection, rid);
    const indexes = this.#indexesWith(collection, rid);
    const entries = indexes.map((index) => entriesOf(index, doc));
    indexes.forEach((index, n) => {
      this.#checkUnique(collection, index, entries[n] as Entries, () => doc, undefined);
    });
    collection.nextRid++;
    this.#database.prepare('INSERT INTO doc(rid, sum, bson) VALUES(?, ?, ?)').run(rid, documentSum(rid, bytes), bytes);
    indexes.forEach((index, n) => {
      this.#addKeys(index, entries[n] as Entries, rid);
    });
    if (collection.count !== undefined) collection.count++;
    if (this.observer?.active) this.observer.recordWrite(collection, rid, null, bytes);
    this.#appendEntry('i', collection, doc._id, bytes);
  }

  /** Updates a stored document. `description` is undefined for a replacement. */
  update(
    collection: Collection,
    rid: number,
    before: Doc,
    after: Doc,
    description: UpdateDescription | undefined,
    validate?: Validate,
  ): void {
    const encoded = encodeDocument(after);
    const storedAfter = storable(after, encoded);
    validate?.(storedAfter, before);
    const numbered = description !== undefined && hasNumberedField(after);
    const stored = this.#claim(collection, rid) ?? (numbered ? this.read(rid) : undefined);
    const bytes =
      numbered && stored
        ? inOrderOf(stored, encoded, (path) => Object.hasOwn(description.updatedFields, path))
        : encoded;
    // Index keys are computed from the bytes as stored, because later removals and checks compute them from these, too.
    const kept = bytes === encoded ? storedAfter : decodeDocument(bytes);
    // Encoded before anything is written, because a document with both images can be too large.
    const images =
      hasImages(collection) && stored ? { before: new Binary(stored), after: new Binary(bytes) } : undefined;
    const told = (description && encodedDescription(description, after)) ?? null;
    const extra = images && encodeDocument(told ? images : { before: images.before });
    const heads = description && changedHeads(description);
    const changes = this.#indexesWith(collection, rid)
      .filter((index) => !heads || touches(index, heads))
      .map((index) => ({ index, old: entriesOf(index, before), now: entriesOf(index, kept) }));
    for (const { index, old, now } of changes) {
      this.#checkUnique(collection, index, { ...now, keys: minus(now.keys, old.keys) }, () => after, rid);
    }
    this.#database.prepare('UPDATE doc SET sum = ?, bson = ? WHERE rid = ?').run(documentSum(rid, bytes), bytes, rid);
    for (const { index, old, now } of changes) {
      for (const key of minus(old.keys, now.keys)) this.#removeKey(index, key, rid);
      this.#addKeys(index, { ...now, keys: minus(now.keys, old.keys) }, rid);
    }
    if (stored && this.observer?.active) this.observer.recordWrite(collection, rid, stored, bytes);
    this.#appendEntry(told ? 'u' : 'r', collection, after._id, told ?? bytes, extra);
  }

  remove(collection: Collection, rid: number, doc: Doc): void {
    const stored = this.#claim(collection, rid);
    for (const index of this.#indexesWith(collection, rid)) {
      for (const key of entriesOf(index, doc).keys) this.#removeKey(index, key, rid);
    }
    this.#database.prepare('DELETE FROM doc WHERE rid = ?').run(rid);
    if (collection.count !== undefined) collection.count--;
    if (stored && this.observer?.active) this.observer.recordWrite(collection, rid, stored, null);
    const extra = hasImages(collection) && stored ? encodeDocument({ before: new Binary(stored) }) : undefined;
    this.#appendEntry('d', collection, doc._id, null, extra);
  }

  /**
   * Sets the bytes of a row (null deletes it) and its index entries. Does no checks, and changes neither oplog nor
   * count.
   */
  put(collection: Collection, rid: number, from: Uint8Array | null, to: Uint8Array | null): void {
    const indexes = this.#indexesWith(collection, rid);
    const [before, after] = [from && decodeDocument(from), to && decodeDocument(to)];
    const changes = indexes.map((index) => ({
      index,
      old: before ? entriesOf(index, before).keys : [],
      now: after ? entriesOf(index, after) : NONE,
    }));
    for (const { index, old, now } of changes) for (const key of minus(old, now.keys)) this.#removeKey(index, key, rid);
    if (!to) {
      this.#database.prepare('DELETE FROM doc WHERE rid = ?').run(rid);
      return;
    }
    this.#database
      .prepare('INSERT OR REPLACE INTO doc(rid, sum, bson) VALUES(?, ?, ?)')
      .run(rid, documentSum(rid, to), to);
    for (const { index, old, now } of changes) this.#addKeys(index, { ...now, keys: minus(now.keys, old) }, rid);
  }

  /**
   * Checks a row that a transaction is about to write against the unique indexes that are being built: they did not
   * exist when the transaction's command ran. Error 11000 for a duplicate key.
   */
  checkUnfinished(collection: Collection, rid: number, to: Uint8Array): void {
    const indexes = this.#indexesWith(collection, rid).filter(({ isBuilding, unique }) => isBuilding && unique);
    if (indexes.length === 0) return;
    const doc = decodeDocument(to);
    for (const index of indexes) this.#checkUnique(collection, index, entriesOf(index, doc), () => doc, rid);
  }

  #indexesWith(collection: Collection, rid: number): readonly Index[] {
    return this.builds?.indexesWith(collection, rid) ?? collection.indexes;
  }

  /**
   * Checks with the observer that the row may be written. Returns the row's current bytes if the observer or a
   * pre-image needs them.
   */
  #claim(collection: Collection, rid: number): Uint8Array | undefined {
    if (this.observer?.active) this.observer.claimRow(collection, rid);
    else if (!hasImages(collection)) return undefined;
    return this.read(rid);
  }

  #appendEntry(op: Op, { db, name, uuid }: Collection, id: unknown, body: Uint8Array | null, extra?: Uint8Array): void {
    const key = encodeDocument({ _id: id });
    this.#oplog.append({
      op,
      db,
      coll: name,
      uuid: uuid.buffer,
      id: key,
      body,
      extra: extra ?? null,
    });
  }

  /** The document with this row id, or undefined. */
  read(rid: number): Uint8Array | undefined {
    this.#database.past?.rows([rid]);
    const row = this.#database.prepare('SELECT sum, bson FROM doc WHERE rid = ?').get(rid);
    return row && verified(rid, row.bson as Uint8Array, row.sum as number);
  }

  count(collection: Collection): number {
    this.#database.past?.all(collection);
    collection.count ??= Number(
      this.#database.prepare('SELECT count(*) AS n FROM idx WHERE i = ?').get((collection.indexes[0] as Index).id)?.n,
    );
    return collection.count;
  }

  /** Adds the entries of a stored document to an index. Throws error 11000 or 171. */
  addToIndex(collection: Collection, index: Index, doc: Doc, rid: number): void {
    const entries = entriesOf(index, doc);
    this.#checkUnique(collection, index, entries, () => doc, rid);
    this.#addKeys(index, entries, rid);
  }

  /** Adds one entry of a stored document to an index. Throws error 11000. */
  addKeyToIndex(collection: Collection, index: Index, key: Uint8Array, rid: number): void {
    const entries = { keys: [key], arrays: 0 };
    this.#checkUnique(collection, index, entries, () => decodeDocument(this.read(rid) as Uint8Array), rid);
    this.#addKeys(index, entries, rid);
  }

  #checkUnique(collection: Collection, index: Index, entries: Entries, doc: () => Doc, self: number | undefined): void {
    if (!index.unique) return;
    const holder = this.#database.prepare('SELECT rid FROM idx WHERE i = ? AND key = ? LIMIT 1');
    const { past } = this.#database;
    for (const key of entries.keys) {
      past?.range(index.id, key, afterKey(key));
      let row = holder.get(index.id, key);
      if (row && past?.rows([row.rid as number])) row = holder.get(index.id, key);
      if (row && row.rid !== self) throw duplicateKey(collection, index, doc(), key);
      if (!row && this.observer?.active) this.observer.claimKey(index, key);
    }
  }

  #addKeys(index: Index, entries: Entries, rid: number): void {
    if ((entries.arrays & ~index.arrays) !== 0) this.#catalog.setMultikey(index, entries.arrays);
    const insert = this.#database.prepare('INSERT INTO idx(i, key, rid, sum) VALUES(?, ?, ?, ?)');
    for (const key of entries.keys) insert.run(index.id, key, rid, rowSum([key], index.id, rid));
  }

  #removeKey(index: Index, key: Uint8Array, rid: number): void {
    // Not for a removal on a snapshot, which is rolled back.
    if (index.isBuilding && !this.#database.past) this.builds?.removed(index, key, rid);
    this.#database.prepare('DELETE FROM idx WHERE i = ? AND key = ? AND rid = ?').run(index.id, key, rid);
  }
}

/**
 * Encodes the body of an update's oplog entry; undefined if it is too large. The update is then recorded as a
 * replacement.
 */
function encodedDescription(description: UpdateDescription, after: Doc): Uint8Array | undefined {
  try {
    return encodeDocument(updateEntryBody(description, after));
  } catch (error) {
    if (error instanceof CommandError && error.codeName === 'BSONObjectTooLarge') return undefined;
    throw error;
  }
}

/** The error for a row id outside the collection's range. A document there would belong to another collection. */
function outsideError({ ns, lastRid }: Collection, rid: number): CommandError {
  const why =
    rid > lastRid ? `${ns} has had as many inserts as the embedded engine supports, 8,589,934,592` : `no row of ${ns}`;
  return new CommandError('InternalError', `the row id ${rid} does not belong to the collection: ${why}`);
}

/** The smallest key above this one. */
function afterKey(key: Uint8Array): Uint8Array {
  return Buffer.concat([key, Buffer.of(0)]);
}

/** Whether the collection stores pre- and post-images for change streams. */
function hasImages({ options }: Collection): boolean {
  return asDoc(options.changeStreamPreAndPostImages)?.enabled === true;
}

type Entries = Pick<IndexEntries, 'keys' | 'arrays'>;

const NONE: Entries = { keys: [], arrays: 0 };

/** The keys of a document in an index. */
export function entriesOf(index: Index, doc: Doc): Entries {
  if (index.partial && !index.partial.test(doc)) return NONE;
  return index.keysOf(doc);
}

/** Throws for a value that MongoDB does not accept as `_id`. */
function checkId(id: unknown): void {
  const type = typeName(id);
  if (type === 'array' || type === 'regex' || type === 'missing') {
    throw new CommandError(
      'InvalidIdField',
      `The '_id' value cannot be of type ${type === 'missing' ? 'undefined' : type}`,
    );
  }
  const wrong = Object.keys(asDoc(id) ?? {}).find((name) => name.startsWith('$'));
  if (wrong === undefined) return;
  throw new CommandError(
    'DollarPrefixedFieldName',
    `_id fields may not contain '$'-prefixed fields: ${wrong} is not valid for storage.`,
  );
}

/** Maximum nesting depth of a stored document, as in MongoDB. */
const MAX_LEVELS = 180;
/** The minimum number of bytes that a nesting level needs. */
const LEVEL_BYTES = 7;

/**
 * Returns the document as it will be decoded later, because index keys of any other form would not be found again.
 * @throws CommandError 10334 for a document that is too large, 15 for one that is nested too deeply, 2 for one that
 *   changes when it is decoded and encoded again
 */
function storable(doc: Doc, bytes: Uint8Array): Doc {
  if (bytes.length > MAX_LEVELS * LEVEL_BYTES) {
    checkDepth(doc, MAX_LEVELS, `cannot insert document because it exceeds ${MAX_LEVELS} levels of nesting`);
  }
  if (bytes.length > MAX_DOCUMENT)
    throw new CommandError(
      'BSONObjectTooLarge',
      `object to insert too large. size in bytes: ${bytes.length}, max size: ${MAX_DOCUMENT}`,
    );
  const odd = oddValues(doc);
  if (odd === null) return doc;
  // Encoding has left out fields whose value is undefined.
  const kept = odd === 'undefined' ? decodeDocument(bytes) : doc;
  if (odd === 'date' || oddValues(kept) !== null)
    throw new CommandError('BadValue', "dates beyond JavaScript's range, and BSON's undefined, cannot be stored");
  return kept;
}

/** Returns 'date' if a date is out of JavaScript's range, otherwise 'undefined' if a value is missing. */
function oddValues(value: unknown): 'date' | 'undefined' | null {
  if (value === undefined) return 'undefined';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'date' : null;
  const inner = Array.isArray(value) ? value : Object.values(asDoc(value) ?? {});
  let found: 'undefined' | null = null;
  for (const each of inner) {
    if (typeof each !== 'object' && each !== undefined) continue;
    const odd = each === null ? null : oddValues(each);
    if (odd === 'date') return odd;
    found ??= odd;
  }
  return found;
}

function changedHeads(description: UpdateDescription): Set<string> {
  const paths = [
    ...Object.keys(description.updatedFields),
    ...description.removedFields,
    ...description.truncatedArrays.map((array) => array.field),
  ];
  return new Set(paths.map(head));
}

function touches(index: Index, heads: Set<string>): boolean {
  return index.partial !== undefined || index.fields.some(([path]) => heads.has(head(path)));
}

function head(path: string): string {
  const dot = path.indexOf('.');
  return dot < 0 ? path : path.slice(0, dot);
}

function minus(keys: Uint8Array[], others: Uint8Array[]): Uint8Array[] {
  return keys.filter((key) => !others.some((other) => Buffer.compare(key, other) === 0));
}
