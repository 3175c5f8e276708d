import { expect, it } from 'vitest';
import { mailTexts } from '../../../src/adapters/email/texts.ts';
import { labelsOf } from '../../../src/adapters/pdf/labels.ts';
import { DOCUMENT_TEXTS } from '../../../src/dashboard/text/credit-notes.ts';
import { chooseLanguage } from '../../../src/dashboard/text/languages.ts';
import { TEXTS } from '../../../src/dashboard/text/texts.ts';
import { DOCUMENT_LANGUAGES } from '../../../src/domain/document-language.ts';
import { kindOfId } from '../../../src/domain/invoice/kinds.ts';

/** The texts of a table, in its order. */
function flat(value: unknown): string[] {
  if (typeof value === 'function') return [String(value(20))];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(flat) : [String(value)];
}

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

it('a credit note has the names of its PDF and mail, and no text calls it an invoice', () => {
  const invoiceWords = { fr: /[Ff]acture/, ar: /فاتور/, en: /[Ii]nvoice/ };
  for (const language of DOCUMENT_LANGUAGES) {
    const texts = DOCUMENT_TEXTS.credit_note[language];
    const { title, payable } = labelsOf('credit_note', language);
    expect(texts).toMatchObject({ invoice: title, payable });
    expect(mailTexts('credit_note', language).payable).toBe(payable);
    const { statuses, sellerStatuses, testStatuses, ...others } = texts;
    const ofPages = Object.values(others).filter((text) => typeof text === 'string');
    const told = flat([statuses, sellerStatuses, testStatuses, ofPages]);
    expect(told.filter((text) => invoiceWords[language].test(text))).toEqual([]);
    // Each text of an invoice has its counterpart.
    expect(told).toHaveLength(
      flat([TEXTS[language].statuses, TEXTS[language].sellerStatuses, TEXTS[language].testStatuses, ofPages]).length,
    );
    expect(DOCUMENT_TEXTS.invoice[language]).toBe(TEXTS[language]);
  }
  expect(DOCUMENT_TEXTS.credit_note.en.statuses.accepted).toEqual({
    ...TEXTS.en.statuses.accepted,
    meaning: 'The credit note is valid. You can download its signed documents.',
  });
});

it('an id tells the kind of its document', () => {
  expect(['inv_1', 'crn_1', 'evt_1', 'inv', ''].map(kindOfId)).toEqual(['invoice', 'credit_note', null, null, null]);
});

it('no text is left in another language', () => {
  const [fr, en, ar] = (['fr', 'en', 'ar'] as const).map((language) =>
    flat([TEXTS[language], DOCUMENT_TEXTS.credit_note[language]]),
  );
  const shared = [
    'ICE',
    'Documents',
    'Logo',
    'Console',
    'Documentation',
    'Test',
    'Pages',
    'Code',
    'Suspension',
    'Active',
  ];
  expect(fr?.filter((text, i) => text === en?.[i] && !shared.includes(text))).toEqual([]);
  expect(ar?.filter((text) => !/\p{Script=Arabic}/u.test(text))).toEqual([]);
});
