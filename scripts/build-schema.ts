// Writes `schema.graphql`, and for the web pages the same as types. With --check it writes
// nothing and fails if a committed file differs from the generated one, if the schema violates the policy, or if it
// breaks clients of the published schema, which the first release makes. --publish also makes the current schema the
// published one. Both fail if invoices that were stored under the published one could not be read.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { minifyIntrospection, outputIntrospectionFile } from '@gql.tada/internal';
import { buildSchema, introspectionFromSchema } from 'graphql';
import { INVOICE } from '../src/domain/invoice/fields.ts';
import { printedSchema, schema } from '../src/graphql/schema.ts';
import { breakingChanges, policyViolations } from './check/schema-policy.ts';
import { unreadableFields } from './check/stored-fields.ts';

const FILE = new URL('../schema.graphql', import.meta.url);
const PUBLISHED = new URL('../schema.published.graphql', import.meta.url);
const TYPES = new URL('../src/dashboard/graphql/schema-types.d.ts', import.meta.url);
const printed = printedSchema();
// Without the end, which would make it the schema of the whole program.
const [types = ''] = outputIntrospectionFile(minifyIntrospection(introspectionFromSchema(buildSchema(printed))), {
  fileType: '.d.ts',
  shouldPreprocess: true,
}).split("\nimport * as gqlTada from 'gql.tada'");
const [checks, publishes] = ['--check', '--publish'].map((option) => process.argv.includes(option));

const published = existsSync(PUBLISHED) ? readFileSync(PUBLISHED, 'utf8') : null;
const problems = published !== null && (checks || publishes) ? unreadableFields(buildSchema(published), INVOICE) : [];
if (checks) {
  problems.push(
    ...(readFileSync(FILE, 'utf8') === printed
      ? []
      : ['schema.graphql differs from the generated one: run `npm run build` and review the change']),
    ...(readFileSync(TYPES, 'utf8') === types
      ? []
      : ['src/dashboard/graphql/schema-types.d.ts differs from the generated one: run `npm run build`']),
    ...policyViolations(schema),
    ...(published === null ? [] : breakingChanges(published, schema, new Date())).map(
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
  console.log('schema.graphql written');
  if (publishes) {
    writeFileSync(PUBLISHED, printed);
    console.log('schema.published.graphql written');
  }
}
