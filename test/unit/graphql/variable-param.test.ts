import { getVariableValues, type OperationDefinitionNode, parse } from 'graphql';
import { expect, it } from 'vitest';
import { schema } from '../../../src/graphql/schema.ts';
import { paramOfVariable } from '../../../src/graphql/variable-param.ts';

const document = parse(`mutation ($input: CreateInvoiceInput!, $key: String) {
  createInvoice(input: $input, idempotencyKey: $key) { __typename }
}`);
const customer = { ice: '001234567000089', name: 'A' };
const line = { description: 'x', quantity: 1, unitPrice: 1 };
const input = (changes: object) => ({ amount: 1, currency: 'MAD', customer, lines: [line], ...changes });

it.each([
  ['what is absent', { input: { amount: 1, currency: 'MAD', customer } }, ['lines']],
  [
    'what is absent in a list',
    { input: input({ lines: [line, { description: 'x' }] }) },
    ['lines.1.quantity', 'lines.1.unit_price'],
  ],
  ['another type', { input: input({ customer: { ...customer, name: 1 } }) }, ['customer.name']],
  ['a scalar of ours', { input: input({ amount: 1.5 }) }, ['amount']],
  ['REST’s name of a field', { input: input({ lines: [{ ...line, unitPrice: 'x' }] }) }, ['lines.0.unit_price']],
  ['null', { input: input({ lines: [null] }) }, ['lines.0']],
  ['an unknown field', { input: input({ lines: [{ ...line, unit_price: 1 }] }) }, ['lines.0.unit_price']],
  ['several', { input: input({ currency: 1, customer: { ice: 2, name: 'A' } }) }, ['currency', 'customer.ice']],
  ['a value that looks like a place', { input: input({ currency: [' at "input.customer"; '] }) }, ['currency']],
  ['the whole', { input: 5 }, [null]],
  ['a variable that is no input', { input: input({}), key: {} }, [null]],
  ['a variable that is absent', {}, [null]],
])('finds the field at fault: %s', (_name, variables, params) => {
  const [operation] = document.definitions as [OperationDefinitionNode];
  const { errors = [] } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  expect(errors.map(({ message }) => paramOfVariable(message))).toEqual(params);
});

it('is silent about other messages', () => {
  for (const message of ['', 'Syntax Error: Unexpected <EOF>.', 'Cannot query field "a" on type "Query".'])
    expect(paramOfVariable(message)).toBeNull();
});
