import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LANGUAGES } from '../../../src/dashboard/text/languages.ts';
import { formatAmount } from '../../../src/dashboard/text/local-number.ts';
import { FORMATS } from '../../../src/text/document-format.ts';

it('keeps every digit of the largest amounts', () => {
  expect(formatAmount(Number.MAX_SAFE_INTEGER, 'en')).toBe('90,071,992,547,409.91');
  expect(formatAmount(5, 'fr')).toBe('0,05');
  expect(formatAmount(-123_456, 'fr')).toBe('−1\u00a0234,56');
});

it('writes an amount as the documents do', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), fc.constantFrom(...LANGUAGES), (centimes, language) => {
      expect(formatAmount(centimes, language)).toBe(FORMATS[language].amount(centimes));
    }),
  );
});
