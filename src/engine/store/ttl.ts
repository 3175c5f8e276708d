import { withoutPauses } from '../query/pause.ts';
import type { Doc } from '../query/types.ts';
import type { Collection, Index } from './catalog.ts';
import { newReadStats, prepareQuery } from './read.ts';
import type { Store } from './store.ts';
import { RowLocked } from './transactions.ts';

/** Number of documents removed in one step: a few milliseconds of work. */
const BATCH = 100;

/**
 * Removes the documents that have expired at `now` (milliseconds since the epoch) according to a TTL index, hidden or
 * not. Yields after each `BATCH` documents, so that the caller can serve clients and commit in between. Documents that
 * an open transaction holds are left for the next run.
 */
export function* removeExpired(store: Store, now: number): Generator<void> {
  for (const { ns, indexes } of store.catalog.list()) {
    for (const { id, expireAfterSeconds } of indexes) {
      if (expireAfterSeconds === undefined) continue;
      while (removeBatch(store, ns, id, now)) yield;
      yield;
    }
  }
}

/**
 * Removes one step's documents. Returns whether more may follow; false if the collection or the index no longer exists.
 * The index's time is read at each step: a `collMod` that was answered between two steps applies to the second.
 */
function removeBatch(store: Store, ns: string, id: number, now: number): boolean {
  const collection = store.catalog.get(ns);
  const index = collection?.indexes.find((each) => each.id === id);
  if (!collection || index?.expireAfterSeconds === undefined) return false;
  const before = now - index.expireAfterSeconds * 1000;
  try {
    return store.commit.write(() => removeBefore(store, collection, index, before)) === BATCH;
  } catch (error) {
    if (error instanceof RowLocked) return false;
    throw error;
  }
}

/** Dates that JavaScript cannot tell, as the end of time in other languages, are before this one in an index. */
const EARLIEST = new Date(-8.64e15);

/** The date, or the earliest date of an array, decides. Other values never expire. */
function removeBefore(store: Store, collection: Collection, index: Index, before: number): number {
  const path = (index.fields[0] as [string, number])[0];
  // In a multikey index a scan uses one of two bounds only, and must use the last date.
  const expired: Doc = { [path]: { $lt: new Date(before), ...(!index.multikey && { $gte: EARLIEST }) } };
  const filter = index.partial ? { $and: [expired, index.partial.filter] } : expired;
  const query = prepareQuery(store, collection, { filter, sort: {}, skip: 0, limit: BATCH, hint: index });
  const matches = [...withoutPauses(query.run(newReadStats()))];
  for (const { rid, doc } of matches) store.documents.remove(collection, rid, doc);
  return matches.length;
}
