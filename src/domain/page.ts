import { serviceError } from './errors.ts';
import { PAGE_SIZE } from './limits.ts';
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
  /** Maximum stored size in bytes; default 4 MiB. The first row is always included. */
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

/** The part of a list that a client asks for. */
export interface PageSpan {
  /** 1 to 100. */
  readonly limit: number;
  /** Towards older rows (`after`) or newer ones (`before`) than the row with this id. */
  readonly cursor: { readonly direction: 'after' | 'before'; readonly id: string } | null;
}

/**
 * Returns where a page begins, and its length.
 * @param find the row with this id if it is the caller's
 * @param expected what a cursor must be, for the error
 * @throws {ServiceError} invalid_request for a limit out of range or a cursor that is no row of the list
 */
export async function placeInList(
  { limit, cursor }: PageSpan,
  find: (id: string) => Promise<{ readonly order: string } | null>,
  expected = 'a cursor that this list returned',
): Promise<Pick<PageQuery, 'limit' | 'cursor'>> {
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_SIZE.most) {
    const param = cursor?.direction === 'before' ? 'last' : 'first';
    throw serviceError('invalid_request', `${param} must be an integer from 1 to ${PAGE_SIZE.most}.`, param);
  }
  if (cursor === null) return { limit, cursor };
  const { direction, id } = cursor;
  const row = await find(id);
  if (row) return { limit, cursor: { direction, order: row.order } };
  throw serviceError('invalid_request', `${direction} must be ${expected}.`, direction);
}

/** The found rows by id, and their stored size in bytes. */
export interface Found<Row> {
  readonly rows: ReadonlyMap<string, Row>;
  readonly bytes: number;
}
