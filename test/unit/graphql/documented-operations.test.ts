import { readFileSync } from 'node:fs';
import { buildSchema, parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import { GRAPHIQL } from '../../../src/transport/graphiql.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const schema = buildSchema(read('schema.graphql'));

it.each(['README.md', 'docs/webhooks.md'])('the operations shown in %s are valid', (path) => {
  const shown = [...read(path).matchAll(/^```graphql\n(.*?)^```$/gms)].map(([, operation = '']) => operation);
  expect(shown.flatMap((operation) => validate(schema, parse(operation)))).toEqual([]);
  expect(shown.length).toBeGreaterThan(0);
});

it('no two examples use the same idempotency key, so that each runs', async () => {
  const texts = ['README.md', 'docs/webhooks.md', 'docs/live-pages.md'].map(read);
  texts.push(...(GRAPHIQL.defaultTabs ?? []).map(({ query }) => query ?? ''));
  const keys = texts.flatMap((text) =>
    [...text.matchAll(/(?:Idempotency-Key: |idempotencyKey: ")([\w-]+)/g)].map(([, key]) => key),
  );
  expect(keys.length).toBeGreaterThan(1);
  expect(new Set(keys).size).toBe(keys.length);
});
