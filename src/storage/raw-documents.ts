import { createRequire } from 'node:module';
import { BSON, type Collection, type Db, type Document, MongoServerError } from 'mongodb';

/** The class by which the driver sends documents as unchanged bytes. */
interface DocumentSequence {
  push(document: Document, bytes: Uint8Array): number;
}
// The driver's public functions encode documents again from JavaScript objects, which move fields named by whole
// numbers to the front and merge types. The driver itself uses this class to send documents that it has encoded.
const { DocumentSequence } = createRequire(import.meta.url)('mongodb/lib/cmap/commands.js') as {
  DocumentSequence: new (field: string) => DocumentSequence;
};

/** Limits of one insert: bytes, unless a single document has more, and number of documents. */
export const MOST = { bytes: 4 * 1024 * 1024, documents: 2000 } as const;
/**
 * Documents in one reply. Each reply is in memory as a whole, and replies of 100 are hardly slower than replies of 16
 * MiB.
 */
const READ = 100;

/**
 * The types of `_id` values in MongoDB's order, each with its BSON codes. A comparison finds only values of its own
 * type.
 */
const ID_TYPES: readonly (readonly [type: string, codes: readonly number[]])[] = [
  ['minKey', [255]],
  ['null', [10]],
  ['number', [1, 16, 18, 19]],
  ['string', [2, 14]],
  ['object', [3]],
  ['binData', [5]],
  ['objectId', [7]],
  ['bool', [8]],
  ['date', [9]],
  ['timestamp', [17]],
  ['maxKey', [127]],
];
/** Offset of the type of a document's first field, bytes. */
const TYPE_AT = 4;

/** Decodes the fields of a document and keeps the exact BSON type of each. */
export function decoded(bytes: Uint8Array): Document {
  return BSON.deserialize(bytes, { promoteValues: false, promoteBuffers: false, promoteLongs: false });
}

/**
 * Yields the bytes of a collection's documents in the order of `_id`, by its index.
 * @param after a document with the `_id` to begin after, as {@link lastDocument} returns it; null: begin at the start
 */
export async function* documentsAfter(
  collection: Collection,
  after: Uint8Array | null,
): AsyncGenerator<Uint8Array, void, void> {
  const filters = after === null ? [{}] : await filtersAfter(collection, after);
  const options = { raw: true, sort: { _id: 1 }, batchSize: READ } as const;
  for (const filter of filters) yield* collection.find<Uint8Array>(filter, options);
}

async function filtersAfter(collection: Collection, after: Uint8Array): Promise<Document[]> {
  const greater = { _id: { $gt: decoded(after)._id } };
  const last = await lastDocument(collection);
  if (last === null) return [];
  const [from, to] = [typeOf(after), typeOf(last)];
  return [greater, ...ID_TYPES.slice(from + 1, to + 1).map(([type]) => ({ _id: { $type: type } }))];
}

function typeOf(document: Uint8Array): number {
  return ID_TYPES.findIndex(([, codes]) => codes.includes(document[TYPE_AT] ?? 0));
}

/** Returns a document with only the greatest `_id` of the collection; null if the collection is empty. */
export async function lastDocument(collection: Collection): Promise<Uint8Array | null> {
  const options = { raw: true, projection: { _id: 1 }, sort: { _id: -1 }, limit: 1 } as const;
  return (await collection.find<Uint8Array>({}, options).next()) ?? null;
}

/** Groups documents into batches that one insert accepts, see {@link MOST}. */
export async function* inBatches(documents: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Uint8Array[]> {
  let batch: Uint8Array[] = [];
  let bytes = 0;
  for await (const document of documents) {
    if (batch.length === MOST.documents || (batch.length > 0 && bytes + document.length > MOST.bytes)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(document);
    bytes += document.length;
  }
  if (batch.length > 0) yield batch;
}

/**
 * Inserts documents unchanged, in their order, and waits until a majority has them.
 * @throws {MongoServerError} when one is refused: the documents before it are stored, the later ones are not
 */
export async function insertBytes(db: Db, collection: string, documents: readonly Uint8Array[]): Promise<void> {
  const sequence = new DocumentSequence('documents');
  for (const bytes of documents) sequence.push({}, bytes);
  const answer = await db.command({
    insert: collection,
    ordered: true,
    writeConcern: { w: 'majority' },
    documents: sequence,
  });
  const [refused] = (answer.writeErrors ?? []) as { code: number; errmsg: string }[];
  if (refused) throw new MongoServerError({ message: refused.errmsg, code: refused.code });
  if (answer.writeConcernError) throw new MongoServerError({ message: answer.writeConcernError.errmsg });
}
