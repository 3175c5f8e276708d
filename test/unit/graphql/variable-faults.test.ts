import { execute, GraphQLError, parse } from 'graphql';
import { expect, it } from 'vitest';
import { schema } from '../../../src/graphql/schema.ts';
import { withParams } from '../../../src/graphql/variable-faults.ts';

const document = parse(`mutation ($input: CreateInvoiceInput!, $key: String) {
  createInvoice(input: $input, idempotencyKey: $key) { __typename }
}`);
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
])('finds the path of the invalid field: %s', async (_name, variableValues, params) => {
  const args = { schema, document, variableValues };
  const { errors = [] } = withParams(await execute(args), args);
  expect(errors.map(({ extensions }) => extensions.param ?? null)).toEqual(params);
});

it('finds a variable that is a part of the input', async () => {
  const variableValues = { customer: { ice: 1, name: 'A' }, line: { ...line, quantity: 'x' }, first: 'x' };
  const parts = parse(`query ($first: Int) { invoices(first: $first) { __typename } }
    mutation Create($customer: CustomerInput!, $line: InvoiceLineInput!) {
      createInvoice(input: { amount: 1, currency: "MAD", customer: $customer, lines: [{ description: "x", quantity: 1, unitPrice: 1 }, $line] }) {
        __typename
      }
    }`);
  const args = { schema, document: parts, variableValues, operationName: 'Create' };
  const { errors = [] } = withParams(await execute(args), args);
  expect(errors.map(({ extensions }) => extensions.param ?? null)).toEqual(['customer.ice', 'lines.1.quantity']);
});

it('leaves other errors unchanged', async () => {
  const args = { schema, document: parse('{ nothing { of } the }'), variableValues: { input: 5 } };
  const { errors = [] } = withParams({ errors: [new GraphQLError('Syntax Error: Unexpected <EOF>.')] }, args);
  expect(errors[0]?.extensions).toEqual({});
});
