import {
  type ClientSession,
  type Collection,
  type Document,
  type Filter,
  MongoError,
  type OptionalUnlessRequiredId,
} from 'mongodb';
import type { Outcome } from '../domain/kit/group.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { writeErrorsOf } from './write-errors.ts';

/**
 * Inserts documents with one command. The failure of a document does not affect the others.
 * @returns an outcome for each document, in order
 * @throws when the whole command failed; then any of the documents may have been inserted
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
 * Inserts documents one after the other with one command, so that a reader who sees a document also sees those before
 * it. The first id that exists already costs two further commands; more such ids cost nothing extra.
 * @returns an outcome for each document, in order
 * @throws when a whole command failed; then any of the documents may have been inserted
 */
export async function insertInOrder<Stored extends { _id: string }>(
  collection: Collection<Stored>,
  documents: readonly Stored[],
): Promise<Outcome<null>[]> {
  const outcomes = new Map<Stored, Outcome<null>>();
  for (let rest = documents; rest.length > 0; rest = documents.filter((each) => !outcomes.has(each))) {
    try {
      await collection.insertMany(rest as unknown as OptionalUnlessRequiredId<Stored>[], { ordered: true });
      for (const each of rest) outcomes.set(each, { result: null });
    } catch (error) {
      const [[index, failure] = []] = writeErrorsOf(error);
      if (index === undefined) throw error;
      for (const each of rest.slice(0, index)) outcomes.set(each, { result: null });
      outcomes.set(rest[index] as Stored, { error: failure });
      const behind = rest.slice(index + 1);
      if (!isDuplicateKey(failure) || behind.length === 0) continue;
      const ids = behind.map(({ _id }) => _id);
      const filter = { _id: { $in: ids } } as Filter<Stored>;
      const present = new Set((await collection.find(filter).project({ _id: 1 }).toArray()).map(({ _id }) => _id));
      for (const each of behind) if (present.has(each._id)) outcomes.set(each, { error: failure });
    }
  }
  return documents.map((each) => outcomes.get(each) as Outcome<null>);
}

/**
 * Inserts documents with one command of a transaction.
 * @throws the error of the first document that cannot be inserted, as inserting it alone would throw it; the
 * transaction must then end
 */
export async function insertAll<Stored extends Document>(
  collection: Collection<Stored>,
  documents: readonly Stored[],
  session: ClientSession,
): Promise<void> {
  try {
    await collection.insertMany(documents as unknown as OptionalUnlessRequiredId<Stored>[], { session });
  } catch (error) {
    // A transaction that conflicts with another one is retried.
    if (error instanceof MongoError && error.hasErrorLabel('TransientTransactionError')) throw error;
    const [first] = writeErrorsOf(error).values();
    throw first;
  }
}
