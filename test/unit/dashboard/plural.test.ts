import { expect, it } from 'vitest';
import { TEXTS } from '../../../src/dashboard/text/texts.ts';

it('counts in the forms of each language', () => {
  const times = (language: 'fr' | 'en' | 'ar') => [0, 1, 2, 3, 11, 100].map(TEXTS[language].requests.times);
  expect(times('en')).toEqual(['0 times', '1 time', '2 times', '3 times', '11 times', '100 times']);
  expect(times('fr')).toEqual(['0 fois', '1 fois', '2 fois', '3 fois', '11 fois', '100 fois']);
  expect(times('ar')).toEqual(['0 مرة', 'مرة واحدة', 'مرتان', '3 مرات', '11 مرة', '100 مرة']);
  expect(TEXTS.fr.search.exported(1)).toBe('1 document exporté.');
  expect(TEXTS.en.search.exported(12_345)).toBe('12,345 documents exported.');
});
