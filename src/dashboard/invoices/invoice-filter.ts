import { KIND_NAMES, type Kind } from '../../domain/invoice/kinds.ts';
import { INVOICE_STATUSES } from '../../domain/invoice/lifecycle.ts';
import { LONGEST_SEARCH } from '../../domain/invoice/search/bounds.ts';
import { SORTS } from '../../domain/invoice/sorts.ts';
import { pageSizeOf, sizeInAddress } from '../tables/page-sizes.ts';
import { startOfDay } from '../text/days.ts';
import type { DocumentsVariables } from './documents.ts';

/** The filter of a page of the list. It is kept in the page's address. */
export interface Filter {
  /** Null for invoices and credit notes. It combines with everything else. */
  readonly kind: Kind | null;
  readonly status: (typeof INVOICE_STATUSES)[number] | null;
  /** The first and the last day of creation, in Morocco: `YYYY-MM-DD`. */
  readonly from: string | null;
  readonly until: string | null;
  /** The search by any part of a document. It combines with everything else. */
  readonly search: string | null;
  /** The cursor: the page begins after the document `after`, or ends before the document `before`. */
  readonly after: string | null;
  readonly before: string | null;
  /** The size of a page; null for the default. */
  readonly size: string | null;
  /** The order; null for the newest first. */
  readonly sort: Exclude<Sort, 'newest'> | null;
}

type Sort = keyof typeof SORTS;
const ORDERS = Object.keys(SORTS) as Sort[];

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Reads the filter from the query of an address. Invalid values are ignored. */
export function filterOf(query: Readonly<Record<string, string>>): Filter {
  const day = (text: string | undefined) => (text && DAY.test(text) && startOfDay(text) ? text : null);
  const after = query.after ?? null;
  const status = INVOICE_STATUSES.find((each) => each === query.status) ?? null;
  const filter = {
    kind: KIND_NAMES.find((each) => each === query.kind) ?? null,
    status,
    search: query.search?.slice(0, LONGEST_SEARCH) || null,
    from: day(query.from),
    until: day(query.until),
    after,
    before: after === null ? (query.before ?? null) : null,
    size: sizeInAddress(pageSizeOf(query)),
    sort: null,
  };
  const sort = ORDERS.find((each) => each === query.sort) ?? 'newest';
  return sort !== 'newest' && isSortable(filter, sort) ? { ...filter, sort } : filter;
}

/**
 * Whether the list can be sorted in this order: no index combines values with a filter, or serves a search from the
 * oldest.
 */
export function isSortable(filter: Filter, sort: Sort): boolean {
  if (sort === 'newest') return true;
  return sort === 'oldest' ? filter.search === null : !isFiltered({ ...filter, kind: null });
}

/** Whether the filter restricts the list by more than its page. */
export function isFiltered({ after: _after, before: _before, size: _size, sort: _sort, ...rest }: Filter): boolean {
  return Object.values(rest).some((value) => value !== null);
}

/** Formats a filter as `?status=rejected&after=inv_…`, or an empty text. */
export function searchOf(filter: Filter): string {
  const set = Object.entries(filter).filter((entry): entry is [string, string] => entry[1] !== null);
  return set.length === 0 ? '' : `?${new URLSearchParams(set)}`;
}

export function variablesOf({ after, before, size, sort, ...filter }: Filter): DocumentsVariables {
  const rows = pageSizeOf({ size: size ?? '' });
  const page = before === null ? { first: rows, after } : { last: rows, before };
  return { ...conditionsOf(filter), ...(sort && { sort }), ...page };
}

/** Makes the query variables that select the invoices, the same for all pages. */
export function conditionsOf({
  kind,
  status,
  from,
  until,
  search,
}: Omit<Filter, 'after' | 'before' | 'size' | 'sort'>) {
  const [start, end] = [from && startOfDay(from), until && startOfDay(until, 1)];
  return {
    ...(kind && { kind }),
    ...(status && { status }),
    ...(search && { search }),
    // The service excludes the bounds.
    ...(start && { createdAfter: new Date(start.getTime() - 1).toISOString() }),
    ...(end && { createdBefore: end.toISOString() }),
  };
}
