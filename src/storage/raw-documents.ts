import { createRequire } from 'node:module';
import { BSON, type Collection, type Db, type Document, MongoServerError } from 'mongodb';

/** The part of the driver that sends documents as the bytes they are. */
interface DocumentSequence {
  push(document: Document, bytes: Uint8Array): number;
}
// The driver's public functions encode documents anew, from JavaScript objects, which put fields named by whole numbers
// first and merge types. This class is how the driver itself sends what it has encoded.
const { DocumentSequence } = createRequire(import.meta.url)('mongodb/lib/cmap/commands.js') as {
  DocumentSequence: new (field: string) => DocumentSequence;
};

/** Limits of one insert: in bytes, unless a single document is larger, and in documents. */
export const MOST = { bytes: 4 * 1024 * 1024, documents: 2000 } as const;
/** Documents in one answer: each answer is in memory as a whole, and 100 are hardly slower to read than 16 MiB. */
const READ = 100;

/** The types of `_id`s in MongoDB's order, each with its codes in BSON. A comparison finds values of one type only. */
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
/** Where the type of a document's first field is. */
const TYPE_AT = 4;

/** The fields of a document with the exact BSON type of each. */
export function decoded(bytes: Uint8Array): Document {
  return BSON.deserialize(bytes, { promoteValues: false, promoteBuffers: false, promoteLongs: false });
}

/**
 * The bytes of a collection's documents in the order of `_id`, by its index.
 * @param after the document with the `_id` behind which to begin, as {@link lastDocument} gives it; null: at the start
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

/** A document that has only the greatest `_id` of the collection; null if the collection is empty. */
export async function lastDocument(collection: Collection): Promise<Uint8Array | null> {
  const options = { raw: true, projection: { _id: 1 }, sort: { _id: -1 }, limit: 1 } as const;
  return (await collection.find<Uint8Array>({}, options).next()) ?? null;
}

/** Groups documents to what one insert takes: see {@link MOST}. */
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
 * Inserts documents as they are, in their order, and waits for the majority.
 * @throws {MongoServerError} when one is refused: those before it are stored, those behind it are not
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
