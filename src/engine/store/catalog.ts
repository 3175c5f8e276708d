import { randomBytes } from 'node:crypto';
import { Binary, Int32 } from 'bson';
import { CommandError } from '../errors.ts';
import { compileIndex, EVERY_FIELD, type IndexEntries } from '../query/keys.ts';
import { compileFilter } from '../query/match.ts';
import type { Doc } from '../query/types.ts';
import { decodeDocument, encodeDocument } from '../wire/bson.ts';
import { corruptionError, SUMS } from './checksums.ts';
import type { Database } from './database.ts';
import { limitedBy } from './limited-by.ts';
import { checkCollectionName, checkDatabaseName } from './names.ts';

export type KeyField = [path: string, direction: 1 | -1];

export interface Index {
  id: number;
  name: string;
  fields: KeyField[];
  unique: boolean;
  sparse: boolean;
  hidden: boolean;
  /** Present for a partial index, which contains only the documents that pass `test`. */
  partial: { filter: Doc; test: (doc: Doc) => boolean } | undefined;
  expireAfterSeconds: number | undefined;
  /** True once some document has had an array in this index, and therefore more than one key. */
  multikey: boolean;
  /**
   * The fields that have had arrays: the sum of `fieldBit` of their positions. The index provides no order by such a
   * field, and a scan uses only one bound of it.
   */
  arrays: number;
  /** Whether the index is being built. Its entries are incomplete, and it is not in the collection's list. */
  isBuilding: boolean;
  /** The keys of a document, before the partial filter is applied. */
  keysOf: (doc: Doc) => IndexEntries;
  /** The specification, as `listIndexes` shows it. */
  spec: Doc;
}

export interface Collection {
  id: number;
  db: string;
  name: string;
  ns: string;
  uuid: Binary;
  /** The options given to `create`. */
  options: Doc;
  /** The first index is always `_id_`. */
  indexes: Index[];
  /** The row ids of the collection's documents lie in [firstRid, lastRid]; `nextRid` is the next one to assign. */
  firstRid: number;
  lastRid: number;
  nextRid: number;
  /** Number of documents, counted on first use. */
  count: number | undefined;
}

/** Receives the catalog look-ups and new collections of a transaction's command. */
export interface CatalogViewer {
  found(ns: string, collection: Collection | undefined): void;
  created(collection: Collection): void;
}

/**
 * The upper bits of a row id hold the collection's id, so one table keeps the documents of each collection together.
 */
const RIDS = 2 ** 33;
const MAX_COLLECTIONS = 2 ** 20;
const MAX_INDEXES = 64;
/**
 * Values of the column `multikey` for an index that does not belong to its collection, because its entries are being
 * added or removed. At a start no build is running, so entries are only removed. The leaving indexes of a dropped
 * collection keep its id; while they exist, it may have documents.
 */
const BUILDING = 2;
const LEAVING = 3;
/** The column `multikey` of a multikey index is this plus `arrays`, or 1 if it has too many fields to tell them apart. */
const ARRAYS = 4;

/** The id of the collection of a row. */
export function collectionOf(rid: number): number {
  return Math.floor(rid / RIDS);
}

/** All collections and indexes, kept in memory and written through to the tables `coll` and `ind`. */
export class Catalog {
  readonly #database: Database;
  #collections = new Map<string, Collection>();
  /** Ids of the collections that open transactions have created. */
  readonly #reserved = new Set<number>();
  /** Set while a command of a transaction runs. */
  viewer: CatalogViewer | undefined;
  /** Called before a collection changes; `isNew` is true when it is being created. */
  onChange: (ns: string, isNew: boolean) => void = () => {};

  constructor(database: Database) {
    this.#database = database;
    this.load();
  }

  /**
   * Reads the catalog from the database, at the start and after a rollback. The objects of collections and indexes are
   * reused, because paused reads hold references to them.
   */
  load(): void {
    // Matched by id: after a rollback, a name may belong to an earlier collection again, which has other row ids.
    const previous = new Map(Array.from(this.#collections.values(), (each) => [each.id, each]));
    const indexes = new Map(
      Array.from(previous.values()).flatMap((each) => each.indexes.map((index) => [index.id, index])),
    );
    this.#collections = new Map();
    const byId = new Map<number, Collection>();
    for (const row of this.#database
      .prepare(`SELECT id, db, name, uuid, options, ${SUMS.coll} IS sum AS whole FROM coll ORDER BY id`)
      .all()) {
      if (!row.whole) throw corruptionError('the catalog entry of a collection');
      const stored = this.#collection(row as unknown as CollectionRow);
      const before = previous.get(stored.id);
      const isSame = before && Buffer.compare(before.uuid.buffer, stored.uuid.buffer) === 0;
      const collection = isSame
        ? Object.assign(before, stored, { nextRid: Math.max(stored.nextRid, before.nextRid) })
        : stored;
      this.#collections.set(collection.ns, collection);
      byId.set(collection.id, collection);
    }
    for (const row of this.#database
      .prepare(`SELECT id, coll, spec, multikey, ${SUMS.ind} IS sum AS whole FROM ind ORDER BY id`)
      .all()) {
      if (!row.whole) throw corruptionError('the catalog entry of an index');
      const { id, coll, spec, multikey } = row as unknown as {
        id: number;
        coll: number;
        spec: Uint8Array;
        multikey: number;
      };
      if (multikey === BUILDING || multikey === LEAVING) continue;
      const stored = makeIndex(id, decodeDocument(spec), arraysOf(multikey));
      const before = indexes.get(id);
      byId.get(coll)?.indexes.push(before ? Object.assign(before, stored) : stored);
    }
  }

  find(db: string, name: string): Collection | undefined {
    const ns = `${db}.${name}`;
    const collection = this.#collections.get(ns);
    this.viewer?.found(ns, collection);
    return collection;
  }

  get(ns: string): Collection | undefined {
    return this.#collections.get(ns);
  }

  byId(id: number): Collection | undefined {
    return this.list().find((collection) => collection.id === id);
  }

  /** The collections of one database, or of all databases, sorted by namespace. */
  list(db?: string): Collection[] {
    const all = [...this.#collections.values()].filter((collection) => db === undefined || collection.db === db);
    return all.sort((a, b) => (a.ns < b.ns ? -1 : 1));
  }

  create(db: string, name: string, options: Doc = {}): Collection {
    checkDatabaseName(db);
    checkCollectionName(db, name);
    this.onChange(`${db}.${name}`, true);
    const uuid = newUuid();
    const id = this.#freeId();
    const collection = this.#collection({ id, db, name, uuid: uuid.buffer, options: encodeDocument(options) });
    collection.count = 0;
    this.#insert(collection);
    this.#collections.set(collection.ns, collection);
    this.addIndex(collection, { v: new Int32(2), key: { _id: new Int32(1) }, name: '_id_' });
    if (this.viewer) {
      this.#reserved.add(id);
      this.viewer.created(collection);
    }
    return collection;
  }

  /** Removes from memory a collection whose rows are rolled back at present. Its id stays reserved. */
  detach(collection: Collection): void {
    this.#collections.delete(collection.ns);
  }

  /** Writes a collection that a transaction has created, and its indexes, to the database, without documents. */
  attach(collection: Collection): void {
    this.#insert(collection);
    for (const index of collection.indexes) index.id = this.#insertIndex(collection, index.spec, stateOf(index));
    this.#collections.set(collection.ns, collection);
  }

  /** Releases the reserved id of a collection that a transaction has created. */
  releaseId(id: number): void {
    this.#reserved.delete(id);
  }

  /** Removes a collection. Its documents and the entries of its indexes are removed later. */
  drop(collection: Collection): void {
    this.onChange(collection.ns, false);
    for (const index of [...collection.indexes]) this.dropIndex(collection, index);
    this.#database.prepare('DELETE FROM coll WHERE id = ?').run(collection.id);
    this.#collections.delete(collection.ns);
  }

  /** Renames a collection. The new name must not be in use. */
  rename(collection: Collection, db: string, name: string): void {
    checkDatabaseName(db);
    checkCollectionName(db, name);
    this.onChange(collection.ns, false);
    this.onChange(`${db}.${name}`, true);
    this.#database.prepare('UPDATE coll SET db = ?, name = ? WHERE id = ?').run(db, name, collection.id);
    this.#sum('coll', collection.id);
    this.#collections.delete(collection.ns);
    Object.assign(collection, { db, name, ns: `${db}.${name}` });
    this.#collections.set(collection.ns, collection);
  }

  /** Adds an index to a collection without documents. */
  addIndex(collection: Collection, spec: Doc): Index {
    if (collection.indexes.length > 0) this.onChange(collection.ns, false);
    checkIndexCount(collection, 0);
    const index = makeIndex(this.#insertIndex(collection, spec, 0), spec, 0);
    collection.indexes.push(index);
    return index;
  }

  /**
   * Begins an index without entries. @param building number of the collection's indexes that are already being built
   */
  beginIndex(collection: Collection, spec: Doc, building: number): Index {
    checkIndexCount(collection, building);
    return { ...makeIndex(this.#insertIndex(collection, spec, BUILDING), spec, 0), isBuilding: true };
  }

  /** Adds a completely built index to the collection. */
  finishIndex(collection: Collection, index: Index): void {
    this.onChange(collection.ns, false);
    this.#setState(index.id, stateOf(index));
    collection.indexes.push({ ...index, isBuilding: false });
  }

  /** Removes an index from its collection. Its entries are removed later. */
  dropIndex(collection: Collection, index: Index): void {
    this.onChange(collection.ns, false);
    this.#setState(index.id, LEAVING);
    collection.indexes = collection.indexes.filter((other) => other !== index);
  }

  /**
   * Lists the indexes that do not belong to a collection. `dropped` is the id of the dropped collection that an index
   * belonged to; null if the collection still exists.
   * @param most maximum number of results; -1: all
   */
  leavingIndexes(most = -1): { readonly id: number; readonly dropped: number | null }[] {
    return this.#database
      .prepare(
        `SELECT ind.id, CASE WHEN coll.id IS NULL THEN ind.coll END AS dropped FROM ind LEFT JOIN coll ON coll.id = ind.coll WHERE ind.multikey IN (?, ?) ${limitedBy()}`,
      )
      .all(BUILDING, LEAVING, most) as unknown as { id: number; dropped: number | null }[];
  }

  /** Deletes an index that does not belong to a collection and has no entries. */
  removeIndex(id: number): void {
    this.#database.prepare('DELETE FROM ind WHERE id = ?').run(id);
  }

  /** Replaces the specification of an index (`collMod`). */
  changeIndex({ ns }: Collection, index: Index, spec: Doc): void {
    this.onChange(ns, false);
    this.#database.prepare('UPDATE ind SET spec = ? WHERE id = ?').run(encodeDocument(spec), index.id);
    this.#sum('ind', index.id);
    Object.assign(index, makeIndex(index.id, spec, index.arrays));
  }

  /** Replaces the options of a collection (`collMod`). */
  setOptions(collection: Collection, options: Doc): void {
    this.onChange(collection.ns, false);
    this.#database.prepare('UPDATE coll SET options = ? WHERE id = ?').run(encodeDocument(options), collection.id);
    this.#sum('coll', collection.id);
    collection.options = options;
  }

  /** @param arrays the fields that have arrays in a document, in addition to those that the index knows */
  setMultikey(index: Index, arrays: number): void {
    index.arrays |= arrays;
    index.multikey = true;
    if (!index.isBuilding) this.#setState(index.id, stateOf(index));
  }

  #setState(id: number, multikey: number): void {
    this.#database.prepare('UPDATE ind SET multikey = ? WHERE id = ?').run(multikey, id);
    this.#sum('ind', id);
  }

  #insert({ id, db, name, uuid, options }: Collection): void {
    this.#database
      .prepare('INSERT INTO coll(id, db, name, uuid, options, sum) VALUES(?, ?, ?, ?, ?, 0)')
      .run(id, db, name, uuid.buffer, encodeDocument(options));
    this.#sum('coll', id);
  }

  #insertIndex(collection: Collection, spec: Doc, multikey: number): number {
    const { lastInsertRowid } = this.#database
      .prepare('INSERT INTO ind(coll, spec, multikey, sum) VALUES(?, ?, ?, 0)')
      .run(collection.id, encodeDocument(spec), multikey);
    this.#sum('ind', Number(lastInsertRowid));
    return Number(lastInsertRowid);
  }

  #collection(row: CollectionRow): Collection {
    const { firstRid, lastRid } = ridRange(row.id);
    const last = this.#database
      .prepare('SELECT max(rid) AS rid FROM doc WHERE rid BETWEEN ? AND ?')
      .get(firstRid, lastRid)?.rid;
    return {
      id: row.id,
      db: row.db,
      name: row.name,
      ns: `${row.db}.${row.name}`,
      uuid: new Binary(row.uuid, 4),
      options: decodeDocument(row.options),
      indexes: [],
      firstRid,
      lastRid,
      nextRid: typeof last === 'number' ? last + 1 : firstRid,
      count: undefined,
    };
  }

  /** Updates the checksum of a row. */
  #sum(table: 'coll' | 'ind', id: number): void {
    this.#database.prepare(`UPDATE ${table} SET sum = ${SUMS[table]} WHERE id = ?`).run(id);
  }

  #freeId(): number {
    const used = new Set([
      ...this.#reserved,
      ...Array.from(this.#collections.values(), ({ id }) => id),
      ...this.leavingIndexes().map(({ dropped }) => dropped),
    ]);
    for (let id = 1; id < MAX_COLLECTIONS; id++) if (!used.has(id)) return id;
    throw new CommandError('OperationFailed', 'too many collections');
  }
}

interface CollectionRow {
  id: number;
  db: string;
  name: string;
  uuid: Uint8Array;
  options: Uint8Array;
}

function checkIndexCount({ indexes, ns }: Collection, building: number): void {
  if (indexes.length + building < MAX_INDEXES) return;
  throw new CommandError('CannotCreateIndex', `add index fails, too many indexes for ${ns}`);
}

/** The value of the column `multikey` for an index of a collection. */
function stateOf({ arrays }: Index): number {
  if (arrays === 0) return 0;
  return arrays === EVERY_FIELD ? 1 : ARRAYS + arrays;
}

/** The inverse of {@link stateOf}. */
function arraysOf(state: number): number {
  return state >= ARRAYS ? state - ARRAYS : state === 1 ? EVERY_FIELD : 0;
}

function makeIndex(id: number, spec: Doc, arrays: number): Index {
  const filter = spec.partialFilterExpression as Doc | undefined;
  const fields = Object.entries(spec.key as Doc).map(
    ([path, direction]): KeyField => [path, Number(direction) < 0 ? -1 : 1],
  );
  return {
    id,
    name: String(spec.name),
    fields,
    unique: spec.unique === true || spec.name === '_id_',
    sparse: spec.sparse === true,
    hidden: spec.hidden === true,
    partial: filter && { filter, test: compileFilter(filter) },
    expireAfterSeconds: spec.expireAfterSeconds === undefined ? undefined : Number(spec.expireAfterSeconds),
    multikey: arrays !== 0,
    arrays,
    isBuilding: false,
    keysOf: compileIndex(fields, spec.sparse === true),
    spec,
  };
}

function newUuid(): Binary {
  const bytes = randomBytes(16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return new Binary(bytes, 4);
}

/** The row ids of the documents of a collection, by its id in the catalog. */
export function ridRange(id: number): { firstRid: number; lastRid: number } {
  return { firstRid: id * RIDS, lastRid: (id + 1) * RIDS - 1 };
}
