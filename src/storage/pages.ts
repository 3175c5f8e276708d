import { BSON, type Collection, type Document, type Filter, type FindCursor } from 'mongodb';
import { answerTooLarge, READ_BYTES, TOO_MANY_BYTES } from '../domain/answer-bounds.ts';
import { orderAt } from '../domain/order-key.ts';
import type { Page, PageQuery } from '../domain/page.ts';
import { DECODED_BYTES_A_UNIT, takeTurn } from '../domain/turns.ts';

/** The condition on the order key that a page's cursor and times come to; null when there is none. */
export function orderRange({ cursor, from, until }: Pick<PageQuery, 'cursor' | 'from' | 'until'>): Document | null {
  const order: { $gt?: string; $gte?: string; $lt?: string } = {};
  if (from !== null) order.$gte = orderAt(from);
  if (until !== null) order.$lt = orderAt(until);
  if (cursor?.direction === 'before') order.$gt = cursor.order;
  // Of two upper bounds the lower one holds.
  if (cursor?.direction === 'after' && !(order.$lt !== undefined && order.$lt < cursor.order)) order.$lt = cursor.order;
  return Object.keys(order).length > 0 ? order : null;
}

/** One page by the order key, newest first in either direction; decoded in turns, and cut at `query.maxBytes` if given. */
export async function readPage<Stored extends Document, Row>(
  collection: Collection<Stored>,
  filter: Filter<Stored>,
  query: PageQuery,
  rowOf: (stored: Stored) => Row,
  projection: Document = {},
): Promise<Page<Row>> {
  const newestFirst = query.cursor?.direction !== 'before';
  const order = orderRange(query);
  const cursor = collection
    .find({ ...filter, ...(order && { order }) } as Filter<Stored>, { raw: true })
    .project<Stored>(projection)
    .sort({ order: newestFirst ? -1 : 1 });
  const { found, hasMore, bytes } = await readUpTo(cursor, query.limit, query.maxBytes);
  const rows = found.map(rowOf);
  const hasOthers = () => anyBehind(collection, filter, query);
  return { rows: newestFirst ? rows : rows.reverse(), hasMore, hasOthers, bytes };
}

/** Whether there are rows on the other side of a page's cursor, the cursor's own among them. */
export async function anyBehind<Stored extends Document>(
  collection: Collection<Stored>,
  filter: Filter<Stored>,
  { cursor, from, until }: Pick<PageQuery, 'cursor' | 'from' | 'until'>,
): Promise<boolean> {
  if (!cursor) return false;
  const order: { $gte?: string; $lte?: string; $lt?: string } = {};
  if (from !== null) order.$gte = orderAt(from);
  if (until !== null) order.$lt = orderAt(until);
  if (cursor.direction === 'before') order.$lte = cursor.order;
  // Of two lower bounds the higher one holds.
  else if (order.$gte === undefined || order.$gte < cursor.order) order.$gte = cursor.order;
  const search = collection
    .find({ ...filter, order } as Filter<Stored>)
    .project({ _id: 1 })
    .sort({ order: cursor.direction === 'before' ? -1 : 1 })
    .limit(1);
  return (await search.next()) !== null;
}

/** The first `limit` documents of a search, cut at `maxBytes` or, unless given, as the store cuts it. @param cursor with `raw` */
export function readUpTo<Stored extends Document>(cursor: FindCursor<Stored>, limit: number, maxBytes?: number) {
  return maxBytes === undefined ? readAtOnce(cursor, limit) : readWithin(cursor, limit, maxBytes);
}

/**
 * All documents of a search, which are `most` at most.
 * @param cursor with `raw`
 * @param atOnce how many the store is asked for at a time
 * @throws {ServiceError} invalid_request when they have more than `maxBytes` together
 */
export async function readAll<Stored extends Document>(
  cursor: FindCursor<Stored>,
  most: number,
  maxBytes = READ_BYTES,
  atOnce = FETCHED_AT_ONCE,
): Promise<{ found: Stored[]; bytes: number }> {
  const { hasMore, ...read } = await readWithin(cursor, most, maxBytes, atOnce);
  if (hasMore) throw answerTooLarge(TOO_MANY_BYTES);
  return read;
}

/**
 * The first `limit` documents of a search (100 at most), or as many of them as the store answers at once, which are 16 MiB together: so that
 * no page takes more memory, however large its rows are. Whoever goes on after the last one misses nothing.
 */
async function readBounded<Stored>(
  cursor: FindCursor<Stored>,
  limit: number,
): Promise<{ found: Stored[]; hasMore: boolean }> {
  try {
    cursor.limit(limit + 1);
    const read = (await cursor.hasNext()) ? cursor.readBufferedDocuments() : [];
    const isCut = cursor.id !== undefined && !cursor.id.isZero();
    return { found: read.slice(0, limit), hasMore: isCut || read.length > limit };
  } finally {
    await cursor.close();
  }
}

/** The same of documents that may be large: decoded in turns. @param cursor with `raw`: of the documents' bytes */
async function readAtOnce<Stored extends Document>(
  cursor: FindCursor<Stored>,
  limit: number,
): Promise<{ found: Stored[]; hasMore: boolean; bytes: number }> {
  const { found: raw, hasMore } = await readBounded(cursor as unknown as FindCursor<Uint8Array>, limit);
  const found: Stored[] = [];
  for (const bytes of raw) found.push(await decoded<Stored>(bytes));
  return { found, hasMore, bytes: raw.reduce((sum, { length }) => sum + length, 0) };
}

/** Documents that are asked for at a time: 12 invoices of the largest have 16 MiB, which is what the store answers at most. */
const FETCHED_AT_ONCE = 12;

/**
 * The first documents of a search: `limit` of them, or as many as have `maxBytes` together, but one at least. No more than some MiB beyond
 * that are read, and they are decoded in turns.
 * @param cursor with `raw`: of the documents' bytes
 */
async function readWithin<Stored extends Document>(
  cursor: FindCursor<Stored>,
  limit: number,
  maxBytes: number,
  atOnce = FETCHED_AT_ONCE,
): Promise<{ found: Stored[]; hasMore: boolean; bytes: number }> {
  const found: Stored[] = [];
  let bytes = 0;
  try {
    cursor.limit(limit + 1).batchSize(Math.min(atOnce, limit + 1));
    while (await cursor.hasNext()) {
      for (const raw of cursor.readBufferedDocuments() as unknown as Uint8Array[]) {
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

/** A document of its bytes, in a turn that has room for it. */
async function decoded<Stored extends Document>(bytes: Uint8Array): Promise<Stored> {
  await takeTurn(bytes.length / DECODED_BYTES_A_UNIT);
  return BSON.deserialize(bytes) as Stored;
}
