import type { Collection, Document, Filter, FindCursor } from 'mongodb';
import { orderAt } from '../domain/order-key.ts';
import type { Page, PageQuery } from '../domain/webhook/delivery-ports.ts';

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

/** One page by the order key, newest first in either direction. */
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
    .find({ ...filter, ...(order && { order }) } as Filter<Stored>)
    .project<Stored>(projection)
    .sort({ order: newestFirst ? -1 : 1 });
  const { found, hasMore } = await readBounded(cursor, query.limit);
  const rows = found.map(rowOf);
  return { rows: newestFirst ? rows : rows.reverse(), hasMore };
}

/**
 * The first `limit` documents of a search (100 at most), or as many of them as the store answers at once, which are 16 MiB together: so that
 * no page takes more memory, however large its rows are. Whoever goes on after the last one misses nothing.
 */
export async function readBounded<Stored>(
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
