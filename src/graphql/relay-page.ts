import { serviceError } from '../domain/errors.ts';

/** The arguments of a connection, as the plugin hands them on. */
interface ConnectionArguments {
  readonly first?: number | null | undefined;
  readonly last?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly before?: string | null | undefined;
}

const DEFAULT_LIMIT = 20;

/**
 * The page that a connection's arguments ask for. Lists are newest first: `after` goes older, `before` newer; cursors are ids.
 * @throws {ServiceError} invalid_request for a combination that means nothing
 */
export function pageRequest({ first, last, after, before }: ConnectionArguments) {
  const backwards = before != null;
  if (backwards && after != null) {
    throw serviceError(
      'invalid_request',
      'Use one cursor: after (starting_after) or before (ending_before).',
      'ending_before',
    );
  }
  if (backwards ? first != null : last != null) {
    throw serviceError('invalid_request', 'Use first, with or without after, or last with before.', 'limit');
  }
  const direction = backwards ? ('before' as const) : ('after' as const);
  const id = before ?? after ?? null;
  return { limit: first ?? last ?? DEFAULT_LIMIT, cursor: id === null ? null : { direction, id } };
}

/** A page as a connection's value. */
export function connectionOf<Row extends { id: string }>(
  { rows, hasMore }: { readonly rows: readonly Row[]; readonly hasMore: boolean },
  { after, before }: ConnectionArguments,
) {
  return {
    edges: rows.map((node) => ({ node, cursor: node.id })),
    pageInfo: {
      hasNextPage: before != null || hasMore,
      hasPreviousPage: before != null ? hasMore : after != null,
      startCursor: rows[0]?.id ?? null,
      endCursor: rows.at(-1)?.id ?? null,
    },
  };
}
