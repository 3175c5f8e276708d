// Writes `schema.graphql`, and for the web pages the same as types and the sets that they list. With --check it writes
// nothing and fails if a committed file differs from the generated one, if the schema violates the policy, or if it
// breaks clients of the published schema, which the first release makes. --publish also makes the current schema the
// published one. Both fail if invoices that were stored under the published one could not be read.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { minifyIntrospection, outputIntrospectionFile } from '@gql.tada/internal';
import { buildSchema, introspectionFromSchema } from 'graphql';
import { KEY_KINDS } from '../src/domain/api-key/api-key.ts';
import { BREAKER_PHASES } from '../src/domain/authority/breaker.ts';
import { EVENT_TYPES, enumNameOf } from '../src/domain/event.ts';
import { ATTENTION_REASONS } from '../src/domain/invoice/attention.ts';
import { INVOICE } from '../src/domain/invoice/fields.ts';
import { LANE_NAMES } from '../src/domain/invoice/lanes.ts';
import { FINAL_STATUSES, INVOICE_STATUSES } from '../src/domain/invoice/lifecycle.ts';
import { ENDPOINT_LIMITS, MOST_WAITING, OPERATOR_TEXTS, PROFILE_LIMITS, SILENCE_MS } from '../src/domain/limits.ts';
import { MIN_PASSWORD, PERSON_TEXTS } from '../src/domain/person/limits.ts';
import { ROLES } from '../src/domain/person/person.ts';
import { LIVE_CONDITIONS } from '../src/domain/tenant/ports.ts';
import { ENVIRONMENTS } from '../src/domain/tenant/tenant.ts';
import { DELIVERY_STATES, SETTLED_STATES } from '../src/domain/webhook/delivery.ts';
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
    ...(readFileSync(SETS, 'utf8') === sets
      ? []
      : ['src/dashboard/graphql/sets.ts differs from the generated one: run `npm run build`']),
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
  writeFileSync(SETS, sets);
  console.log('schema.graphql written');
  if (publishes) {
    writeFileSync(PUBLISHED, printed);
    console.log('schema.published.graphql written');
  }
}

/** The lists of the domain that the pages show, in the domain's order, and the limits of typed texts. */
function printedSets(): string {
  const sets = {
    STATUSES: INVOICE_STATUSES,
    FINAL_STATUSES,
    LANES: LANE_NAMES,
    ATTENTION_REASONS,
    BREAKER_PHASES,
    EVENT_TYPES: EVENT_TYPES.map(enumNameOf),
    DELIVERY_STATES,
    SETTLED_STATES,
    ENVIRONMENTS,
    KEY_KINDS,
    LIVE_CONDITIONS: Object.keys(LIVE_CONDITIONS),
    ROLES,
  };
  const { paymentTermDays: _days, ...lengths } = PROFILE_LIMITS;
  const limits = {
    ENDPOINT_LENGTHS: ENDPOINT_LIMITS,
    PROFILE_LENGTHS: lengths,
    PERSON_LENGTHS: { ...PERSON_TEXTS, shortestPassword: MIN_PASSWORD },
    OPERATOR_LENGTHS: OPERATOR_TEXTS,
  };
  const lists = Object.entries(sets).map(
    ([name, members]) => `export const ${name} = [\n${members.map((each) => `  '${each}',\n`).join('')}] as const;\n`,
  );
  const lengthsOf = Object.entries(limits).map(
    ([name, fields]) =>
      `/** Characters. */\nexport const ${name} = {\n${Object.entries(fields)
        .map(([field, length]) => `  ${field}: ${length},\n`)
        .join('')}} as const;\n`,
  );
  const names = EVENT_TYPES.map((type) => `  ${enumNameOf(type)}: '${type}',\n`).join('');
  const others = [
    `/** The types of events as receivers get them, by their names in GraphQL. */\nexport const EVENT_NAMES = {\n${names}} as const;\n`,
    `/** Counts of a backlog end at this number. */\nexport const MOST_WAITING = ${MOST_WAITING};\n`,
    `/** How long an event stream may be silent: three heartbeats, and some time for the network. Milliseconds. */\nexport const SILENCE_MS = ${SILENCE_MS};\n`,
  ];
  return ['// Written by `npm run build`.\n', ...lists, ...lengthsOf, ...others].join('\n');
}
