import type { Doc } from '../query/types.ts';
import type { Collection, Index } from './catalog.ts';
import { freeStats, prepareQuery } from './read.ts';
import type { Store } from './store.ts';
import { RowLocked } from './transactions.ts';

/** Documents that are removed at a time. */
const PIECE = 1000;

/**
 * Removes the documents whose TTL index, hidden or not, says that their time is over at `now` (milliseconds), a piece at each step: whoever drives it
 * lets others have their turn, and the commit be made, between two. What a transaction holds is left for the next time.
 */
export function* removeExpired(store: Store, now: number): Generator<void> {
  for (const { ns, indexes } of store.catalog.list()) {
    for (const { id, expireAfterSeconds } of indexes) {
      if (expireAfterSeconds === undefined) continue;
      while (removePiece(store, ns, id, now - expireAfterSeconds * 1000)) yield;
      yield;
    }
  }
}

/** Whether there may be more to remove; not where the collection or its index is gone since. */
function removePiece(store: Store, ns: string, id: number, before: number): boolean {
  const collection = store.catalog.get(ns);
  const index = collection?.indexes.find((each) => each.id === id);
  if (!collection || !index) return false;
  try {
    return store.commit.write(() => removeBefore(store, collection, index, before)) === PIECE;
  } catch (error) {
    if (error instanceof RowLocked) return false;
    throw error;
  }
}

/** A date, or the earliest of an array's dates, decides; anything else never expires. */
function removeBefore(store: Store, collection: Collection, index: Index, before: number): number {
  const path = (index.fields[0] as [string, number])[0];
  const expired: Doc = { [path]: { $lt: new Date(before) } };
  const filter = index.partial ? { $and: [expired, index.partial.filter] } : expired;
  const query = prepareQuery(store, collection, { filter, sort: {}, skip: 0, limit: PIECE, hint: index });
  const matches = [...query.run(freeStats())];
  for (const { rid, doc } of matches) store.documents.remove(collection, rid, doc);
  return matches.length;
}
