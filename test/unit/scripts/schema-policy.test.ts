import { buildSchema, type GraphQLObjectType, getNamedType, isUnionType, printSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { breakingChanges, policyViolations } from '../../../scripts/check/schema-policy.ts';
import { schema } from '../../../src/graphql/schema.ts';
import { exampleRunBy } from '../../support/guide-examples.ts';

describe('policyViolations', () => {
  it('finds no violation in our schema', () => {
    expect(policyViolations(schema)).toEqual([]);
  });

  it('every mutation may return a typed error; validateInvoice returns problems as data', () => {
    const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
    const untyped = mutations.filter(({ type }) => {
      const answer = getNamedType(type);
      return !isUnionType(answer) || !answer.getTypes().some((each) => each.getInterfaces()[0]?.name === 'Error');
    });
    expect(untyped.map(({ name }) => name)).toEqual(['validateInvoice']);
  });

  it('every mutation returns a payload named after it, and no bare object', () => {
    const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
    for (const { name, type } of mutations) {
      const answer = getNamedType(type);
      const members = isUnionType(answer) ? answer.getTypes() : [answer as GraphQLObjectType];
      const payloads = members.filter((each) => each.getInterfaces()[0]?.name !== 'Error').map((each) => each.name);
      expect(payloads).toEqual([`${name.charAt(0).toUpperCase()}${name.slice(1)}Payload`]);
    }
  });

  it('reports every element without a description', () => {
    const bare = buildSchema(`
      interface Node { id: ID! }
      type Query implements Node { id: ID!  one(first: Int, "Said." last: Int): Colour }
      enum Colour { red "Said." green }
      input Filter { colour: Colour }
      "Said."
      scalar Day
      directive @mark on FIELD
      union Any = Query`);
    expect(policyViolations(bare)).toEqual(
      [
        'Node',
        'Node.id',
        'Query',
        'Query.id',
        'Query.one',
        'Query.one(first:)',
        'Colour',
        'Colour.red',
        'Filter',
        'Filter.colour',
        'Any',
        '@mark',
      ].map((each) => `${each} has no description`),
    );
  });

  it.each([
    ['Use `total` instead. Deprecated 2026-12-01, gone after 2027-12-01.', null],
    ['Use `Query.total` instead. Deprecated 2026-12-01, gone after 2028-01-01.', null],
    ['Use `sum` instead. Deprecated 2026-12-01, gone after 2027-12-01.', 'names sum, which does not exist'],
    ['Use `total` instead. Deprecated 2026-12-01, gone after 2027-11-30.', 'gives less than 12 months'],
    ['Use `total` instead. Deprecated 2026-12-01, gone after 2027-13-01.', 'gives less than 12 months'],
    ['Use `total` instead.', 'is not of the form'],
    ['No longer supported', 'is not of the form'],
  ])('of the reason %j: %s', (reason, fault) => {
    const deprecated = buildSchema(
      `"Q." type Query { "T." total: Int  "A." amount: Int @deprecated(reason: ${JSON.stringify(reason)}) }`,
    );
    const faults = policyViolations(deprecated);
    expect(faults).toEqual(
      fault ? [expect.stringContaining(`Query.amount is deprecated, and its reason ${fault}`)] : [],
    );
  });
});

it('takes the reason that the guide to GraphQL shows', () => {
  const { text } = exampleRunBy('test/unit/scripts/schema-policy.test.ts');
  const [, reason = '', successor] = /^deprecationReason: '(.*`(\w+)`.*)'$/m.exec(text) ?? [];
  const deprecated = buildSchema(
    `"Q." type Query { "S." ${successor}: Int  "A." amount: Int @deprecated(reason: ${JSON.stringify(reason)}) }`,
  );
  expect(policyViolations(deprecated)).toEqual([]);
});

describe('breakingChanges', () => {
  const PUBLISHED = `type Query { a: Int  b(c: Int): Int!  old: Int @deprecated(reason: "Use \`a\` instead. Deprecated 2026-01-01, gone after 2027-01-01.") }`;
  const DAY = new Date('2026-11-21');

  it('allows additions', () => {
    const more = buildSchema('type Query { a: Int!  b(c: Int, d: Int): Int!  old: Int  e: Int }');
    expect(breakingChanges(PUBLISHED, more, DAY)).toEqual([]);
    expect(breakingChanges(printSchema(schema), schema, DAY)).toEqual([]);
  });

  it('reports removals, and what clients would additionally have to send or handle', () => {
    const less = buildSchema('type Query { b(c: String, d: Int!): Int  old: Int }');
    expect(breakingChanges(PUBLISHED, less, DAY)).toEqual([
      'Query.a was removed.',
      'Query.b arg c has changed type from Int to String.',
      'A required arg d on Query.b was added.',
      'Query.b changed type from Int! to Int.',
    ]);
  });

  it('allows the removal of deprecated elements, but not before their date', () => {
    const without = buildSchema('type Query { a: Int  b(c: Int): Int! }');
    expect(breakingChanges(PUBLISHED, without, DAY)).toEqual(['Query.old was removed.']);
    expect(breakingChanges(PUBLISHED, without, new Date('2027-01-02'))).toEqual([]);
  });
});
