import { withoutPauses } from '../query/pause.ts';
import type { Doc } from '../query/types.ts';
import type { Collection, Index } from './catalog.ts';
import { newReadStats, prepareQuery } from './read.ts';
import type { Store } from './store.ts';
import { RowLocked } from './transactions.ts';

/** Number of documents removed in one step: some milliseconds of work on a busy machine. */
const BATCH = 50;

/**
 * Removes the documents that have expired at `now` (milliseconds since the epoch) according to a TTL index, hidden or
 * not. Yields after each `BATCH` documents, so that the caller can serve clients and commit in between. The indexes
 * take turns. Documents that an open transaction holds are left for the next run.
 */
export function* removeExpired(store: Store, now: number): Generator<void> {
  let left = store.catalog
    .list()
    .flatMap(({ ns, indexes }) => indexes.map(({ id, expireAfterSeconds }) => ({ ns, id, expireAfterSeconds })))
    .filter(({ expireAfterSeconds }) => expireAfterSeconds !== undefined);
  while (left.length > 0) {
    const more: typeof left = [];
    for (const index of left) {
      if (removeBatch(store, index.ns, index.id, now)) more.push(index);
      yield;
    }
    left = more;
  }
}

/**
 * Removes the documents of one step. Returns whether more may follow; false if the collection or the index is gone. The
 * index's expiry time is read at each step, so a `collMod` between two steps applies to the second.
 */
function removeBatch(store: Store, ns: string, id: number, now: number): boolean {
  const collection = store.catalog.get(ns);
  const index = collection?.indexes.find((each) => each.id === id);
  if (!collection || index?.expireAfterSeconds === undefined) return false;
  const before = now - index.expireAfterSeconds * 1000;
  return store.commit.write(() => removeBefore(store, collection, index, before));
}

/**
 * Removes documents whose date, or the earliest date of an array, is before `before`. Other values never expire.
 * @returns whether more may follow
 */
function removeBefore(store: Store, collection: Collection, index: Index, before: number): boolean {
  const path = (index.fields[0] as [string, number])[0];
  const expired: Doc = { [path]: { $lt: new Date(before) } };
  const filter = index.partial ? { $and: [expired, index.partial.filter] } : expired;
  const query = prepareQuery(store, collection, { filter, sort: {}, skip: 0, limit: BATCH, hint: index });
  const matches = [...withoutPauses(query.run(newReadStats()))];
  let removed = 0;
  for (const { rid, doc } of matches) {
    try {
      store.documents.remove(collection, rid, doc);
      removed++;
    } catch (error) {
      // Skipped: an open transaction holds the document, which is detected before anything is written.
      if (!(error instanceof RowLocked)) throw error;
    }
  }
  return matches.length === BATCH && removed > 0;
}
