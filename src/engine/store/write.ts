import { ObjectId } from 'bson';
import { matchedArrayIndex } from '../query/match.ts';
import type { Doc } from '../query/types.ts';
import { compileUpdate, isReplacement, type UpdateResult, upsertBase } from '../query/update.ts';
import { encodeDocument } from '../wire/bson.ts';
import type { Collection } from './catalog.ts';
import type { Match } from './read.ts';
import type { Store } from './store.ts';

/** An update with the filter that it goes with. */
export interface Change {
  filter: Doc;
  replacement: boolean;
  apply: ReturnType<typeof compileUpdate>;
}

export function compileChange(filter: Doc, update: Doc | Doc[], arrayFilters: Doc[] | undefined): Change {
  return {
    filter,
    replacement: isReplacement(update),
    apply: compileUpdate(update, arrayFilters ? { arrayFilters } : {}),
  };
}

/** Changes one stored document; nothing is written when the update leaves it as it is. */
export function updateMatch(store: Store, collection: Collection, change: Change, { rid, doc }: Match): UpdateResult {
  const positional = change.replacement ? undefined : matchedArrayIndex(change.filter, doc);
  const result = change.apply(doc, { insert: false, ...(positional === undefined ? {} : { positional }) });
  if (!result.changed) return result;
  store.documents.update(collection, rid, doc, result.doc, change.replacement ? undefined : result.description);
  return result;
}

/** Inserts what an upsert makes of its filter and update; gives the document. */
export function insertNew(store: Store, collection: Collection, change: Change): Doc {
  const base = upsertBase(change.filter);
  const made = change.apply(change.replacement ? idOf(base) : base, { insert: true }).doc;
  const doc: Doc = { _id: made._id ?? new ObjectId(), ...made };
  store.documents.insert(collection, doc, encodeDocument(doc));
  return doc;
}

function idOf(base: Doc): Doc {
  return base._id === undefined ? {} : { _id: base._id };
}
