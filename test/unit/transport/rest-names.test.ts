import { expect, it } from 'vitest';
import { problem, ServiceError, serviceError } from '../../../src/domain/errors.ts';
import { inRestNames } from '../../../src/transport/rest/names.ts';

async function restOf(error: Error) {
  return inRestNames(Promise.reject(error)).catch((thrown: unknown) => thrown);
}

it.each([
  ['lines.0.unitPrice', 'lines.0.unit_price'],
  ['lines.12.taxRate', 'lines.12.tax_rate'],
  ['customer.ice', 'customer.ice'],
  ['amount', 'amount'],
  ['idempotencyKey', 'Idempotency-Key'],
  ['before', 'ending_before'],
  ['clientSecret', 'client_secret'],
  // Names of the client, not of the table.
  ['metadata.unitPrice', 'metadata.unitPrice'],
  ['metadata.after', 'metadata.after'],
  ['constructor', 'constructor'],
])('a refusal of %s is one of %s in REST, in its message too', async (param, name) => {
  const refused = serviceError('invalid_request', `${param} is wrong: ${param}.`, param);
  expect(await restOf(refused)).toMatchObject({ param: name, message: `${name} is wrong: ${param}.`, status: 400 });
});

it('every problem is renamed, and what is no refusal stays what it is', async () => {
  const both = new ServiceError([
    problem('amount_too_small', 'The amount is too small.', 'amount'),
    problem('invalid_request', 'lines.1.unitPrice is wrong.', 'lines.1.unitPrice'),
  ]);
  const { problems } = (await restOf(both)) as ServiceError;
  expect(problems).toMatchObject([
    { code: 'amount_too_small', message: 'The amount is too small.', param: 'amount' },
    { code: 'invalid_request', message: 'lines.1.unit_price is wrong.', param: 'lines.1.unit_price' },
  ]);
  const defect = new TypeError('x');
  expect(await restOf(defect)).toBe(defect);
});
