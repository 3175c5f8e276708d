import { isDeepStrictEqual } from 'node:util';
import type { Db, Document, IndexDescription } from 'mongodb';

/**
 * Creates the indexes of a source collection in the target, and the collection itself if it does not exist.
 * @param expiring whether to create the TTL indexes as well, which delete documents from then on
 */
export async function moveIndexes(source: Db, target: Db, name: string, expiring: boolean): Promise<void> {
  const wanted = (await indexesOf(source, name)).filter(
    ({ name: index, expireAfterSeconds }) => index !== '_id_' && (expiring || expireAfterSeconds === undefined),
  );
  if (wanted.length > 0) await target.collection(name).createIndexes(wanted as IndexDescription[]);
  else if (!(await target.listCollections({ name }, { nameOnly: true }).hasNext())) await target.createCollection(name);
}

/**
 * Compares a collection's indexes in both databases.
 * @returns their number
 * @throws when they differ; the message names an index
 */
export async function compareIndexes(source: Db, target: Db, name: string): Promise<number> {
  const [ours, theirs] = await Promise.all([indexesOf(source, name), indexesOf(target, name)]);
  for (const index of [...ours, ...theirs]) {
    const [one, other] = [ours, theirs].map((all) => all.find((each) => each.name === index.name));
    // The order of a key's fields is part of the index.
    const isEqual = isDeepStrictEqual(one, other) && isDeepStrictEqual(keyOf(one), keyOf(other));
    if (!isEqual) throw new Error(`the index ${index.name} of ${name} differs`);
  }
  return ours.length;
}

function keyOf(index: Document | undefined): unknown[] {
  return Object.entries(index?.key ?? {});
}

/** Returns the indexes without what a server adds: its index version, and flags that are false. */
async function indexesOf(db: Db, collection: string): Promise<Document[]> {
  const indexes = await db
    .collection(collection)
    .listIndexes()
    .toArray()
    .catch((error: { code?: number }) => {
      if (error.code === NAMESPACE_NOT_FOUND) return [];
      throw error;
    });
  return indexes.map(({ v: _version, ns: _namespace, background: _no, ...index }) =>
    Object.fromEntries(Object.entries(index).filter(([, value]) => value !== false)),
  );
}

const NAMESPACE_NOT_FOUND = 26;
