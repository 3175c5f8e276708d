import { parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import { schema } from '../../../src/graphql/schema.ts';
import { GRAPHIQL } from '../../../src/transport/graphiql.ts';
import { packagesLoadedBy } from '../../support/loaded-packages.ts';

it('GraphiQL begins with operations that fit the schema', () => {
  expect(GRAPHIQL.defaultTabs).toHaveLength(3);
  for (const { query } of GRAPHIQL.defaultTabs ?? []) expect(validate(schema, parse(query ?? ''))).toEqual([]);
});

it("the assets are loaded with the first page, not at the service's start", async () => {
  const graphiql = import.meta.resolve('../../../src/transport/graphiql.ts');
  const loaded = await packagesLoadedBy(`(await import('${graphiql}')).showGraphiql();`);
  expect(loaded).not.toContain('@graphql-yoga/render-graphiql');
});
