import type { Collection } from './catalog.ts';
import type { Database } from './database.ts';

/** Measures the size in bytes of a collection's documents, and of the keys of each index. */
export function storageOf(
  database: Database,
  collection: Collection,
): { bytes: number; indexBytes: Map<string, number> } {
  const documents = database.prepare('SELECT coalesce(sum(length(bson)), 0) AS n FROM doc WHERE rid BETWEEN ? AND ?');
  const keys = database.prepare('SELECT coalesce(sum(length(key) + 8), 0) AS n FROM idx WHERE i = ?');
  return {
    bytes: Number(documents.get(collection.firstRid, collection.lastRid)?.n),
    indexBytes: new Map(collection.indexes.map((index) => [index.name, Number(keys.get(index.id)?.n)])),
  };
}
