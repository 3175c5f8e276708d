import { readdirSync, readFileSync } from 'node:fs';
import { buildSchema, parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import { GRAPHIQL } from '../../../src/transport/graphiql.ts';

const ROOT = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
const schema = buildSchema(read('schema.graphql'));
const GUIDES = [
  'README.md',
  ...readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path}`),
];
const operationsIn = (path: string) =>
  [...read(path).matchAll(/^```graphql\n(.*?)^```$/gms)].map(([, text = '']) => text);

it.each(GUIDES.filter((path) => operationsIn(path).length > 0))('the operations shown in %s are valid', (path) => {
  expect(operationsIn(path).flatMap((operation) => validate(schema, parse(operation)))).toEqual([]);
});

it('the guides show operations', () => {
  expect(GUIDES.filter((path) => operationsIn(path).length > 0)).toEqual(
    expect.arrayContaining(['docs/api/graphql.md', 'docs/webhooks.md']),
  );
});

it('every example has an idempotency key of its own, so that each one runs', async () => {
  const texts = GUIDES.map(read);
  texts.push(...(GRAPHIQL.defaultTabs ?? []).map(({ query }) => query ?? ''));
  const keys = texts.flatMap((text) =>
    [...text.matchAll(/(?:Idempotency-Key: |idempotencyKey: ")([\w-]+)/g)].map(([, key]) => key),
  );
  expect(keys.length).toBeGreaterThan(1);
  expect(new Set(keys).size).toBe(keys.length);
});
