import { Int32 } from 'bson';
import { CommandError } from '../errors.ts';
import { PAUSE, type Steps } from '../query/pause.ts';
import { asDoc, type Doc, isDoc } from '../query/types.ts';
import type { Collection, Index } from '../store/catalog.ts';
import type { IndexBuild } from '../store/index-builds.ts';
import type { Store } from '../store/store.ts';
import { RowLocked, Transaction } from '../store/transactions.ts';
import { encodeDocument } from '../wire/bson.ts';
import { existingCollection } from './collections.ts';
import type { Command } from './command.ts';
import { firstBatch } from './cursors.ts';
import { indexSpec, knownOptions, sameIndex } from './index-spec.ts';
import { toEnd } from './slices.ts';
import { runWrite } from './write.ts';

/**
 * Creates indexes. The first step is part of the command's write, and is enough for a small collection. Each further
 * step is a write of its own, and other commands run in between. If two commands create the same index, it is built
 * once.
 */
export const createIndexes: Command = {
  options: ['indexes', 'commitQuorum', 'ignoreUnknownIndexOptions'],
  writes: true,
  transactional: true,
  run: (context) => {
    const { store, db, args, snapshot } = context;
    const wanted = args.documents('indexes');
    const specs = (args.flag('ignoreUnknownIndexOptions') ? wanted.map(knownOptions) : wanted).map(indexSpec);
    if (specs.length === 0) throw new CommandError('BadValue', 'Must specify at least one index to create');
    const name = args.collection();
    const createdCollectionAutomatically = store.catalog.find(db, name) === undefined;
    const collection = store.collectionForWrite(db, name);
    const before = collection.indexes.length;
    const asked = new Map(specs.map((spec) => [String(spec.name), spec]));
    const missing = [...asked.values()].filter((spec) => !indexExists(collection.indexes, spec));
    const answer = (): Doc => ({
      numIndexesBefore: new Int32(before),
      numIndexesAfter: new Int32(before + missing.length),
      createdCollectionAutomatically,
      ...(missing.length === 0 ? { note: 'all indexes already exist' } : {}),
    });
    if (missing.length === 0) return answer();
    if (snapshot instanceof Transaction) {
      if (!snapshot.created.has(collection.ns) || store.documents.count(collection) > 0)
        throw new CommandError(
          'OperationNotSupportedInTransaction',
          `Cannot create new indexes on existing collection ${collection.ns} in a multi-document transaction.`,
        );
      for (const spec of missing) store.catalog.addIndex(collection, spec);
      appendCreated(store, collection, missing);
      return answer();
    }
    const other = store.builds.of(collection).find(({ indexes }) => missing.some((spec) => indexExists(indexes, spec)));
    if (other) return other.ended.promise.then(() => runWrite(context));
    const build = store.builds.begin(collection, missing);
    try {
      if (store.builds.buildSmall(build)) {
        appendCreated(store, collection, missing);
        return answer();
      }
    } catch (error) {
      store.builds.abandon(build);
      throw error;
    }
    return finish(store, build, missing).then(answer);
  },
};

/** Steps of a build that are committed together if no other command needs a commit: a few milliseconds of writing. */
const STEPS_OF_A_COMMIT = 8;

/**
 * Completes a build that the first step did not finish. The last step waits for the transactions that use the
 * collection.
 */
async function finish(store: Store, build: IndexBuild, specs: Doc[]): Promise<void> {
  const { builds, commit } = store;
  const work = function* (): Steps<void> {
    yield* builds.collect(build);
    for (let steps = 1; commit.writeUnhurried(() => builds.addNext(build)); steps++) {
      // Committed now and then, because the commit of another client's write includes the build's steps before it.
      if (steps % STEPS_OF_A_COMMIT === 0) commit.flush();
      yield PAUSE;
    }
    commit.writeUnhurried(() => {
      const collection = store.catalog.byId(build.collectionId);
      builds.finish(build);
      if (collection) appendCreated(store, collection, specs);
    });
  };
  try {
    for (let isOver = false; !isOver; ) {
      try {
        await toEnd(store, work());
        isOver = true;
      } catch (error) {
        if (!(error instanceof RowLocked)) throw error;
        await error.ended;
      }
    }
  } finally {
    builds.abandon(build);
  }
}

function appendCreated(store: Store, collection: Collection, indexes: Doc[]): void {
  store.appendEvent('k', collection, { operationDescription: { indexes } });
}

/** Whether an equal index exists. Throws error 85 or 86 for an index with the same name or keys but other settings. */
function indexExists(indexes: readonly Index[], spec: Doc): boolean {
  const named = indexes.find((index) => index.name === spec.name);
  const same = indexes.find((index) => sameIndex(index.spec, spec));
  if (same && same === named) {
    if (same.spec.expireAfterSeconds === undefined && spec.expireAfterSeconds === undefined) return true;
    if (Number(same.spec.expireAfterSeconds) === Number(spec.expireAfterSeconds)) return true;
    throw conflict(
      'IndexOptionsConflict',
      'An equivalent index already exists with the same name but different options',
      spec,
      same,
    );
  }
  if (named) {
    throw conflict(
      'IndexKeySpecsConflict',
      'An existing index has the same name as the requested index. When index names are not specified, they are auto generated and can cause conflicts. Please refer to our documentation',
      spec,
      named,
    );
  }
  if (same)
    throw conflict('IndexOptionsConflict', `Index already exists with a different name: ${same.name}`, spec, same);
  return false;
}

function conflict(
  code: 'IndexOptionsConflict' | 'IndexKeySpecsConflict',
  reason: string,
  wanted: Doc,
  found: Index,
): CommandError {
  return new CommandError(
    code,
    `${reason}. Requested index: ${JSON.stringify(wanted)}, existing index: ${JSON.stringify(found.spec)}`,
  );
}

/** The index as `listIndexes` shows it. The `_id` index of a clustered collection is marked as clustered. */
function shownIndex({ options }: Collection, { spec, name }: Index): Doc {
  const clustered = asDoc(options.clusteredIndex);
  return clustered && name === '_id_' ? { ...clustered, clustered: true } : spec;
}

export const listIndexes: Command = {
  options: ['cursor', 'includeBuildUUIDs', 'includeIndexBuildInfo'],
  run: (context) => {
    const collection = existingCollection(context);
    return firstBatch(
      context,
      collection.ns,
      collection.indexes.map((index) => encodeDocument(shownIndex(collection, index))),
      {
        batchSize: context.args.cursorBatchSize(),
      },
    );
  },
};

/** Drops indexes: `index` is a name, a list of names, a key pattern, or `*` for all except `_id_`. */
export const dropIndexes: Command = {
  options: ['index'],
  writes: true,
  run: (context) => {
    const { store, args } = context;
    const collection = existingCollection(context);
    const nIndexesWas = new Int32(collection.indexes.length);
    for (const index of chosen(collection, args.body.index)) {
      if (index.name === '_id_') throw new CommandError('InvalidOptions', 'cannot drop _id index');
      // Without the index, a cursor that scans it would end early as if it were complete.
      store.cursors.killReadersOf(collection);
      store.catalog.dropIndex(collection, index);
      store.appendEvent('K', collection, { operationDescription: { indexes: [index.spec] } });
    }
    return { nIndexesWas };
  },
};

function chosen(collection: Collection, which: unknown): Index[] {
  if (which === '*') return collection.indexes.filter((index) => index.name !== '_id_');
  if (Array.isArray(which)) return which.flatMap((each) => chosen(collection, each));
  if (typeof which === 'string') {
    const index = collection.indexes.find(({ name }) => name === which);
    if (!index) throw new CommandError('IndexNotFound', `index not found with name [${which}]`);
    return [index];
  }
  if (!isDoc(which))
    throw new CommandError('TypeMismatch', "BSON field 'dropIndexes.index' must be a string, an array or an object");
  const wanted = JSON.stringify(Object.entries(which).map(([path, direction]) => [path, Number(direction)]));
  const index = collection.indexes.find(({ fields }) => JSON.stringify(fields) === wanted);
  if (!index) throw new CommandError('IndexNotFound', `can't find index with key: ${JSON.stringify(which)}`);
  return [index];
}
