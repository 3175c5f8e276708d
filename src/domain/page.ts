import type { Environment } from './tenant/tenant.ts';

/** A query for a page of a list, newest first. */
export interface PageQuery {
  readonly tenantId: string;
  readonly environment: Environment;
  readonly limit: number;
  /** Older (`after`) or newer (`before`) rows than this order key. */
  readonly cursor: { readonly direction: 'after' | 'before'; readonly order: string } | null;
  /** UNIX milliseconds; `from` is inclusive, `until` exclusive. */
  readonly from: number | null;
  readonly until: number | null;
  /** Maximum stored size in bytes; default: what the store returns at once. The first row is always included. */
  readonly maxBytes?: number;
}

export interface Page<Row> {
  /** Newest first. */
  readonly rows: readonly Row[];
  /** Whether there are more in the direction of the query. */
  readonly hasMore: boolean;
  /** Queries whether there are rows on the other side of the cursor, its own row included; false without a cursor. */
  readonly hasOthers: () => Promise<boolean>;
  /** Size of the stored rows in bytes. */
  readonly bytes: number;
}

/** The found rows by id, and their stored size in bytes. */
export interface Found<Row> {
  readonly rows: ReadonlyMap<string, Row>;
  readonly bytes: number;
}
