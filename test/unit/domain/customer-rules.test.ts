import { expect, test } from 'vitest';
import { iceProblems, kindProblems, type RuledCustomer } from '../../../src/domain/invoice/customer-rules.ts';

const ALL = { ice: '001525713000097', country: 'FR', taxNumber: 'FR40303265045' };

const faults = (customer: RuledCustomer) =>
  [...kindProblems(customer), ...iceProblems(customer)].map(({ code, param }) => `${code} ${param}`);

test.each([
  [undefined, ['ice'], ['ice']],
  [null, ['ice'], ['ice']],
  ['company', ['ice'], ['ice']],
  ['person', [], []],
  ['foreign', ['country'], ['country', 'taxNumber']],
] as const)('a customer of kind %s must have %j, and may have %j', (kind, required, allowed) => {
  for (const name of ['ice', 'country', 'taxNumber'] as const) {
    const complete = Object.fromEntries(required.map((each) => [each, ALL[each]]));
    expect(faults({ kind, ...complete, [name]: ALL[name] })).toEqual(
      allowed.some((each) => each === name) ? [] : [`invalid_request customer.${name}`],
    );
    for (const nothing of [null, undefined])
      expect(faults({ kind, ...complete, [name]: nothing })).toEqual(
        required.some((each) => each === name) ? [`invalid_request customer.${name}`] : [],
      );
  }
});

test('the ICE of a company has 15 digits; that of nobody else is looked at', () => {
  for (const ice of ['', '00152571300009', '0015257130000970', '00152571300009a', '٠٠١٥٢٥٧١٣٠٠٠٠٩٧', ' 01525713000097'])
    expect(faults({ ice })).toEqual(['invalid_ice customer.ice']);
  expect(faults({ kind: 'person', ice: '1' })).toEqual(['invalid_request customer.ice']);
});
