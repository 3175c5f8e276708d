import fc from 'fast-check';
import { execute, type GraphQLError, getOperationAST, parse } from 'graphql';
import { expect, it } from 'vitest';
import { schema } from '../../../src/graphql/schema.ts';
import { variableErrors } from '../../../src/graphql/variable-faults.ts';

const document = parse(`mutation Create($input: CreateInvoiceInput!, $key: String) {
  createInvoice(input: $input, idempotencyKey: $key) { __typename }
}`);

function errorsOf(variables: Record<string, unknown>, most = 50, operationName = 'Create', source = document) {
  const operation = getOperationAST(source, operationName);
  if (!operation) throw new Error('there is no such operation');
  return variableErrors(schema, source, operation, variables, { errors: most, listItems: 3000 });
}
const paramsOf = (errors: readonly GraphQLError[]) => errors.map(({ extensions }) => extensions.param ?? null);

const customer = { ice: '001234567000089', name: 'A' };
const line = { description: 'x', quantity: 1, unitPrice: 1 };
const input = (changes: object) => ({ amount: 1, currency: 'MAD', customer, lines: [line], ...changes });

it.each([
  ['what is absent', { input: { amount: 1, currency: 'MAD', customer } }, ['lines']],
  [
    'a missing field in a list',
    { input: input({ lines: [line, { description: 'x' }] }) },
    ['lines.1.quantity', 'lines.1.unitPrice'],
  ],
  ['another type', { input: input({ customer: { ...customer, name: 1 } }) }, ['customer.name']],
  ['a scalar of ours', { input: input({ amount: 1.5 }) }, ['amount']],
  [
    'a field whose REST name differs',
    { input: input({ lines: [{ ...line, unitPrice: 'x' }] }) },
    ['lines.0.unitPrice'],
  ],
  ['null', { input: input({ lines: [null] }) }, ['lines.0']],
  ['an unknown field', { input: input({ lines: [{ ...line, unit_price: 1 }] }) }, ['lines.0.unit_price']],
  ['several', { input: input({ currency: 1, customer: { ice: 2, name: 'A' } }) }, ['currency', 'customer.ice']],
  ['a value that looks like a place', { input: input({ currency: [' at "input.customer"; '] }) }, ['currency']],
  ['the whole', { input: 5 }, [null]],
  ['an argument of its own', { input: input({}), key: {} }, ['idempotencyKey']],
  [
    'a list for an object',
    { input: input({ customer: [customer], lines: [[line], 5] }) },
    ['customer', 'lines.0', 'lines.1'],
  ],
  ['a variable that is absent', {}, [null]],
])('finds the path of the invalid field: %s', (_name, variableValues, params) => {
  expect(paramsOf(errorsOf(variableValues))).toEqual(params);
});

it('counts the items of all lists before it looks at any', () => {
  const untouched = {
    get description(): string {
      throw new Error('it was looked at');
    },
  };
  const lines = (count: number, item: object = line) => Array(count).fill(item);
  const message = 'The lists of the variables have too many items in all.';
  expect(errorsOf({ input: input({ lines: lines(3000) }) })).toEqual([]);
  expect(errorsOf({ input: input({ lines: lines(3001, untouched) }) }).map((each) => each.message)).toEqual([
    expect.stringContaining(message),
  ]);
  const two = parse(`mutation Two($a: CreateInvoiceInput!, $b: CreateInvoiceInput!) {
    a: createInvoice(input: $a) { __typename } b: createInvoice(input: $b) { __typename }
  }`);
  const together = { a: input({ lines: lines(2000) }), b: input({ lines: lines(1001, untouched) }) };
  expect(errorsOf(together, 50, 'Two', two).map((each) => each.message)).toEqual([expect.stringContaining(message)]);
});

it('finds as many faults as graphql-js in any values', () => {
  const instead = (value: unknown) => fc.oneof(fc.constant(value), fc.jsonValue({ maxDepth: 2 }));
  const object = (fields: Record<string, unknown>) =>
    fc
      .tuple(
        fc.record(Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, instead(value)])), {
          requiredKeys: [],
        }),
        fc.dictionary(fc.constantFrom('unit_price', 'toString', 'a'), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 1 }),
      )
      .map((parts): unknown => Object.assign({}, ...parts));
  const any = fc
    .tuple(
      object(input({})),
      fc.oneof(object(customer), fc.jsonValue()),
      fc.array(fc.oneof(object(line), fc.jsonValue())),
    )
    .chain(([whole, ...members]) =>
      fc.constantFrom(whole, { ...(whole as object), customer: members[0] }, { ...input({}), lines: members[1] }),
    );
  const variables = fc.record({ input: fc.oneof(any, fc.jsonValue()), key: fc.jsonValue() }, { requiredKeys: [] });
  fc.assert(
    fc.property(variables, (variableValues) => {
      const result = execute({ schema, document, variableValues });
      // Without an error of a variable there is none, or a promise.
      const errors = 'errors' in result ? (result.errors ?? []) : [];
      const expected = errors.filter(({ nodes }) => nodes?.[0]?.kind === 'VariableDefinition').length;
      fc.pre(expected < 50);
      expect(errorsOf(variableValues)).toHaveLength(expected);
    }),
    { numRuns: 500 },
  );
});

it('neither examines values after the last error that it reports, nor quotes the whole of a variable', () => {
  const lines = Array.from({ length: 30 }, () => ({ unknown: 1 }));
  const after = {
    get description() {
      throw new Error('this was examined');
    },
  };
  const errors = errorsOf({ input: input({ currency: { long: 'x'.repeat(1000) }, lines: [...lines, after] }) }, 20);
  expect(errors).toHaveLength(20);
  for (const { message } of errors) expect(message.length).toBeLessThan(150);
});

it('a variable with a default may be absent, and not null if its type says so', () => {
  const source = parse('query List($first: Int! = 5) { invoices(first: $first) { __typename } }');
  expect(errorsOf({}, 50, 'List', source)).toEqual([]);
  expect(paramsOf(errorsOf({ first: null }, 50, 'List', source))).toEqual(['first']);
});

it('finds a variable that is a part of the input', () => {
  const variableValues = { customer: { ice: 1, name: 'A' }, line: { ...line, quantity: 'x' }, first: 'x' };
  const parts = parse(`query ($first: Int) { invoices(first: $first) { __typename } }
    mutation Create($customer: CustomerInput!, $line: InvoiceLineInput!) {
      createInvoice(input: { amount: 1, currency: "MAD", customer: $customer, lines: [{ description: "x", quantity: 1, unitPrice: 1 }, $line] }) {
        __typename
      }
    }`);
  expect(paramsOf(errorsOf(variableValues, 50, 'Create', parts))).toEqual(['customer.ice', 'lines.1.quantity']);
});
