import SchemaBuilder from '@pothos/core';
import DataloaderPlugin from '@pothos/plugin-dataloader';
import ErrorsPlugin from '@pothos/plugin-errors';
import RelayPlugin from '@pothos/plugin-relay';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import ZodPlugin from '@pothos/plugin-zod';
import { READ_BYTES } from '../domain/answer-bounds.ts';
import { ServiceError } from '../domain/errors.ts';
import { problemsOf } from '../domain/input-problems.ts';
import { requireIssuer } from '../domain/invoice/create-invoice.ts';
import { PAGE_SIZE } from '../domain/limits.ts';
import { requireSecretKey } from '../domain/principal.ts';
import type { GraphQLContext } from './context.ts';

/** The schema's builder. Fields are not null unless they say so. */
export const builder = new SchemaBuilder<{
  Context: GraphQLContext;
  AuthScopes: { secretKey: boolean; issuer: boolean };
  DefaultFieldNullability: false;
  Scalars: {
    DateTime: { Input: Date; Output: Date };
    Centimes: { Input: number; Output: number };
    SafeInt: { Input: number; Output: number };
    Metadata: { Input: Record<string, string>; Output: Readonly<Record<string, string>> };
  };
}>({
  // The first wraps the others: scope is checked before the input's rules, and what either refuses may be a typed error.
  plugins: [ErrorsPlugin, ScopeAuthPlugin, ZodPlugin, RelayPlugin, DataloaderPlugin],
  defaultFieldNullability: false,
  errors: {
    directResult: true,
    defaultUnionOptions: {
      name: ({ fieldName }) => `${fieldName.charAt(0).toUpperCase()}${fieldName.slice(1)}Result`,
      description: 'What the mutation has done, or why it was refused.',
    },
    defaultResultOptions: { description: 'What the mutation has done.' },
  },
  relay: {
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    cursorType: 'String',
    defaultConnectionTypeOptions: {
      description:
        `A page of a list, newest first. It ends where the rows of the request would be more than ${READ_BYTES / 1024 / 1024} MiB together, as 4 of the largest ` +
        'invoices are: it may hold fewer than were asked for though there are more, which `pageInfo` alone tells.',
    },
    defaultEdgeTypeOptions: { description: 'A row of a page.' },
    edgesFieldOptions: { description: 'The rows of the page.' },
    nodeFieldOptions: { description: 'What the row holds.' },
    nodesOnConnection: { description: 'What the rows hold, for those who need no cursors.' },
    cursorFieldOptions: { description: 'Its place in the list: the id of what it holds.' },
    pageInfoTypeOptions: { description: 'Where a page stands in its list.' },
    pageInfoFieldOptions: { description: 'Where the page stands in the list.' },
    hasNextPageFieldOptions: { description: 'Whether there are older rows.' },
    hasPreviousPageFieldOptions: { description: 'Whether there are newer rows.' },
    startCursorFieldOptions: { description: 'The `before` of the next page towards newer rows.' },
    endCursorFieldOptions: { description: 'The `after` of the next page towards older rows.' },
    firstArgOptions: {
      description: `How many rows from \`after\` on, towards older ones: 1 to ${PAGE_SIZE.most}. Default: ${PAGE_SIZE.default}.`,
    },
    lastArgOptions: {
      description: `How many rows up to \`before\`, towards newer ones: 1 to ${PAGE_SIZE.most}. Only with \`before\`.`,
    },
    afterArgOptions: { description: 'A cursor: only older rows.' },
    beforeArgOptions: { description: 'A cursor: only newer rows. Not with `first` or `after`.' },
  },
  // Paths start with the argument's name, which clients know nothing of.
  zod: { validationError: (error) => new ServiceError(problemsOf(error, 1)) },
  scopeAuth: {
    authScopes: ({ principal }) => ({
      secretKey: () => requireSecretKey(principal) !== null,
      issuer: () => requireIssuer(principal) !== null,
    }),
  },
});

/**
 * Options of every loader: what is asked for in the same tick comes in one query. Nothing is kept for later, since a context lives as
 * long as its subscription, and what is read a second time may have changed.
 */
export const UNCACHED = { cache: false } as const;

builder.queryType({ description: 'What can be read.' });
builder.mutationType({ description: 'What can be changed.' });
builder.subscriptionType({ description: 'What can be followed live, over Server-Sent Events.' });
