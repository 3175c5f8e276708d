import type { Collection, Document, Filter } from 'mongodb';
import type { InvoiceMatch, InvoicePage, InvoicePageQuery } from '../domain/invoice/invoice-queries.ts';
import { KIND_NAMES, type Kind } from '../domain/invoice/kinds.ts';
import { orderAt } from '../domain/order-key.ts';
import { type InvoiceDocument, invoiceOf } from './invoice-document.ts';
import { searchPage } from './invoice-search.ts';
import { readMerged } from './merged-page.ts';
import { anyBehind, highestOf, MOST_RAISED_MS, orderRange, readUpTo, upTo } from './pages.ts';

/**
 * Reads a page of a list of invoices. A list of all kinds is merged from one query for each kind, because every index
 * has the kind before the filter. So it costs the same on any server, and needs no further index.
 */
export async function pageOf(invoices: Collection<InvoiceDocument>, query: InvoicePageQuery): Promise<InvoicePage> {
  if (query.search) return searchPage(invoices, query, query.search);
  const newestFirst = query.cursor?.direction !== 'before';
  const { createdFrom: from, createdUntil } = query;
  const range = { cursor: query.cursor, from, until: createdUntil && createdUntil + MOST_RAISED_MS };
  const within = createdWithin(query);
  const filters = (query.kind === null ? KIND_NAMES : [query.kind]).map(
    (kind) => ({ ...ownFilter(query, kind), ...within }) as Filter<InvoiceDocument>,
  );
  const hasOthers = async () => {
    for (const own of filters) if (await anyBehind(invoices, own, range)) return true;
    return false;
  };
  // The kinds are read one after the other. A document that is stored meanwhile must not appear without an earlier one
  // of a kind that was already read, so a merged page without a cursor ends at a key, too.
  const endsAtKey = !newestFirst || (filters.length > 1 && query.cursor === null);
  const tops = endsAtKey ? await Promise.all(filters.map((own) => highestOf(invoices, own, range))) : [];
  const newest =
    tops
      .filter((each) => each !== null)
      .sort()
      .at(-1) ?? null;
  if (newest === null && endsAtKey) return { invoices: [], hasMore: false, hasOthers, bytes: 0 };
  const order = upTo(newest, orderRange(range));
  const cursors = filters.map((own) =>
    invoices
      .find({ ...own, ...(order && { order }) } as Filter<InvoiceDocument>, { raw: true })
      .sort({ order: newestFirst ? -1 : 1 }),
  );
  const [cursor] = cursors;
  const { found, hasMore, bytes } =
    cursor && cursors.length === 1
      ? await readUpTo(cursor, query.limit, query.maxBytes)
      : await readMerged(cursors, newestFirst, query.limit, query.maxBytes);
  const page = found.map(invoiceOf);
  return { invoices: newestFirst ? page : page.reverse(), hasMore, hasOthers, bytes };
}

/**
 * Returns the condition on the time of creation. It is combined with a range of keys, by which an index finds the
 * invoices. The key of an invoice is never before its creation; it is later if clocks of other processes are ahead. An
 * invoice whose key is more than a minute after its creation counts as created one minute before its key. So each
 * invoice is in exactly one of two consecutive periods.
 */
function createdWithin({ createdFrom, createdUntil }: InvoicePageQuery): Document {
  return {
    ...(createdUntil !== null && { createdAt: { $lt: new Date(createdUntil) } }),
    ...(createdFrom !== null && {
      $nor: [{ createdAt: { $lt: new Date(createdFrom) }, order: { $lt: orderAt(createdFrom + MOST_RAISED_MS) } }],
    }),
  };
}

function ownFilter({ tenantId, environment, status, match }: InvoicePageQuery, kind: Kind): Filter<InvoiceDocument> {
  return { tenantId, environment, kind, ...(status !== null && { status }), ...(match && matchFilter(match)) };
}

function matchFilter(match: InvoiceMatch): Filter<InvoiceDocument> {
  return 'customerIce' in match ? { 'customer.ice': match.customerIce } : match;
}
