import type { Collection } from 'mongodb';
import { isDuplicateKey } from './duplicate-key.ts';
import { insertEach } from './insert-each.ts';

/** Inserts the documents whose `_id` does not exist yet. @returns the `_id`s of the inserted documents */
export async function insertNew<Stored extends { _id: string }>(
  collection: Collection<Stored>,
  documents: readonly Stored[],
): Promise<Set<string>> {
  const inserted = new Set(documents.map(({ _id }) => _id));
  const outcomes = await insertEach(collection, documents);
  for (const [index, outcome] of outcomes.entries()) {
    if ('result' in outcome) continue;
    if (!isDuplicateKey(outcome.error)) throw outcome.error;
    inserted.delete(documents[index]?._id ?? '');
  }
  return inserted;
}
