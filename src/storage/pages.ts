import { BSON, type Collection, type Document, type Filter, type FindCursor } from 'mongodb';
import { answerTooLarge, READ_BYTES, TOO_MANY_BYTES } from '../domain/answer-bounds.ts';
import { DECODED_BYTES_A_UNIT, takeTurn } from '../domain/event-loop-turns.ts';
import { orderAt } from '../domain/order-key.ts';
import type { Page, PageQuery } from '../domain/page.ts';

/** Maximum time from the creation of an invoice to its key with which filters by time are exact, milliseconds. */
export const MOST_RAISED_MS = 60_000;

/**
 * Returns the highest existing order key, up to which a page of newer rows is read. Rows are added while the page is
 * read upwards. Rows up to this key are complete (`ordered-insert.ts`); above it, a row may be visible while an earlier
 * one is not yet. Null if there are no rows, and for pages that are read downwards, which begin with the highest key.
 */
async function newestOf<Stored extends Document>(
  collection: Collection<Stored>,
  filter: Filter<Stored>,
  query: Pick<PageQuery, 'cursor' | 'from' | 'until'>,
  hint?: string,
): Promise<string | null> {
  return query.cursor?.direction === 'before' ? highestOf(collection, filter, query, hint) : null;
}

/** Returns the highest existing order key within a page's cursor and time range; null if there are no rows. */
export async function highestOf<Stored extends Document>(
  collection: Collection<Stored>,
  filter: Filter<Stored>,
  query: Pick<PageQuery, 'cursor' | 'from' | 'until'>,
  hint?: string,
): Promise<string | null> {
  const order = orderRange(query);
  const highest = await collection
    .find({ ...filter, ...(order && { order }) } as Filter<Stored>, hinted({ hint }))
    .project<{ order: string }>({ _id: 0, order: 1 })
    .sort({ order: -1 })
    .limit(1)
    .next();
  return highest?.order ?? null;
}

/** Returns the condition on the order key for a page's cursor and time range; null if it has neither. */
export function orderRange({ cursor, from, until }: Pick<PageQuery, 'cursor' | 'from' | 'until'>): Document | null {
  const order: { $gt?: string; $gte?: string; $lt?: string } = {};
  if (from !== null) order.$gte = orderAt(from);
  if (until !== null) order.$lt = orderAt(until);
  if (cursor?.direction === 'before') order.$gt = cursor.order;
  // The lower of two upper bounds applies.
  if (cursor?.direction === 'after' && !(order.$lt !== undefined && order.$lt < cursor.order)) order.$lt = cursor.order;
  return Object.keys(order).length > 0 ? order : null;
}

/**
 * Reads a page, newest first in both directions. Decodes documents in turns (`takeTurn`), and cuts the page at
 * `query.maxBytes`.
 * @param options.hint name of the index, for queries where servers would choose one that reads more
 */
export async function readPage<Stored extends Document, Row>(
  collection: Collection<Stored>,
  filter: Filter<Stored>,
  query: Omit<PageQuery, 'tenantId' | 'environment'>,
  rowOf: (stored: Stored) => Row,
  { projection = {}, ...options }: { projection?: Document; hint?: string | undefined } = {},
): Promise<Page<Row>> {
  const newestFirst = query.cursor?.direction !== 'before';
  const newest = await newestOf(collection, filter, query, options.hint);
  const hasOthers = () => anyBehind(collection, filter, query, options.hint);
  if (newest === null && !newestFirst) return { rows: [], hasMore: false, hasOthers, bytes: 0 };
  const order = upTo(newest, orderRange(query));
  const cursor = collection
    .find({ ...filter, ...(order && { order }) } as Filter<Stored>, { raw: true, ...hinted(options) })
    .project<Stored>(projection)
    .sort({ order: newestFirst ? -1 : 1 });
  const { found, hasMore, bytes } = await readUpTo(cursor, query.limit, query.maxBytes);
  const rows = found.map(rowOf);
  return { rows: newestFirst ? rows : rows.reverse(), hasMore, hasOthers, bytes };
}

/** Returns the condition that limits the order key to at most `newest`, a result of {@link newestOf}. */
export function upTo(newest: string | null, order: Document | null): Document | null {
  if (newest === null) return order;
  const { $lt: _beyond, ...from } = order ?? {};
  return { ...from, $lte: newest };
}

const hinted = ({ hint }: { hint?: string | undefined }) => (hint === undefined ? {} : { hint });

/** Whether there are rows on the other side of a page's cursor, counting the row at the cursor. */
export async function anyBehind<Stored extends Document>(
  collection: Collection<Stored>,
  filter: Filter<Stored>,
  { cursor, from, until }: Pick<PageQuery, 'cursor' | 'from' | 'until'>,
  hint?: string,
): Promise<boolean> {
  if (!cursor) return false;
  const order: { $gte?: string; $lte?: string; $lt?: string } = {};
  if (from !== null) order.$gte = orderAt(from);
  if (until !== null) order.$lt = orderAt(until);
  if (cursor.direction === 'before') order.$lte = cursor.order;
  // The higher of two lower bounds applies.
  else if (order.$gte === undefined || order.$gte < cursor.order) order.$gte = cursor.order;
  const search = collection
    .find({ ...filter, order } as Filter<Stored>, hinted({ hint }))
    .project({ _id: 1 })
    .sort({ order: cursor.direction === 'before' ? -1 : 1 })
    .limit(1);
  return (await search.next()) !== null;
}

/**
 * Returns the first `limit` documents of a query, or fewer if they would exceed `maxBytes` together, but at least one.
 * Reads at most one batch beyond that. Decodes the documents in turns, because they may be large.
 * @param cursor with the option `raw`
 * @param atOnce batch size; by default the number of documents expected to have `maxBytes`
 */
export async function readUpTo<Stored extends Document>(
  cursor: FindCursor<Stored>,
  limit: number,
  maxBytes = READ_BYTES,
  atOnce?: number,
): Promise<{ found: Stored[]; hasMore: boolean; bytes: number }> {
  const found: Stored[] = [];
  let bytes = 0;
  try {
    for await (const batch of readBatches(cursor, limit, maxBytes, atOnce)) {
      for (const raw of batch) {
        if (found.length === limit || (found.length > 0 && bytes + raw.length > maxBytes))
          return { found, hasMore: true, bytes };
        bytes += raw.length;
        found.push(await decoded<Stored>(raw));
      }
    }
    return { found, hasMore: false, bytes };
  } finally {
    await cursor.close();
  }
}

/**
 * Yields the first `limit` documents of a query and one more, if it has so many, in the batches in which the server
 * returns them. The caller closes the cursor.
 * @param cursor with the option `raw`
 * @param atOnce batch size; by default the number of documents expected to have `maxBytes`
 */
export async function* readBatches<Stored extends Document>(
  cursor: FindCursor<Stored>,
  limit: number,
  maxBytes: number,
  atOnce = expectedWithin(maxBytes, cursor),
): AsyncGenerator<readonly Uint8Array[]> {
  cursor.limit(limit + 1).batchSize(Math.min(atOnce, limit + 1));
  while (await cursor.hasNext()) {
    const batch = cursor.readBufferedDocuments() as unknown as Uint8Array[];
    noteSizes(batch, cursor);
    yield batch;
  }
}

/**
 * Average size of the documents in the largest recent batches, bytes, by collection. A server fills a batch up to 16
 * MiB, four times what a page may have, so collections with large documents are read in smaller batches. Smaller
 * batches for all would cost a fifth: 310 lists of 20 small invoices a second with one batch, 250 with two.
 */
const usualBytes = new Map<string, number>();
/** Factor by which an earlier average shrinks when a batch has smaller documents. */
const REMAINING = 0.9;

/** Returns the number of documents that are expected to have `maxBytes` together. */
function expectedWithin(maxBytes: number, { namespace }: FindCursor): number {
  return Math.ceil(maxBytes / (usualBytes.get(namespace.toString()) ?? 1));
}

function noteSizes(batch: readonly Uint8Array[], { namespace }: FindCursor): void {
  if (batch.length === 0) return;
  const average = batch.reduce((sum, { length }) => sum + length, 0) / batch.length;
  const name = namespace.toString();
  usualBytes.set(name, Math.max(average, REMAINING * (usualBytes.get(name) ?? 0)));
}

/**
 * Returns all documents of a query that finds at most `most`.
 * @param cursor with the option `raw`
 * @param atOnce batch size
 * @throws {ServiceError} invalid_request when the documents together exceed `maxBytes`
 */
export async function readAll<Stored extends Document>(
  cursor: FindCursor<Stored>,
  most: number,
  maxBytes?: number,
  atOnce?: number,
): Promise<{ found: Stored[]; bytes: number }> {
  const { hasMore, ...read } = await readUpTo(cursor, most, maxBytes, atOnce);
  if (hasMore) throw answerTooLarge(TOO_MANY_BYTES);
  return read;
}

/** Decodes a document after waiting for a turn of the event loop (`takeTurn`). */
export async function decoded<Stored extends Document>(bytes: Uint8Array): Promise<Stored> {
  await takeTurn(bytes.length / DECODED_BYTES_A_UNIT);
  return BSON.deserialize(bytes) as Stored;
}
