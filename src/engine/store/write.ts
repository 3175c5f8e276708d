import { ObjectId } from 'bson';
import { compileFilter, matchedArrayIndex } from '../query/match.ts';
import { asDoc, type Doc } from '../query/types.ts';
import { compileUpdate, isReplacement, type UpdateResult, upsertBase } from '../query/update.ts';
import { encodeDocument } from '../wire/bson.ts';
import type { Collection } from './catalog.ts';
import type { Match } from './read.ts';
import type { Store } from './store.ts';
import type { Validate } from './validator.ts';

/** A compiled update with the data of its statement. */
export interface Change {
  filter: Doc;
  replacement: boolean;
  /** Returns the array index that the positional operator `$` stands for; undefined if the update does not use `$`. */
  positionOf: ((doc: Doc) => number | undefined) | undefined;
  apply: ReturnType<typeof compileUpdate>;
}

export function compileChange(filter: Doc, update: Doc | Doc[], arrayFilters: unknown, variables: Doc): Change {
  const matcher = compileFilter(filter, variables);
  return {
    filter,
    replacement: isReplacement(update),
    positionOf: isPositional(update) ? (doc) => matchedArrayIndex(matcher, doc) : undefined,
    apply: compileUpdate(update, { arrayFilters, variables }),
  };
}

function isPositional(update: Doc | Doc[]): boolean {
  if (Array.isArray(update)) return false;
  return Object.values(update).some((fields) =>
    Object.keys(asDoc(fields) ?? {}).some((path) => path.split('.').includes('$')),
  );
}

/** Updates one stored document. Nothing is written when the update does not change it. */
export function updateMatch(
  store: Store,
  collection: Collection,
  change: Change,
  { rid, doc }: Match,
  validate: Validate | undefined,
): UpdateResult {
  const result = change.apply(doc, { insert: false, positional: change.positionOf?.(doc) });
  if (!result.changed) return result;
  const description = change.replacement ? undefined : result.description;
  store.documents.update(collection, rid, doc, result.doc, description, validate);
  return result;
}

/** Inserts the document that an upsert makes from its filter and update, and returns it. */
export function insertNew(store: Store, collection: Collection, change: Change, validate: Validate | undefined): Doc {
  const base = upsertBase(change.filter);
  const made = change.apply(change.replacement ? idOf(base) : base, { insert: true }).doc;
  const doc: Doc = { _id: made._id ?? new ObjectId(), ...made };
  store.documents.insert(collection, doc, encodeDocument(doc), validate);
  return doc;
}

function idOf(base: Doc): Doc {
  return base._id === undefined ? {} : { _id: base._id };
}
