import type { Doc } from '../query/types.ts';
import type { Collection, Index } from './catalog.ts';
import { freeStats, prepareQuery } from './read.ts';
import type { Store } from './store.ts';

/** Documents that one transaction of the monitor removes. */
const PIECE = 1000;

/** Removes the documents whose TTL index says that their time is over at `now` (milliseconds). */
export function removeExpired(store: Store, now: number): void {
  for (const collection of store.catalog.list()) {
    for (const index of collection.indexes) {
      if (index.expireAfterSeconds === undefined) continue;
      while (removePiece(store, collection, index, now - index.expireAfterSeconds * 1000) === PIECE);
    }
  }
}

/** A date, or the earliest of an array's dates, decides; anything else never expires. */
function removePiece(store: Store, collection: Collection, index: Index, before: number): number {
  const path = (index.fields[0] as [string, number])[0];
  const expired: Doc = { [path]: { $lt: new Date(before) } };
  const filter = index.partial ? { $and: [expired, index.partial.filter] } : expired;
  const query = prepareQuery(store, collection, { filter, sort: {}, skip: 0, limit: PIECE, hint: index.name });
  return store.commit.write(() => {
    const matches = [...query.run(freeStats())];
    for (const { rid, doc } of matches) store.documents.remove(collection, rid, doc);
    return matches.length;
  });
}
