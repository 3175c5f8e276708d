import type { Collection, Document, Filter } from 'mongodb';
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
  const found = (await collection
    .find({ ...filter, ...(order && { order }) } as Filter<Stored>)
    .project(projection)
    .sort({ order: newestFirst ? -1 : 1 })
    .limit(query.limit + 1)
    .toArray()) as Stored[];
  const rows = found.slice(0, query.limit).map(rowOf);
  return { rows: newestFirst ? rows : rows.reverse(), hasMore: found.length > query.limit };
}
