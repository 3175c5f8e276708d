import type { Collection, Document, Filter, FindCursor } from 'mongodb';
import type { InvoicePageQuery } from '../domain/invoice/invoice-queries.ts';
import type { Kind } from '../domain/invoice/kinds.ts';
import type { InvoiceStatus } from '../domain/invoice/lifecycle.ts';
import type { Place, SearchedRow } from '../domain/invoice/search/query.ts';
import type { InvoiceDocument } from './invoice-document.ts';

/** The part of a stored invoice that a search compares. */
export interface FoundRow extends SearchedRow {
  readonly order: string;
  readonly status: InvoiceStatus;
  /** UNIX milliseconds. */
  readonly createdAt: number;
}

type Owner = Pick<InvoicePageQuery, 'tenantId' | 'environment'>;
type Stored = Pick<InvoiceDocument, '_id' | 'order' | 'status' | 'createdAt' | 'amount'> & {
  searchTerms?: readonly string[];
  customer: { readonly ice?: string | null };
};

const PROJECTION = { order: 1, status: 1, createdAt: 1, amount: 1, searchTerms: 1, customer: 1 } as const;

/** A place where a search reads rows, each by its own index. */
export type SearchedPlace = Place | { readonly status: InvoiceStatus } | { readonly all: true };

/**
 * Returns the filter and the index of a place. Without the hints, servers could choose an index that does not limit the
 * place.
 */
function placeOf(place: SearchedPlace): { readonly filter: Document; readonly hint: string } {
  if ('id' in place) return { filter: { _id: place.id }, hint: '_id_' };
  if ('amount' in place) return { filter: { amount: place.amount }, hint: 'list_by_amount' };
  if ('status' in place) return { filter: { status: place.status }, hint: 'list_by_status' };
  if ('all' in place) return { filter: {}, hint: 'list' };
  // Terms consist of letters and digits, so they need no escapes.
  const searchTerms = 'term' in place ? place.term : new RegExp(`^${place.beginning}`);
  return { filter: { searchTerms }, hint: 'search' };
}

function filterOf({ tenantId, environment }: Owner, kind: Kind, place: SearchedPlace) {
  const { filter, hint } = placeOf(place);
  return { filter: { tenantId, environment, kind, ...filter } as Filter<InvoiceDocument>, hint };
}

function find(
  invoices: Collection<InvoiceDocument>,
  owner: Owner,
  kind: Kind,
  place: SearchedPlace,
  order: Document | null,
): FindCursor<Stored> {
  const { filter, hint } = filterOf(owner, kind, place);
  return invoices.find({ ...filter, ...(order && { order }) }, { hint }).project<Stored>(PROJECTION);
}

/** Counts the rows of a place up to `most`. Reads no documents if the index contains all compared fields. */
export async function countRows(
  invoices: Collection<InvoiceDocument>,
  owner: Owner,
  kind: Kind,
  place: SearchedPlace,
  most: number,
): Promise<number> {
  const { filter, hint } = filterOf(owner, kind, place);
  // Not countDocuments: on some servers its aggregation reads every document.
  return Number((await invoices.db.command({ count: invoices.collectionName, query: filter, hint, limit: most })).n);
}

/** Returns the rows of a place in any order, but at most `most`. */
export async function rowsOf(
  invoices: Collection<InvoiceDocument>,
  owner: Owner,
  kind: Kind,
  place: SearchedPlace,
  most: number,
): Promise<FoundRow[]> {
  const found = await find(invoices, owner, kind, place, null).limit(most).batchSize(most).toArray();
  return found.map(rowOf);
}

interface RowOrder {
  readonly order: Document | null;
  readonly newestFirst: boolean;
  /** Number of rows that are read together. */
  readonly batch: number;
}

/** Yields the rows of a place in the order of the list, in batches. */
export async function* rowsInOrder(
  invoices: Collection<InvoiceDocument>,
  owner: Owner,
  kind: Kind,
  place: Exclude<SearchedPlace, { beginning: string }>,
  { order, newestFirst, batch }: RowOrder,
): AsyncGenerator<FoundRow> {
  const cursor = find(invoices, owner, kind, place, order)
    .sort({ order: newestFirst ? -1 : 1 })
    .batchSize(batch);
  try {
    while (await cursor.hasNext()) {
      yield* cursor.readBufferedDocuments().map(rowOf);
    }
  } finally {
    await cursor.close();
  }
}

function rowOf({ _id, order, status, createdAt, amount, searchTerms = [], customer }: Stored): FoundRow {
  return {
    id: _id,
    order,
    status,
    createdAt: createdAt.getTime(),
    amount,
    terms: searchTerms,
    ice: customer.ice ?? null,
  };
}
