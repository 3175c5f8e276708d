import { Double, Int32 } from 'bson';
import { compileFilter } from '../query/match.ts';
import type { Doc } from '../query/types.ts';
import type { Collection } from '../store/catalog.ts';
import { storageOf } from '../store/statistics.ts';
import type { Command, Context } from './command.ts';

export const listDatabases: Command = {
  options: ['filter', 'nameOnly', 'authorizedDatabases'],
  run: (context) => {
    const matches = compileFilter(context.args.document('filter') ?? {});
    const names = [...new Set(context.store.catalog.list().map((collection) => collection.db))];
    if (context.args.flag('nameOnly')) {
      return { databases: names.map((name): Doc => ({ name })).filter((each) => matches(each)) };
    }
    const databases = names
      .map((name): Doc => ({ name, sizeOnDisk: new Double(sizes(context, name).dataSize), empty: false }))
      .filter((each) => matches(each));
    const total = databases.reduce((sum, each) => sum + Number(each.sizeOnDisk), 0);
    return { databases, totalSize: new Double(total), totalSizeMb: new Double(Math.floor(total / 1024 ** 2)) };
  },
};

export const dropDatabase: Command = {
  options: [],
  writes: true,
  run: ({ store, db }) => {
    const collections = store.catalog.list(db);
    if (collections.length === 0) return {};
    for (const collection of collections) store.dropCollection(collection);
    store.removeDropped();
    store.oplog.append({ op: 'X', db, coll: '', uuid: null, id: null, body: null, extra: null });
    return { dropped: db };
  },
};

export const dbStats: Command = {
  options: ['scale', 'freeStorage'],
  run: (context) => {
    const scale = context.args.integer('scale') ?? 1;
    const { collections, objects, dataSize, indexSize } = sizes(context, context.db);
    const scaled = (value: number): Double => new Double(Math.floor(value / scale));
    return {
      db: context.db,
      collections: new Int32(collections.length),
      views: new Int32(0),
      objects: new Int32(objects),
      avgObjSize: new Double(objects > 0 ? dataSize / objects : 0),
      dataSize: scaled(dataSize),
      storageSize: scaled(dataSize),
      indexes: new Int32(collections.reduce((sum, each) => sum + each.indexes.length, 0)),
      indexSize: scaled(indexSize),
      totalSize: scaled(dataSize + indexSize),
      scaleFactor: new Double(scale),
    };
  },
};

function sizes(
  { store }: Context,
  db: string,
): { collections: Collection[]; objects: number; dataSize: number; indexSize: number } {
  const collections = store.catalog.list(db);
  let objects = 0;
  let dataSize = 0;
  let indexSize = 0;
  for (const collection of collections) {
    const { bytes, indexBytes } = storageOf(store.database, collection);
    objects += store.documents.count(collection);
    dataSize += bytes;
    for (const size of indexBytes.values()) indexSize += size;
  }
  return { collections, objects, dataSize, indexSize };
}
