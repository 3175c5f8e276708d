import { beforeEach, expect, it } from 'vitest';
import { filterOf, searchOf, variablesOf } from '../../../src/dashboard/invoices/invoice-filter.ts';
import { tellOffsets } from '../../support/moroccan-offsets.ts';

beforeEach(tellOffsets);

it('reads what an address says, and leaves out what is none', () => {
  const filter = filterOf({
    status: 'rejected',
    from: '2026-11-01',
    until: '2026-11-30',
    after: 'inv_1',
    before: 'inv_2',
  });
  const days = { from: '2026-11-01', until: '2026-11-30' };
  const page = { after: 'inv_1', before: null, size: null, sort: null };
  expect(filter).toEqual({ ...days, ...page, kind: null, status: 'rejected', search: null });
  expect(filterOf({ status: 'paid', from: '2026-02-30', until: 'x' })).toEqual(filterOf({}));
  expect(filterOf(Object.fromEntries(new URLSearchParams(searchOf(filter))))).toEqual(filter);
  expect(searchOf(filterOf({}))).toBe('');
});

it('takes days from midnight to midnight in Morocco, which was one hour ahead of UTC in 2025', () => {
  expect(variablesOf(filterOf({ from: '2025-11-01', until: '2025-11-01' }))).toMatchObject({
    createdAfter: '2025-10-31T22:59:59.999Z',
    createdBefore: '2025-11-01T23:00:00.000Z',
  });
  // But not in Ramadan.
  expect(variablesOf(filterOf({ from: '2025-03-10' }))).toMatchObject({ createdAfter: '2025-03-09T23:59:59.999Z' });
});

it('combines a kind with everything else', () => {
  const filter = filterOf({ kind: 'credit_note', status: 'rejected', after: 'crn_1' });
  expect(filter).toMatchObject({ kind: 'credit_note', status: 'rejected' });
  expect(searchOf(filter)).toBe('?kind=credit_note&status=rejected&after=crn_1');
  expect(variablesOf(filter)).toEqual({ kind: 'credit_note', status: 'rejected', first: 25, after: 'crn_1' });
  expect(filterOf({ kind: 'crn', search: '5' })).toMatchObject({ kind: null, search: '5' });
});

it('has the sizes that the page offers, the usual one without a word in the address', () => {
  expect(variablesOf(filterOf({ size: '50' }))).toEqual({ first: 50, after: null });
  expect(searchOf(filterOf({ size: '100', status: 'accepted' }))).toBe('?status=accepted&size=100');
  for (const size of ['25', '26', '1e2', '']) expect(filterOf({ size })).toEqual(filterOf({}));
});

it('has the orders of the API, those by a value without a filter only', () => {
  expect(variablesOf(filterOf({ sort: 'amount_descending', kind: 'invoice' }))).toEqual({
    kind: 'invoice',
    sort: 'amount_descending',
    first: 25,
    after: null,
  });
  expect(searchOf(filterOf({ sort: 'oldest', status: 'accepted' }))).toBe('?status=accepted&sort=oldest');
  expect(filterOf({ sort: 'customer', status: 'accepted' })).toEqual(filterOf({ status: 'accepted' }));
  for (const sort of ['newest', 'toString', '']) expect(filterOf({ sort })).toEqual(filterOf({}));
});

it('asks for the page after or before an invoice', () => {
  expect(variablesOf(filterOf({ after: 'inv_1' }))).toEqual({ first: 25, after: 'inv_1' });
  expect(variablesOf(filterOf({ before: 'inv_1' }))).toEqual({ last: 25, before: 'inv_1' });
});

it('combines a search with everything else', () => {
  const filter = filterOf({ search: 'Atlas & fils', status: 'accepted' });
  expect(variablesOf(filter)).toEqual({ search: 'Atlas & fils', status: 'accepted', first: 25, after: null });
  expect(filterOf(Object.fromEntries(new URLSearchParams(searchOf(filter))))).toEqual(filter);
  expect(filterOf({ search: 'x'.repeat(500) }).search).toHaveLength(200);
});
