import SchemaBuilder from '@pothos/core';
import RelayPlugin from '@pothos/plugin-relay';
import ZodPlugin from '@pothos/plugin-zod';
import { ServiceError } from '../domain/errors.ts';
import { problemsOf } from '../domain/invoice/create-invoice-input.ts';
import type { GraphQLContext } from './context.ts';

/** The schema's builder. Fields are not null unless they say so. */
export const builder = new SchemaBuilder<{
  Context: GraphQLContext;
  DefaultFieldNullability: false;
  Scalars: {
    DateTime: { Input: Date; Output: Date };
    Centimes: { Input: number; Output: number };
    Metadata: { Input: Record<string, string>; Output: Readonly<Record<string, string>> };
  };
}>({
  plugins: [ZodPlugin, RelayPlugin],
  defaultFieldNullability: false,
  relay: { nodeQueryOptions: false, nodesQueryOptions: false, cursorType: 'String' },
  zod: { validationError: (error) => new ServiceError(problemsOf(error)) },
});

builder.queryType({ description: 'What can be read.' });
builder.mutationType({ description: 'What can be changed.' });
builder.subscriptionType({ description: 'What can be followed live, over Server-Sent Events.' });
