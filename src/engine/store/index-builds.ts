import { CommandError } from '../errors.ts';
import { PAUSE, type Pause, type Steps } from '../query/pause.ts';
import type { Doc } from '../query/types.ts';
import { compileFields, decodeDocument } from '../wire/bson.ts';
import { type Catalog, type Collection, type Index, ridRange } from './catalog.ts';
import { verified } from './checksums.ts';
import type { Database } from './database.ts';
import { type Documents, entriesOf, type UnfinishedIndexes } from './documents.ts';
import { limitedBy } from './limited-by.ts';
import { type Entry, MEMORY_BYTES, RidSorter } from './rid-sorter.ts';

/** Number of documents whose keys are collected in one step: a few milliseconds of work. */
const STEP = 128;
/** Number of keys added to an index in one step. */
const ADDED = 256;
/** Number of entries of a dropped index, or of documents of a dropped collection, removed in one step. */
const REMOVED = 500;
/** Maximum bytes of the documents removed in one step. */
const REMOVED_BYTES = 2 * 1024 * 1024;

const NEXT_ROWS = `SELECT rid, sum, bson FROM doc WHERE rid > ? AND rid <= ? ORDER BY rid ${limitedBy()}`;
const REMOVE_KEYS = `DELETE FROM idx WHERE i = ?1 AND (key, rid) IN (SELECT key, rid FROM idx WHERE i = ?1 ${limitedBy('?2')})`;
const SIZES = `SELECT rid, length(bson) AS bytes FROM doc WHERE rid BETWEEN ? AND ? ORDER BY rid ${limitedBy()}`;

/** A running build of one or more indexes, with a single pass over the documents. */
export interface IndexBuild {
  readonly collectionId: number;
  readonly indexes: readonly Index[];
  /** Decodes the fields that the index keys are computed from. */
  readonly decode: (bytes: Uint8Array) => Doc;
  /**
   * The keys of row ids up to this one are collected, and writes to these rows update the index entries. The pass has
   * yet to reach the other rows.
   */
  position: number;
  /** Iterators over the sorted keys of each index; null until all keys are collected. */
  entries: Generator<Entry | Pause>[] | null;
  readonly sorters: readonly RidSorter[];
  /** The entries to add next. */
  batch: Entry[];
  /** Place in `indexes` of the index that `batch` belongs to. */
  place: number;
  /** Number of keys collected so far. */
  collected: number;
  /** Number of keys added so far. */
  added: number;
  /** Collected keys that a write has removed since, by index, row and key. */
  readonly removed: Set<string>;
  readonly ended: PromiseWithResolvers<void>;
}

/**
 * Index builds that let other commands run. In steps, the keys are collected, sorted, and added in their order. An
 * index is used once it is complete. An unfinished build, as after a crash, leaves entries that `removeLeaving`
 * removes.
 */
export class IndexBuilds implements UnfinishedIndexes {
  readonly #database: Database;
  readonly #catalog: Catalog;
  readonly #documents: Documents;
  readonly #active = new Set<IndexBuild>();
  /** The keys that the current write has added to the `removed` sets of builds, for `undo`. */
  #noted: [Set<string>, string][] = [];

  constructor(database: Database, catalog: Catalog, documents: Documents) {
    this.#database = database;
    this.#catalog = catalog;
    this.#documents = documents;
  }

  /** Begins a build. Call it inside a write; if that is rolled back, call `abandon`. */
  begin(collection: Collection, specs: readonly Doc[]): IndexBuild {
    const building = this.of(collection).reduce((sum, { indexes }) => sum + indexes.length, 0);
    const indexes = specs.map((spec, n) => this.#catalog.beginIndex(collection, spec, building + n));
    const build: IndexBuild = {
      collectionId: collection.id,
      indexes,
      decode: indexes.some(({ partial }) => partial) ? decodeDocument : compileFields(fieldsOf(indexes)),
      position: collection.firstRid - 1,
      entries: null,
      sorters: specs.map(() => new RidSorter(Number.POSITIVE_INFINITY, true, MEMORY_BYTES / specs.length)),
      batch: [],
      place: 0,
      collected: 0,
      added: 0,
      removed: new Set(),
      ended: Promise.withResolvers(),
    };
    this.#active.add(build);
    return build;
  }

  /**
   * Builds the indexes of a small collection in one step, inside a write.
   * @returns false, without doing anything, if the collection is not small
   * @throws CommandError 11000 for a duplicate key, 171 for arrays that cannot be indexed together
   */
  buildSmall(build: IndexBuild): boolean {
    const collection = this.#collectionOf(build);
    const rows = this.#nextRows(build, collection);
    if (rows.length === STEP) return false;
    for (const { rid, doc } of rows)
      for (const index of build.indexes) this.#documents.addToIndex(collection, index, doc, rid);
    this.finish(build);
    return true;
  }

  /**
   * Collects the keys of all documents. Call it outside a write.
   * @throws CommandError 171 for arrays that cannot be indexed together, 276 when the collection was dropped or the
   *   build abandoned
   */
  *collect(build: IndexBuild): Steps<void> {
    while (!build.entries) {
      const collection = this.#collectionOf(build);
      const rows = this.#nextRows(build, collection);
      for (const { rid, doc } of rows)
        for (const [n, index] of build.indexes.entries()) {
          const { keys, arrays } = entriesOf(index, doc);
          if ((arrays & ~index.arrays) !== 0) this.#catalog.setMultikey(index, arrays);
          for (const key of keys) build.sorters[n]?.add({ rid, key });
          build.collected += keys.length;
        }
      const isLast = rows.length < STEP;
      build.position = isLast ? collection.lastRid : (rows.at(-1)?.rid as number);
      if (isLast) build.entries = build.sorters.map((sorter) => sorter.entries());
      else for (const sorter of build.sorters) if (sorter.isFull) yield* sorter.spill();
      yield PAUSE;
    }
  }

  /**
   * Adds the next keys, inside a write.
   * @returns false when all were added before
   * @throws CommandError 11000 for a duplicate key, 276 as `collect`
   */
  addNext(build: IndexBuild): boolean {
    const collection = this.#collectionOf(build);
    const index = build.indexes[build.place];
    const entries = build.entries?.[build.place];
    if (!index || !entries) return false;
    // The batch is kept until the write has succeeded: a write that an open transaction blocks is retried.
    while (build.batch.length < ADDED) {
      const { done, value } = entries.next();
      if (done) break;
      if (value !== PAUSE) build.batch.push(value);
    }
    for (const { key, rid } of build.batch)
      if (build.removed.size === 0 || !build.removed.has(nameOf(index, key, rid)))
        this.#documents.addKeyToIndex(collection, index, key, rid);
    if (build.batch.length < ADDED) build.place++;
    build.added += build.batch.length;
    build.batch = [];
    return true;
  }

  /** Makes the indexes part of the collection, inside a write. @throws CommandError 276 as `collect` */
  finish(build: IndexBuild): void {
    const collection = this.#collectionOf(build);
    for (const index of build.indexes) this.#catalog.finishIndex(collection, index);
    this.#end(build);
  }

  #collectionOf(build: IndexBuild): Collection {
    const collection = this.#catalog.byId(build.collectionId);
    if (collection && this.#active.has(build)) return collection;
    throw new CommandError('IndexBuildAborted', 'the index build was ended: its collection was dropped');
  }

  #nextRows({ position, decode }: IndexBuild, { lastRid }: Collection): { rid: number; doc: Doc }[] {
    return this.#database
      .prepare(NEXT_ROWS)
      .all(position, lastRid, STEP)
      .map((row) => {
        const rid = row.rid as number;
        return { rid, doc: decode(verified(rid, row.bson as Uint8Array, row.sum as number)) };
      });
  }

  removed(index: Index, key: Uint8Array, rid: number): void {
    const name = nameOf(index, key, rid);
    for (const { indexes, removed } of this.#active) {
      if (!indexes.some(({ id }) => id === index.id) || removed.has(name)) continue;
      removed.add(name);
      this.#noted.push([removed, name]);
    }
  }

  /** Called when a write begins. `undo` restores the keys that the write has removed from builds. */
  mark(): void {
    this.#noted = [];
  }

  undo(): void {
    for (const [removed, name] of this.#noted) removed.delete(name);
    this.#noted = [];
  }

  /** Ends a build and discards its indexes. */
  abandon(build: IndexBuild): void {
    this.#end(build);
  }

  abandonAll(test: (build: IndexBuild) => boolean = () => true): void {
    for (const build of [...this.#active].filter(test)) this.#end(build);
  }

  /** The builds on a collection. */
  of({ id }: Collection): IndexBuild[] {
    return this.#active.size === 0 ? [] : [...this.#active].filter(({ collectionId }) => collectionId === id);
  }

  /**
   * The running builds with their progress. While keys are collected, `done` of `total` row ids are passed; then,
   * `done` of `total` keys are added.
   */
  progress(): { collection: Collection; indexes: readonly Index[]; isAdding: boolean; done: number; total: number }[] {
    return [...this.#active].flatMap(({ collectionId, indexes, position, entries, added, collected }) => {
      const collection = this.#catalog.byId(collectionId);
      if (!collection) return [];
      const { firstRid, nextRid } = collection;
      const isAdding = entries !== null;
      const [done, total] = isAdding ? [added, collected] : [position + 1 - firstRid, nextRid - firstRid];
      return [{ collection, indexes, isAdding, done, total }];
    });
  }

  /** The indexes that must have the entries of a row: those of the collection, and builds that have passed the row. */
  indexesWith(collection: Collection, rid: number): readonly Index[] {
    if (this.#active.size === 0) return collection.indexes;
    const passed = this.of(collection).filter(({ position }) => rid <= position);
    return [...collection.indexes, ...passed.flatMap(({ indexes }) => indexes)];
  }

  /**
   * Removes some entries of dropped indexes and abandoned builds, and some documents of dropped collections. Call it
   * inside a write.
   * @returns whether there may be more
   */
  removeLeaving(): boolean {
    const active = new Set([...this.#active].flatMap(({ indexes }) => indexes.map(({ id }) => id)));
    const leaving = this.#catalog.leavingIndexes(active.size + 1).find(({ id }) => !active.has(id));
    if (!leaving) return false;
    const { id, dropped } = leaving;
    if (dropped !== null && this.#removeDocuments(dropped)) return true;
    const { changes } = this.#database.prepare(REMOVE_KEYS).run(id, REMOVED);
    if (Number(changes) < REMOVED) this.#catalog.removeIndex(id);
    return true;
  }

  /** Removes some documents of a dropped collection. @returns whether there were any to remove */
  #removeDocuments(collectionId: number): boolean {
    const { firstRid, lastRid } = ridRange(collectionId);
    const rows = this.#database.prepare(SIZES).all(firstRid, lastRid, REMOVED) as unknown as {
      rid: number;
      bytes: number;
    }[];
    let bytes = 0;
    let last: number | undefined;
    for (const row of rows) {
      bytes += row.bytes;
      if (last !== undefined && bytes > REMOVED_BYTES) break;
      last = row.rid;
    }
    if (last === undefined) return false;
    this.#database.prepare('DELETE FROM doc WHERE rid BETWEEN ? AND ?').run(firstRid, last);
    return true;
  }

  #end(build: IndexBuild): void {
    this.#active.delete(build);
    for (const sorter of build.sorters) sorter.close();
    build.ended.resolve();
  }
}

/** Collects the top-level fields on the paths of indexes. */
function fieldsOf(indexes: readonly Index[]): Set<string> {
  return new Set(indexes.flatMap(({ fields }) => fields.map(([path]) => path.split('.', 1)[0] as string)));
}

function nameOf({ id }: Index, key: Uint8Array, rid: number): string {
  return `${id} ${rid} ${Buffer.from(key).toString('latin1')}`;
}
