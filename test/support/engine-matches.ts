import { withoutPauses } from '../../src/engine/query/pause.ts';
import type { Doc } from '../../src/engine/query/types.ts';
import type { Collection } from '../../src/engine/store/catalog.ts';
import { type Match, newReadStats, prepareQuery } from '../../src/engine/store/read.ts';
import type { Store } from '../../src/engine/store/store.ts';

/** Returns the documents of a collection that match a filter now. */
export function matchesIn(store: Store, collection: Collection, filter: Doc): Match[] {
  const query = { filter, sort: {}, skip: 0, limit: 0, hint: undefined };
  return [...withoutPauses(prepareQuery(store, collection, query).run(newReadStats()))];
}
