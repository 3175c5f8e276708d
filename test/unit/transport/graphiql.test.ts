import { parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import { schema } from '../../../src/graphql/schema.ts';
import { GRAPHIQL } from '../../../src/transport/graphiql.ts';

it('GraphiQL begins with operations that fit the schema', () => {
  expect(GRAPHIQL.defaultTabs).toHaveLength(3);
  for (const { query } of GRAPHIQL.defaultTabs ?? []) expect(validate(schema, parse(query ?? ''))).toEqual([]);
});
