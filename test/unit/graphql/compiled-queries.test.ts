import { expect, it } from 'vitest';
import { createCompiledQueries } from '../../../src/graphql/compiled-queries.ts';
import { createGate } from '../../../src/graphql/gate.ts';

function compiledQueries() {
  const gate = createGate({ introspection: true });
  const queries = createCompiledQueries(gate);
  return (query: string, operationName: string | null = null) => {
    expect(gate.validate(gate.parse(query))).toEqual([]);
    return queries.find({ query, operationName, variables: {} });
  };
}

it('a query stays compiled, each operation of a document separately', () => {
  const find = compiledQueries();
  const document =
    'query A { tenant { id } } query B { tenant { name } } mutation C { deleteWebhookEndpoint(id: "x") { __typename } }';
  const [a, b] = [find(document, 'A'), find(document, 'B')];
  expect(a).not.toBeNull();
  expect([find(document, 'A') === a, find(document, 'B') === b, a === b]).toEqual([true, true, false]);
  expect([find(document, 'C'), find(document, 'D'), find(document)]).toEqual([null, null, null]);
});

it('the cache of compiled queries is bounded by their fields, including those of fragments, not by the text alone', () => {
  const find = compiledQueries();
  const times = (count: number, text: (index: number) => string) =>
    Array.from({ length: count }, (_, i) => text(i)).join(' ');
  const operations = times(200, (i) => `query O${i} { ...F }`);
  const fragments = `fragment F on Query { ${times(9, (i) => `i${i}: invoice(id: "x") { ...G }`)} } fragment G on Invoice { id status amount environment currency number createdAt updatedAt }`;
  const document = `${operations} ${fragments}`;
  const first = find(document, 'O0');
  expect(first).not.toBeNull();
  for (let index = 1; index < 150; index++) find(document, `O${index}`);
  const last = find(document, 'O149');
  expect([find(document, 'O149') === last, find(document, 'O0') === first]).toEqual([true, false]);
});
