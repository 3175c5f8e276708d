import { readFileSync } from 'node:fs';
import { buildSchema, parse, validate } from 'graphql';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const schema = buildSchema(read('schema.graphql'));

it.each(['README.md', 'docs/webhooks.md'])('the operations shown in %s are valid', (path) => {
  const shown = [...read(path).matchAll(/^```graphql\n(.*?)^```$/gms)].map(([, operation = '']) => operation);
  expect(shown.flatMap((operation) => validate(schema, parse(operation)))).toEqual([]);
  expect(shown.length).toBeGreaterThan(0);
});
