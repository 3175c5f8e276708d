import { expect, it } from 'vitest';
import { mailTexts } from '../../../src/adapters/email/texts.ts';
import { labelsOf } from '../../../src/adapters/pdf/labels.ts';
import { chooseLanguage } from '../../../src/dashboard/text/languages.ts';
import { TEXTS } from '../../../src/dashboard/text/texts.ts';
import { DOCUMENT_LANGUAGES } from '../../../src/domain/document-language.ts';

it.each([
  ['', ['ar-MA', 'fr'], 'ar'],
  ['', ['de', 'en-US', 'fr'], 'en'],
  ['', ['de', 'arn'], 'fr'],
  ['', [], 'fr'],
  ['?lang=en', ['ar'], 'en'],
  ['?lang=xx', ['AR'], 'ar'],
])('with %s and the reader’s %j it is %s', (search, preferred, language) => {
  expect(chooseLanguage(search, preferred)).toBe(language);
});

it('the totals have the names of the PDF, in the mail too', () => {
  for (const language of DOCUMENT_LANGUAGES) {
    const { gross: total, rounding, payable } = labelsOf('invoice', language);
    expect(TEXTS[language]).toMatchObject({ total, rounding, payable });
    expect(mailTexts('invoice', language).payable).toBe(payable);
  }
});

it('no text is left in another language', () => {
  const flat = (value: unknown): string[] => {
    if (typeof value === 'function') return [String(value(20))];
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(flat) : [String(value)];
  };
  const [fr, en, ar] = [TEXTS.fr, TEXTS.en, TEXTS.ar].map(flat);
  const shared = ['ICE', 'Documents', 'Logo', 'Console', 'Documentation', 'Test', 'Pages', 'Code', 'Suspension'];
  expect(fr?.filter((text, i) => text === en?.[i] && !shared.includes(text))).toEqual([]);
  expect(ar?.filter((text) => !/\p{Script=Arabic}/u.test(text))).toEqual([]);
});
