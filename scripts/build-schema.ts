// Writes `schema.graphql`. With --check it writes nothing and fails if the committed file differs from the generated
// one, if the schema violates the policy, or if it breaks clients of the published schema. --publish also makes the
// current schema the published one.
import { readFileSync, writeFileSync } from 'node:fs';
import { printedSchema, schema } from '../src/graphql/schema.ts';
import { breakingChanges, policyViolations } from './check/schema-policy.ts';

const FILE = new URL('../schema.graphql', import.meta.url);
const PUBLISHED = new URL('../schema.published.graphql', import.meta.url);
const printed = printedSchema();

if (process.argv.includes('--check')) {
  const problems = [
    ...(readFileSync(FILE, 'utf8') === printed
      ? []
      : ['schema.graphql differs from the generated one: run `npm run build` and review the change']),
    ...policyViolations(schema),
    ...breakingChanges(readFileSync(PUBLISHED, 'utf8'), schema, new Date()).map(
      (change) =>
        `breaks clients of schema.published.graphql: ${change} Deprecate instead (docs/api/graphql.md, "Compatibility")`,
    ),
  ];
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
} else {
  writeFileSync(FILE, printed);
  console.log('schema.graphql written');
  if (process.argv.includes('--publish')) {
    writeFileSync(PUBLISHED, printed);
    console.log('schema.published.graphql written');
  }
}
