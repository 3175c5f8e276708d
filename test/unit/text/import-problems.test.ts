import { describe, expect, it } from 'vitest';
import { DOCUMENT_LANGUAGES } from '../../../src/domain/document-language.ts';
import { FILE_FAULTS, ROW_FAULTS } from '../../../src/domain/imports/row-rules.ts';
import { columnName } from '../../../src/text/column-name.ts';
import { fileFaultText, importPlaceText, importProblemText } from '../../../src/text/import-problems.ts';

/** Facts of which each shows its own name. */
const FACTS = new Proxy({}, { get: (_, name) => `<${String(name)}>` });
const factsIn = (text: string) => (text.match(/<\w+>/g) ?? []).toSorted();

describe('texts of problems', () => {
  it.each([...ROW_FAULTS])('%s has a text in each language, with the same facts', (code) => {
    const texts = DOCUMENT_LANGUAGES.map((language) => importProblemText({ code, facts: FACTS }, language));
    expect(new Set(texts).size).toBe(3);
    expect(new Set(texts.map((text) => [...new Set(factsIn(text))].join())).size).toBe(1);
    expect(texts[0]).not.toMatch(/[^\u00a0][:;!?»]|«[^\u00a0]/);
  });

  it.each([...FILE_FAULTS])('%s has a text in each language, with the same facts', (code) => {
    const texts = DOCUMENT_LANGUAGES.map((language) => fileFaultText(code, FACTS, language));
    expect(new Set(texts).size).toBe(3);
    expect(new Set(texts.map((text) => factsIn(text).join())).size).toBe(1);
  });

  it('takes the meaning of the error codes of the API', () => {
    const problem = { code: 'invalid_ice', facts: { message: 'customer.ice must be exactly 15 digits.' } };
    expect(importProblemText(problem, 'en')).toBe('customer.ice must be exactly 15 digits.');
    expect(importProblemText(problem, 'fr')).toBe('L’ICE doit avoir exactement 15 chiffres.');
    expect(importProblemText({ code: 'amount_mismatch', facts: { message: '…', expected: '12000' } }, 'ar')).toContain(
      '12000',
    );
  });

  it('writes numbers as the language does, and rows as the file has them', () => {
    expect(fileFaultText('too_many_rows', { most: 100_000 }, 'fr')).toContain('100\u00a0000 au plus');
    expect(fileFaultText('too_many_rows', { most: 100_000 }, 'en')).toContain('100,000');
    expect(importProblemText({ code: 'rows_apart', facts: { otherRow: 12_345 } }, 'fr')).toContain('12345');
  });

  it('names the place', () => {
    const problem = { place: { sheet: 'Ventes', row: 12, column: 3 }, header: 'Quantité', value: '1,5O' };
    expect(importPlaceText(problem, 'fr')).toBe(
      'Feuille «\u00a0Ventes\u00a0», ligne 12, colonne D (Quantité)\u00a0: «\u00a01,5O\u00a0»',
    );
    expect(importPlaceText({ ...problem, place: { sheet: null, row: 12, column: null }, value: null }, 'en')).toBe(
      'Row 12',
    );
  });

  it('names columns as spreadsheets do', () => {
    expect([0, 25, 26, 51, 701, 702].map(columnName)).toEqual(['A', 'Z', 'AA', 'AZ', 'ZZ', 'AAA']);
  });
});
