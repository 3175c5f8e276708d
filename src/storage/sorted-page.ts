import type { Collection, Document, Filter } from 'mongodb';
import { READ_BYTES } from '../domain/answer-bounds.ts';
import type { InvoicePage, SortedPageQuery } from '../domain/invoice/invoice-queries.ts';
import { KIND_NAMES, type Kind } from '../domain/invoice/kinds.ts';
import { type InvoiceDocument, invoiceOf } from './invoice-document.ts';
import { readUpTo } from './pages.ts';

/** The first rows of one kind. */
interface Rows {
  readonly found: readonly InvoiceDocument[];
  readonly hasMore: boolean;
  readonly bytes: number;
}

/**
 * Reads a page of invoices in the order of a value. The index of the filter by this value has that order, too, in both
 * directions, so no further index is needed. Reads at most a page of each kind, within the kind's share of `maxBytes`.
 */
export async function sortedPageOf(
  invoices: Collection<InvoiceDocument>,
  query: SortedPageQuery,
): Promise<InvoicePage> {
  const kinds = query.kind === null ? KIND_NAMES : [query.kind];
  const sources: Rows[] = [];
  for (const kind of kinds) sources.push(await rowsOf(invoices, query, kind, kinds.length));
  const merged = sources.flatMap(({ found }) => found).sort((a, b) => compared(query, a, b));
  // If a kind has further rows after its last one, rows of other kinds after that one may not be in order.
  const lasts = sources.flatMap(({ found, hasMore }) => (hasMore ? (found.at(-1) ?? []) : []));
  const ends = lasts.map((row) => merged.indexOf(row) + 1);
  const page = merged.slice(0, Math.min(query.limit, ...ends));
  return {
    invoices: page.map(invoiceOf),
    hasMore: lasts.length > 0 || page.length < merged.length,
    // At least the row of the cursor is on the other side.
    hasOthers: async () => query.after !== null,
    bytes: sources.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Reads the first rows of a kind, one range of the index at a time: not every server uses it for an `$or` of two. */
async function rowsOf(
  invoices: Collection<InvoiceDocument>,
  query: SortedPageQuery,
  kind: Kind,
  kinds: number,
): Promise<Rows> {
  const { tenantId, environment, field, isBackwards, limit, maxBytes = READ_BYTES } = query;
  const found: InvoiceDocument[] = [];
  let bytes = 0;
  for (const range of rangesOf(query)) {
    const cursor = invoices
      .find({ tenantId, environment, kind, ...range } as Filter<InvoiceDocument>, { raw: true })
      .sort(isBackwards ? { [field]: -1, order: 1 } : { [field]: 1, order: -1 });
    const left = Math.max(1, Math.floor(maxBytes / kinds) - bytes);
    const read = await readUpTo(cursor, limit - found.length, left);
    found.push(...read.found);
    bytes += read.bytes;
    if (read.hasMore) return { found, hasMore: true, bytes };
  }
  return { found, hasMore: false, bytes };
}

/** Returns the conditions of the ranges behind the cursor, in the order of reading. */
function rangesOf({ field, isBackwards, after }: SortedPageQuery): Document[] {
  if (after === null) return [{}];
  const { value, order } = after;
  return isBackwards
    ? [{ [field]: value, order: { $gt: order } }, { [field]: { $lt: value } }]
    : [{ [field]: value, order: { $lt: order } }, { [field]: { $gt: value } }];
}

/** Compares two rows in the order of reading. */
function compared({ field, isBackwards }: SortedPageQuery, a: InvoiceDocument, b: InvoiceDocument): number {
  const sign = isBackwards ? -1 : 1;
  if (a[field] !== b[field]) return a[field] < b[field] ? -sign : sign;
  return a.order > b.order ? -sign : sign;
}
