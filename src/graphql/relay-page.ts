import { serviceError } from '../domain/errors.ts';
import { PAGE_SIZE } from '../domain/limits.ts';
import type { Page } from '../domain/page.ts';

/** The arguments of a connection, as the Relay plugin passes them. */
export interface ConnectionArguments {
  readonly first?: number | null | undefined;
  readonly last?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly before?: string | null | undefined;
}

/**
 * Converts a connection's arguments to a request for a page. Rows are newest first, so `after` means older. Cursors are
 * ids.
 * @throws {ServiceError} invalid_request for an unsupported combination of arguments
 */
export function pageRequest({ first, last, after, before }: ConnectionArguments) {
  const backwards = before != null;
  if (backwards && after != null) {
    throw serviceError('invalid_request', 'before cannot be combined with after.', 'before');
  }
  if (backwards ? first != null : last != null) {
    const wrong = backwards ? 'first' : 'last';
    throw serviceError('invalid_request', 'Use first, with or without after, or last with before.', wrong);
  }
  const direction = backwards ? ('before' as const) : ('after' as const);
  const id = before ?? after ?? null;
  return { limit: first ?? last ?? PAGE_SIZE.default, cursor: id === null ? null : { direction, id } };
}

/**
 * Converts a page to the value of a connection. Whether there are rows before the cursor is queried only if selected.
 * If reading stopped behind the last row, the next page begins at `stoppedAt`.
 */
export function connectionOf<Row extends { id: string }>(
  { rows, hasMore, hasOthers, stoppedAt }: Pick<Page<Row>, 'rows' | 'hasMore' | 'hasOthers'> & { stoppedAt?: string },
  { before }: ConnectionArguments,
) {
  // The type of these fields is boolean; a resolver may return a promise of it.
  const others = hasOthers as () => unknown as () => boolean;
  return {
    edges: rows.map((node) => ({ node, cursor: node.id })),
    pageInfo: {
      get hasNextPage() {
        return before != null ? others() : hasMore;
      },
      get hasPreviousPage() {
        return before != null ? hasMore : others();
      },
      startCursor: (before != null && stoppedAt) || (rows[0]?.id ?? null),
      endCursor: (before == null && stoppedAt) || (rows.at(-1)?.id ?? null),
    },
  };
}
