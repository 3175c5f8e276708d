import type { Collection, Document, OptionalUnlessRequiredId } from 'mongodb';
import type { Outcome } from '../domain/grouped.ts';
import { writeErrorsOf } from './write-errors.ts';

/**
 * Inserts documents with one command, each by itself.
 * @returns an outcome for each document, in order
 * @throws when the whole command failed; then any of them may have been inserted
 */
export async function insertEach<Stored extends Document>(
  collection: Collection<Stored>,
  documents: readonly Stored[],
): Promise<Outcome<null>[]> {
  if (documents.length === 0) return [];
  try {
    await collection.insertMany(documents as unknown as OptionalUnlessRequiredId<Stored>[], { ordered: false });
    return documents.map(() => ({ result: null }));
  } catch (error) {
    const failures = writeErrorsOf(error);
    return documents.map((_, index) => {
      const failure = failures.get(index);
      return failure ? { error: failure } : { result: null };
    });
  }
}
