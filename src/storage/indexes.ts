import { type Collection, type Db, type IndexDescription, MongoServerError } from 'mongodb';
import { COLLECTIONS } from './collection-rules.ts';

/** MongoDB's error codes for an index that exists with other options, or with another key or filter. */
const CONFLICTS: readonly unknown[] = [85, 86];
const INDEX_NOT_FOUND = 27;
const INDEX_BUILD_ABORTED = 276;

/**
 * Creates missing indexes, and replaces those that exist with another definition under the same name. Safe to run at
 * each start, and in several processes at the same time. An upgrade drops indexes that are no longer used.
 * @param report called for each index that is replaced
 */
export async function ensureIndexes(db: Db, report: (text: string) => void = () => {}): Promise<void> {
  await Promise.all(
    Object.entries(COLLECTIONS).map(async ([name, { indexes = [] }]) => {
      const collection = db.collection(name);
      try {
        if (indexes.length > 0) await collection.createIndexes([...indexes]);
      } catch (error) {
        if (!hasCode(error, [...CONFLICTS, INDEX_BUILD_ABORTED])) throw error;
        for (const index of indexes) await ensureIndex(collection, index, report);
      }
    }),
  );
}

async function ensureIndex(
  collection: Collection,
  index: IndexDescription,
  report: (text: string) => void,
): Promise<void> {
  try {
    await collection.createIndexes([index]);
  } catch (error) {
    // Another process has just dropped the index in order to replace it.
    if (hasCode(error, [INDEX_BUILD_ABORTED])) return ensureIndex(collection, index, report);
    if (!hasCode(error, CONFLICTS)) throw error;
    // Without a unique index, other processes could store duplicates meanwhile.
    if (index.unique) throw error;
    // Another process may have replaced the index meanwhile.
    if (await hasIndex(collection, index)) return;
    report(`replaces the index ${index.name} of ${collection.collectionName}, which was created otherwise`);
    await dropIndex(collection, String(index.name));
    await ensureIndex(collection, index, report);
  }
}

async function dropIndex(collection: Collection, name: string): Promise<void> {
  try {
    await collection.dropIndex(name);
  } catch (error) {
    // Ignored: another process has just dropped the index.
    if (!hasCode(error, [INDEX_NOT_FOUND])) throw error;
  }
}

async function hasIndex(collection: Collection, wanted: IndexDescription): Promise<boolean> {
  const facts = ({ key, partialFilterExpression, expireAfterSeconds }: Partial<IndexDescription>) =>
    JSON.stringify([key, partialFilterExpression ?? null, expireAfterSeconds ?? null]);
  const present = await collection.listIndexes().toArray();
  return present.some((index) => index.name === wanted.name && facts(index) === facts(wanted));
}

function hasCode(error: unknown, codes: readonly unknown[]): boolean {
  return error instanceof MongoServerError && codes.includes(error.code);
}
