import { type GraphQLNamedType, getNamedType, isObjectType, isUnionType, parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import { exceededAnswers, SEARCHED } from '../../../src/graphql/mutation-answers.ts';
import { schema } from '../../../src/graphql/schema.ts';
import { isList } from '../../../src/graphql/selected-fields.ts';

const times = (count: number, field: string) => Array.from({ length: count }, (_, i) => `a${i}: ${field}`).join(' ');
const email = (below: string) =>
  `mutation { resendInvoiceEmail(id: "inv_1") { ... on ResendInvoiceEmailPayload { invoice { ${below} } } } }`;

/** The message of the refusal of a valid document; null if it may run. */
function refusalOf(text: string): string | null {
  const document = parse(text);
  expect(validate(schema, document)).toEqual([]);
  return exceededAnswers(document)[0]?.message ?? null;
}

it.each([
  [
    'all of an invoice',
    email('id metadata lines { description amount } totals { taxTotals { rate } } events { body }'),
  ],
  ['a number again and again', email(`lines { ${times(45, 'amount')} }`)],
  ['the same text of a list ten times', email(`lines { ${times(10, 'description')} }`)],
  ['a text outside of lists again and again', email(times(45, 'number customer { name }'))],
  ['what the deliveries are for', email('deliveries { state eventId endpoint { url } }')],
  ['the deliveries of each event', email('events { type deliveries { state } }')],
  ['other lists', email('authorityAttempts { __typename }  authorityWarnings { code message }')],
  ['a query for as much', `{ invoice(id: "inv_1") { lines { ${times(45, 'description')} } } }`],
])('a mutation may select %s', (_what, text) => {
  expect(refusalOf(text)).toBeNull();
});

it.each([
  ['the same text', email(`lines { ${times(11, 'description')} }`), 'InvoiceLine.description" 11 times'],
  ['the same list', email(times(11, 'lines { amount }')), 'Invoice.lines" 11 times'],
  [
    'the same text of several lists',
    email(times(3, `lines { ${times(4, 'description')} }`)),
    'InvoiceLine.description" 12 times',
  ],
  [
    'the same list of invoices that replace each other',
    email(`${'lines { amount } replacedBy { '.repeat(10)} lines { amount } ${'}'.repeat(10)}`),
    'Invoice.lines" 11 times',
  ],
  [
    'the same text by a fragment',
    `${email(times(3, 'lines { ...L }'))} fragment L on InvoiceLine { ${times(4, 'description')} }`,
    'InvoiceLine.description" 12 times',
  ],
])('a mutation that selects %s too often does not run', (_what, text, message) => {
  expect(refusalOf(text)).toContain(
    `may select the same list, or text in a list, at most 10 times; this one selects "${message}`,
  );
});

it.each([
  ['attempts', email('deliveries { attempts { at } }')],
  ['event', email('deliveries { event { id } }')],
  ['invoice', email('... { events { ...E } }').concat(' fragment E on WebhookEvent { invoice { id } }')],
])('a mutation that would search %s for each item of a list does not run', (name, text) => {
  expect(refusalOf(text)).toBe(
    `In the lists of a mutation's answer, "${name}" cannot be selected. Query it after the mutation.`,
  );
});

it("what the lists of a mutation's answer can select grows with the depth only by rules that stop it", () => {
  // What is selected outside of lists, such as an invoice that replaces another one, is looked at once for each type:
  // its lists count together, however deep they are.
  const outside = new Set<string>();
  /** Whether the items of a list can select objects of a type again below themselves. */
  const repeats = (type: GraphQLNamedType, above: readonly string[], isInList: boolean): string[] => {
    if (above.includes(type.name)) return isInList ? [[...above, type.name].join(' > ')] : [];
    if (isUnionType(type)) return type.getTypes().flatMap((each) => repeats(each, above, isInList));
    if (!isObjectType(type) || (!isInList && outside.has(type.name))) return [];
    if (!isInList) outside.add(type.name);
    return Object.values(type.getFields()).flatMap((field) => {
      const below = getNamedType(field.type);
      if (isInList && SEARCHED.includes(below.name)) return [];
      return repeats(below, isInList ? [...above, type.name] : [], isInList || isList(field));
    });
  };
  expect(repeats(schema.getMutationType() as GraphQLNamedType, [], false)).toEqual([]);
});
