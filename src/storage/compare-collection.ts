import { createHash } from 'node:crypto';
import { BSON, type Collection, type Db } from 'mongodb';
import type { ReportBatch } from './move-collection.ts';
import { decoded, documentsAfter } from './raw-documents.ts';

/** The content that a collection has in both databases. */
export interface Compared {
  readonly documents: number;
  readonly bytes: number;
  /** SHA-256 of the documents' bytes in the order of `_id`, in hexadecimal. */
  readonly digest: string;
}

/** Thrown when a document differs between the databases, or one of them lacks it. */
export class CollectionsDiffer extends Error {}

/** Time by which the clocks of the databases and of this process may differ, milliseconds. */
const CLOCKS_MS = 300_000;
/** Number of documents between two progress reports. */
const REPORTED = 2000;

/**
 * Reads a collection of both databases in the order of `_id` and compares it byte for byte. A document that a TTL index
 * of the source may already delete may be missing from either database; that is no difference.
 * @throws {CollectionsDiffer} at the first difference; the message names the document
 */
export async function compareCollection(
  source: Db,
  target: Db,
  name: string,
  report: ReportBatch,
  signal: AbortSignal,
): Promise<Compared> {
  const [left, right] = [source.collection(name), target.collection(name)];
  const expired = await expiryOf(left);
  const [ours, theirs] = [documentsAfter(left, null), documentsAfter(right, null)];
  const hashes = [createHash('sha256'), createHash('sha256')] as const;
  let documents = 0;
  let bytes = 0;
  let unreported = { documents: 0, bytes: 0 };
  let [one, other] = [await next(ours), await next(theirs)];
  while (one !== null || other !== null) {
    if (one !== null && other !== null && Buffer.compare(one, other) === 0) {
      hashes[0].update(one);
      hashes[1].update(other);
      documents++;
      bytes += one.length;
      unreported = { documents: unreported.documents + 1, bytes: unreported.bytes + one.length };
      if (unreported.documents === REPORTED) {
        signal.throwIfAborted();
        report(unreported);
        unreported = { documents: 0, bytes: 0 };
      }
      [one, other] = [await next(ours), await next(theirs)];
    } else if (one !== null && !(await has(right, one))) {
      if (!expired(one)) throw new CollectionsDiffer(`the target lacks ${nameOf(name, one)}`);
      one = await next(ours);
    } else if (other !== null && !(await has(left, other))) {
      if (!expired(other)) throw new CollectionsDiffer(`the source has no ${nameOf(name, other)}`);
      other = await next(theirs);
    } else throw new CollectionsDiffer(`${nameOf(name, one ?? other)} differs`);
  }
  if (unreported.documents > 0) report(unreported);
  const [digest, targets] = [hashes[0].digest('hex'), hashes[1].digest('hex')];
  if (digest !== targets) throw new CollectionsDiffer(`the digests of ${name} differ`);
  return { documents, bytes, digest };
}

async function next(documents: AsyncGenerator<Uint8Array, void, void>): Promise<Uint8Array | null> {
  return (await documents.next()).value ?? null;
}

async function has(collection: Collection, document: Uint8Array): Promise<boolean> {
  const { _id } = decoded(document);
  return (await collection.findOne({ _id }, { projection: { _id: 1 } })) !== null;
}

function nameOf(collection: string, document: Uint8Array | null): string {
  const id: unknown = document && BSON.deserialize(document)._id;
  return `document ${BSON.EJSON.stringify(id)} of ${collection}`;
}

/** Returns a function that reports whether a TTL index of the collection may already delete a document. */
async function expiryOf(collection: Collection): Promise<(document: Uint8Array) => boolean> {
  const indexes = await collection.listIndexes().toArray();
  const limits = indexes
    .filter(({ expireAfterSeconds }) => expireAfterSeconds !== undefined)
    .map(({ key, expireAfterSeconds }) => [Object.keys(key)[0] ?? '', Number(expireAfterSeconds) * 1000] as const);
  return (bytes) => {
    const document = BSON.deserialize(bytes);
    return limits.some(([field, lifeMs]) => {
      const at: unknown = field.split('.').reduce<unknown>((value, part) => Object(value)[part], document);
      return at instanceof Date && at.getTime() + lifeMs <= Date.now() + CLOCKS_MS;
    });
  };
}
