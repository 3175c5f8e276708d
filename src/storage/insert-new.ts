import { type Collection, MongoBulkWriteError, type OptionalUnlessRequiredId } from 'mongodb';
import { DUPLICATE_KEY } from './duplicate-key.ts';

/** Inserts the documents whose `_id` does not exist yet. @returns the `_id`s of the inserted documents */
export async function insertNew<Stored extends { _id: string }>(
  collection: Collection<Stored>,
  documents: readonly Stored[],
): Promise<Set<string>> {
  const inserted = new Set(documents.map(({ _id }) => _id));
  if (documents.length === 0) return inserted;
  try {
    await collection.insertMany(documents as unknown as OptionalUnlessRequiredId<Stored>[], { ordered: false });
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const failures = [error.writeErrors].flat();
    if (failures.length === 0 || failures.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
    for (const { index } of failures) inserted.delete(documents[index]?._id ?? '');
  }
  return inserted;
}
