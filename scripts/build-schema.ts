// Writes `schema.graphql`, and for the web pages the same as types and the sets that they list. With --check it writes
// nothing and fails if a committed file differs from the generated one, if the schema violates the policy, or if it
// breaks clients of the published schema. --publish also makes the current schema the published one. Both fail if
// stored invoices could not be read.
import { readFileSync, writeFileSync } from 'node:fs';
import { minifyIntrospection, outputIntrospectionFile } from '@gql.tada/internal';
import { buildSchema, introspectionFromSchema } from 'graphql';
import { EVENT_TYPES, enumNameOf } from '../src/domain/event.ts';
import { INVOICE } from '../src/domain/invoice/fields.ts';
import { INVOICE_STATUSES } from '../src/domain/invoice/lifecycle.ts';
import { DELIVERY_STATES } from '../src/domain/webhook/delivery.ts';
import { printedSchema, schema } from '../src/graphql/schema.ts';
import { breakingChanges, policyViolations } from './check/schema-policy.ts';
import { unreadableFields } from './check/stored-fields.ts';

const FILE = new URL('../schema.graphql', import.meta.url);
const PUBLISHED = new URL('../schema.published.graphql', import.meta.url);
const TYPES = new URL('../src/dashboard/graphql/schema-types.d.ts', import.meta.url);
const SETS = new URL('../src/dashboard/graphql/sets.ts', import.meta.url);
const printed = printedSchema();
// Without the end, which would make it the schema of the whole program.
const [types = ''] = outputIntrospectionFile(minifyIntrospection(introspectionFromSchema(buildSchema(printed))), {
  fileType: '.d.ts',
  shouldPreprocess: true,
}).split("\nimport * as gqlTada from 'gql.tada'");
const sets = printedSets();
const [checks, publishes] = ['--check', '--publish'].map((option) => process.argv.includes(option));

const problems = checks || publishes ? unreadableFields(buildSchema(readFileSync(PUBLISHED, 'utf8')), INVOICE) : [];
if (checks) {
  problems.push(
    ...(readFileSync(FILE, 'utf8') === printed
      ? []
      : ['schema.graphql differs from the generated one: run `npm run build` and review the change']),
    ...(readFileSync(TYPES, 'utf8') === types
      ? []
      : ['src/dashboard/graphql/schema-types.d.ts differs from the generated one: run `npm run build`']),
    ...(readFileSync(SETS, 'utf8') === sets
      ? []
      : ['src/dashboard/graphql/sets.ts differs from the generated one: run `npm run build`']),
    ...policyViolations(schema),
    ...breakingChanges(readFileSync(PUBLISHED, 'utf8'), schema, new Date()).map(
      (change) =>
        `breaks clients of schema.published.graphql: ${change} Deprecate instead (docs/api/graphql.md, "Compatibility")`,
    ),
  );
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else if (!checks) {
  writeFileSync(FILE, printed);
  writeFileSync(TYPES, types);
  writeFileSync(SETS, sets);
  console.log('schema.graphql written');
  if (publishes) {
    writeFileSync(PUBLISHED, printed);
    console.log('schema.published.graphql written');
  }
}

/** The members of enums of the schema that the pages list, in the order of the domain. */
function printedSets(): string {
  const sets = {
    STATUSES: INVOICE_STATUSES,
    EVENT_TYPES: EVENT_TYPES.map(enumNameOf),
    DELIVERY_STATES,
  };
  const lists = Object.entries(sets).map(
    ([name, members]) => `export const ${name} = [\n${members.map((each) => `  '${each}',\n`).join('')}] as const;\n`,
  );
  return ['// Written by `npm run build`.\n', ...lists].join('\n');
}
