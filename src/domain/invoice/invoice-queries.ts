import type { Environment } from '../tenant/tenant.ts';
import type { Customer, Invoice } from './invoice.ts';
import type { Kind } from './kinds.ts';
import type { InvoiceStatus } from './lifecycle.ts';
import type { SearchedWord } from './search/query.ts';

/** Number of invoices for each current status. */
export type StatusCounts = Readonly<Record<InvoiceStatus, number>>;

/** A customer as stated in the newest invoice to it. */
export type KnownCustomer = Customer;

/** A condition on the customer, by the key of the name or by the ICE, or on the amount in centimes. */
export type InvoiceMatch =
  | { readonly customerKey: string }
  | { readonly customerIce: string }
  | { readonly amount: number };

export interface CustomerQuery {
  readonly tenantId: string;
  readonly environment: Environment;
  /** Whether the ICE or the key of the name must begin with `prefix`. */
  readonly field: 'ice' | 'name';
  readonly prefix: string;
  readonly limit: number;
}

/** A tenant's invoices, without credit notes, that were created in a range of time, in UNIX milliseconds. */
export interface CreationRange {
  readonly tenantId: string;
  readonly environment: Environment;
  /** Inclusive. */
  readonly from: number;
  /** Exclusive. */
  readonly until: number;
}

export interface InvoicePageQuery {
  readonly tenantId: string;
  readonly environment: Environment;
  /** Null for the documents of all kinds as one list. */
  readonly kind: Kind | null;
  readonly status: InvoiceStatus | null;
  /** 1 to 100. */
  readonly limit: number;
  /** Restricts the page to older (`after`) or newer (`before`) invoices than the one with this order key. */
  readonly cursor: { direction: 'after' | 'before'; order: string } | null;
  /** Restricts the page to invoices with this value. Not combined with a status, because no index has both. */
  readonly match: InvoiceMatch | null;
  /** Restricts the page to invoices that match all of these words. Combined with everything but `match`. */
  readonly search?: readonly SearchedWord[] | null;
  /** UNIX milliseconds, inclusive. */
  readonly createdFrom: number | null;
  /** UNIX milliseconds, exclusive. */
  readonly createdUntil: number | null;
  /**
   * Maximum size of the page's stored invoices in bytes; default 4 MiB. The first invoice is always included.
   */
  readonly maxBytes?: number;
}

/** A value by which lists are sorted. */
export type SortValue =
  | { readonly field: 'amount'; readonly value: number }
  | { readonly field: 'customerKey'; readonly value: string };

/** A page in the order of a value, from the least up, and newest first among equal ones; or in the reverse order. */
export interface SortedPageQuery {
  readonly tenantId: string;
  readonly environment: Environment;
  /** Null for the documents of all kinds as one list. */
  readonly kind: Kind | null;
  readonly field: SortValue['field'];
  /** Whether it is read in the reverse order. */
  readonly isBackwards: boolean;
  /** The invoice, in the direction of reading, behind which the page begins; null for the first page. */
  readonly after: { readonly value: SortValue['value']; readonly order: string } | null;
  /** 1 to 100. */
  readonly limit: number;
  readonly maxBytes?: number;
}

/** A page in the order of the numbers, from the lowest up, or in the reverse order. */
export interface NumberedPageQuery extends Omit<SortedPageQuery, 'field' | 'after'> {
  /** The number behind which the page begins; null for the first page. */
  readonly after: string | null;
}

export interface InvoicePage {
  /** In the order of the list: newest first, unless it is sorted. */
  readonly invoices: readonly Invoice[];
  /** Whether there are more invoices in the direction of the query. For a search: whether there may be. */
  readonly hasMore: boolean;
  /**
   * The invoice at which a search has stopped before it had found a whole page, because it had read many. The next page
   * begins there.
   */
  readonly stoppedAt?: string;
  /**
   * Queries whether there are invoices on the other side of the cursor, including the cursor's own; false without a
   * cursor.
   */
  readonly hasOthers: () => Promise<boolean>;
  /** Size of the stored invoices in bytes. */
  readonly bytes: number;
}
