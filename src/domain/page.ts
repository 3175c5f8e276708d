import type { Environment } from './tenant/tenant.ts';

/** A part of a list, newest first. */
export interface PageQuery {
  readonly tenantId: string;
  readonly environment: Environment;
  readonly limit: number;
  /** Towards older (`after`) or newer (`before`) rows than this order key. */
  readonly cursor: { readonly direction: 'after' | 'before'; readonly order: string } | null;
  /** UNIX milliseconds, inclusive and exclusive. */
  readonly from: number | null;
  readonly until: number | null;
  /** Cuts the page where the rows have so many bytes as they are stored, after the first one; what the store answers at once unless given. */
  readonly maxBytes?: number;
}

export interface Page<Row> {
  /** Newest first. */
  readonly rows: readonly Row[];
  /** Whether there are more in the direction of the query. */
  readonly hasMore: boolean;
  /** Whether there are others on the cursor's other side, its own row among them: not without a cursor. Looks them up. */
  readonly hasOthers: () => Promise<boolean>;
  /** Of the rows as they are stored. */
  readonly bytes: number;
}

/** What was found, by id, and its bytes as it is stored. */
export interface Found<Row> {
  readonly rows: ReadonlyMap<string, Row>;
  readonly bytes: number;
}
