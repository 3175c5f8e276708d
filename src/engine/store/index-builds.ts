import { CommandError } from '../errors.ts';
import type { Doc } from '../query/types.ts';
import { decodeDocument } from '../wire/bson.ts';
import type { Catalog, Collection, Index } from './catalog.ts';
import { verified } from './checksums.ts';
import type { Database } from './database.ts';
import type { Documents, UnfinishedIndexes } from './documents.ts';

/** Number of documents of a step: a few milliseconds of work. */
const STEP = 128;
/** Number of entries of a dropped index that are removed in one step. */
const REMOVED = 500;

/** Indexes that are being filled, all with one pass over the documents. */
export interface IndexBuild {
  readonly collectionId: number;
  readonly indexes: readonly Index[];
  /** Row ids up to this one have their entries. Writes keep these up to date; the pass comes to the others. */
  position: number;
  readonly ended: PromiseWithResolvers<void>;
}

/**
 * Index builds that let other commands run: documents are added in steps, each atomic, and the index is used when it
 * has all of them. One that does not come to its end, as after a crash, leaves entries that `removeLeaving` removes.
 */
export class IndexBuilds implements UnfinishedIndexes {
  readonly #database: Database;
  readonly #catalog: Catalog;
  readonly #documents: Documents;
  readonly #active = new Set<IndexBuild>();

  constructor(database: Database, catalog: Catalog, documents: Documents) {
    this.#database = database;
    this.#catalog = catalog;
    this.#documents = documents;
  }

  /** Begins a build. Call it inside a write; if that is rolled back, call `abandon`. */
  begin(collection: Collection, specs: readonly Doc[]): IndexBuild {
    const building = this.of(collection).reduce((sum, { indexes }) => sum + indexes.length, 0);
    const build: IndexBuild = {
      collectionId: collection.id,
      indexes: specs.map((spec, n) => this.#catalog.beginIndex(collection, spec, building + n)),
      position: collection.firstRid - 1,
      ended: Promise.withResolvers(),
    };
    this.#active.add(build);
    return build;
  }

  /**
   * Adds the entries of the next documents; after the last ones, the indexes become part of the collection. Call it
   * inside a write.
   * @returns whether that was the last step
   * @throws CommandError 11000 for a duplicate key, 171 for arrays that cannot be indexed together, 276 when the
   * collection was dropped or the build abandoned
   */
  step(build: IndexBuild): boolean {
    const collection = this.#catalog.byId(build.collectionId);
    if (!collection || !this.#active.has(build))
      throw new CommandError('IndexBuildAborted', 'the index build was ended: its collection was dropped');
    const rows = this.#database
      .prepare('SELECT rid, sum, bson FROM doc WHERE rid > ? AND rid <= ? ORDER BY rid LIMIT ?')
      .all(build.position, collection.lastRid, STEP);
    for (const row of rows) {
      const doc = decodeDocument(verified(row.rid as number, row.bson as Uint8Array, row.sum as number));
      for (const index of build.indexes) this.#documents.addToIndex(collection, index, doc, row.rid as number);
    }
    if (rows.length === STEP) {
      build.position = rows.at(-1)?.rid as number;
      return false;
    }
    for (const index of build.indexes) this.#catalog.finishIndex(collection, index);
    this.#end(build);
    return true;
  }

  /** Ends a build without its indexes. */
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

  /** The builds that run, with the number of row ids that they have passed and that there are. */
  progress(): { collection: Collection; indexes: readonly Index[]; done: number; total: number }[] {
    return [...this.#active].flatMap(({ collectionId, indexes, position }) => {
      const collection = this.#catalog.byId(collectionId);
      if (!collection) return [];
      const { firstRid, nextRid } = collection;
      return [{ collection, indexes, done: position + 1 - firstRid, total: nextRid - firstRid }];
    });
  }

  /** The indexes that have the entries of a row: those of the collection, and those whose build has passed it. */
  indexesWith(collection: Collection, rid: number): readonly Index[] {
    if (this.#active.size === 0) return collection.indexes;
    const passed = this.of(collection).filter(({ position }) => rid <= position);
    return [...collection.indexes, ...passed.flatMap(({ indexes }) => indexes)];
  }

  /**
   * Removes entries of dropped indexes and abandoned builds. Call it inside a write.
   * @returns whether there may be more
   */
  removeLeaving(): boolean {
    const active = new Set([...this.#active].flatMap(({ indexes }) => indexes.map(({ id }) => id)));
    const id = this.#catalog.leavingIndexes().find((each) => !active.has(each));
    if (id === undefined) return false;
    const { changes } = this.#database
      .prepare('DELETE FROM idx WHERE i = ?1 AND (key, rid) IN (SELECT key, rid FROM idx WHERE i = ?1 LIMIT ?2)')
      .run(id, REMOVED);
    if (Number(changes) < REMOVED) this.#catalog.removeIndex(id);
    return true;
  }

  #end(build: IndexBuild): void {
    this.#active.delete(build);
    build.ended.resolve();
  }
}
