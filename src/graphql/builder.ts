import SchemaBuilder from '@pothos/core';
import DataloaderPlugin from '@pothos/plugin-dataloader';
import ErrorsPlugin from '@pothos/plugin-errors';
import RelayPlugin from '@pothos/plugin-relay';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import ZodPlugin from '@pothos/plugin-zod';
import { READ_BYTES } from '../domain/answer-bounds.ts';
import { ServiceError } from '../domain/errors.ts';
import { takeTurn } from '../domain/event-loop-turns.ts';
import { problemsOf } from '../domain/input-problems.ts';
import { PAGE_SIZE } from '../domain/limits.ts';
import type { Role } from '../domain/person/person.ts';
import { type Principal, requirePerson, requireScope } from '../domain/principal.ts';
import type { Scope } from '../domain/scopes.ts';
import type { GraphQLContext } from './context.ts';

/** The schema builder. Fields are non-null by default. */
export const builder = new SchemaBuilder<{
  Context: GraphQLContext;
  AuthScopes: { scope: Scope; person: Role };
  DefaultFieldNullability: false;
  Scalars: {
    DateTime: { Input: Date; Output: Date };
    Centimes: { Input: number; Output: number };
    CentimesSum: { Input: bigint; Output: bigint };
    SafeInt: { Input: number; Output: number };
    Decimal: { Input: number; Output: number };
    DraftContent: { Input: unknown; Output: object };
    Metadata: { Input: Record<string, string>; Output: Readonly<Record<string, string>> };
  };
}>({
  // The first plugin wraps the others, so scopes are checked before input rules, and both may refuse with a typed
  // error.
  plugins: [ErrorsPlugin, ScopeAuthPlugin, ZodPlugin, RelayPlugin, DataloaderPlugin],
  defaultFieldNullability: false,
  errors: {
    directResult: true,
    defaultUnionOptions: {
      name: ({ fieldName }) => `${fieldName.charAt(0).toUpperCase()}${fieldName.slice(1)}Result`,
      description: 'The payload of the mutation, or the typed error that refused it.',
    },
    defaultResultOptions: { description: 'The payload of the mutation.' },
  },
  relay: {
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    cursorType: 'String',
    defaultConnectionTypeOptions: {
      description:
        `A page of a list, newest first. The rows of one request are limited to ${READ_BYTES / 1024 / 1024} MiB together, the size of 4 of the largest ` +
        'invoices. A page may therefore hold fewer rows than were requested although more exist: only `pageInfo` tells.',
    },
    defaultEdgeTypeOptions: { description: 'A row of a page.' },
    edgesFieldOptions: { description: 'The rows of the page.' },
    nodeFieldOptions: { description: 'The object of the row.' },
    nodesOnConnection: { description: 'The objects of the rows, for clients that need no cursors.' },
    cursorFieldOptions: { description: 'The position of the row in the list: the id of its object.' },
    pageInfoTypeOptions: { description: 'The position of a page in its list.' },
    pageInfoFieldOptions: { description: 'The position of the page in the list.' },
    hasNextPageFieldOptions: { description: 'Whether there are older rows.' },
    hasPreviousPageFieldOptions: { description: 'Whether there are newer rows.' },
    startCursorFieldOptions: { description: 'Value of `before` for the next page of newer rows.' },
    endCursorFieldOptions: { description: 'Value of `after` for the next page of older rows.' },
    firstArgOptions: {
      description: `Number of rows that follow \`after\`, towards older ones: 1 to ${PAGE_SIZE.most}. Default: ${PAGE_SIZE.default}.`,
    },
    lastArgOptions: {
      description: `Number of rows that precede \`before\`, towards newer ones: 1 to ${PAGE_SIZE.most}. Only with \`before\`.`,
    },
    afterArgOptions: { description: 'A cursor: the page holds only rows older than it.' },
    beforeArgOptions: { description: 'A cursor: the page holds only rows newer than it. Not with `first` or `after`.' },
  },
  // The path of an error starts with the argument's name, which `param` does not contain.
  zod: { validationError: (error) => new ServiceError(problemsOf(error, 1)) },
  scopeAuth: {
    authScopes: ({ principal }) => scopesOf(principal),
    // Checked once, before the source is opened, not for each of its events.
    authorizeOnSubscribe: true,
  },
});

/** Maximum number of keys of one query, and the work of resolving the object of a key, in units of `takeTurn`. */
const [LARGEST_BATCH, UNITS_A_KEY] = [250, 10];

/**
 * Options of every data loader. The keys requested in one tick share queries, whose objects are resolved in turns of
 * the event loop. Nothing is cached, because a context lives as long as its subscription and an object may change
 * between two reads.
 */
export function inBatches<Key, Value>(find: (keys: Key[], context: GraphQLContext) => Promise<Value[]>) {
  const load = async (keys: Key[], context: GraphQLContext): Promise<Value[]> => {
    const values = await find(keys, context);
    await takeTurn(keys.length * UNITS_A_KEY);
    return values;
  };
  return { loaderOptions: { cache: false, maxBatchSize: LARGEST_BATCH }, load };
}

/**
 * Returns the rules of the fields' `authScopes` for a caller. Each throws {ServiceError} insufficient_scope,
 * tenant_suspended.
 */
export function scopesOf(principal: Principal) {
  return {
    scope: (scope: Scope) => requireScope(principal, scope) !== null,
    person: (role: Role) => requirePerson(principal, role, 'read') !== null,
  };
}

builder.queryType({
  description:
    'Read operations. Where a secret key is needed, the session of a signed-in person counts as one, as far as the role allows.',
});
builder.mutationType({ description: 'Write operations.' });
builder.subscriptionType({ description: 'Live updates, over Server-Sent Events.' });
