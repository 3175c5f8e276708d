import { expect, it } from 'vitest';
import { EMPTY_LINE } from '../../../src/dashboard/creation/typed-line.ts';
import { contentOf, typedOf } from '../../../src/dashboard/drafts/draft-content.ts';

const TYPED = { ice: '1', name: 'Atlas', email: '', lines: [EMPTY_LINE] };

it('keeps the own number of a draft where the form has no field for it', () => {
  expect(contentOf(TYPED, { number: 'F-1' }).number).toBe('F-1');
  expect('number' in contentOf(TYPED, {})).toBe(false);
});

it('takes the own number from its field, and leaves it out when that is empty', () => {
  expect(contentOf({ ...TYPED, number: ' F-2 ' }, { number: 'F-1' }).number).toBe('F-2');
  expect('number' in contentOf({ ...TYPED, number: ' ' }, { number: 'F-1' })).toBe(false);
});

it('shows the own number of a draft, whatever its content is', () => {
  expect(typedOf({ number: 'F-1' }, EMPTY_LINE).number).toBe('F-1');
  expect(typedOf({ number: 7 }, EMPTY_LINE).number).toBe('7');
  expect(typedOf({ number: ['F-1'] }, EMPTY_LINE).number).toBe('');
});
