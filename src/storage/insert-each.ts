import { type ClientSession, type Collection, type Document, MongoError, type OptionalUnlessRequiredId } from 'mongodb';
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

/**
 * Inserts documents with one command of a transaction.
 * @throws the error of the first one that cannot be inserted, as an insertion of it alone would; the transaction must
 * then end
 */
export async function insertAll<Stored extends Document>(
  collection: Collection<Stored>,
  documents: readonly Stored[],
  session: ClientSession,
): Promise<void> {
  try {
    await collection.insertMany(documents as unknown as OptionalUnlessRequiredId<Stored>[], { session });
  } catch (error) {
    // A transaction that met another one is tried again.
    if (error instanceof MongoError && error.hasErrorLabel('TransientTransactionError')) throw error;
    const [first] = writeErrorsOf(error).values();
    throw first;
  }
}
