import { describe, expect, it } from 'vitest';
import { DOCUMENT_LANGUAGES, type DocumentLanguage } from '../../../src/domain/document-language.ts';
import { IMPORT_COLUMNS } from '../../../src/domain/imports/columns.ts';
import { FILE_FAULTS, ROW_FAULTS } from '../../../src/domain/imports/row-rules.ts';
import { LIMITS } from '../../../src/domain/invoice/field-input.ts';
import { columnName } from '../../../src/text/column-name.ts';
import { fileFaultText, importProblemText } from '../../../src/text/import-problems.ts';
import { fieldRule } from '../../../src/text/import-rules.ts';

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
    const mismatch = { code: 'amount_mismatch', facts: { message: '…', expected: '123450' } };
    expect(importProblemText(mismatch, 'fr')).toContain('(1\u00a0234,50\u00a0MAD)');
  });

  it('says the rule of a field that the API refuses, in the language of the file', () => {
    const textOf = (param: string, language: DocumentLanguage = 'fr', code = 'invalid_request') =>
      importProblemText({ code, param, facts: { message: 'English' } }, language);
    expect(textOf('lines.12.quantity')).toBe('Un nombre supérieur à zéro, avec trois décimales au plus.');
    expect(textOf('customer')).toBe(textOf('customer.name'));
    expect(textOf('lines.0.exemption.certificate.date', 'en')).toMatch(/go together/);
    expect(textOf('seller.ice', 'fr', 'insufficient_scope')).toMatch(/^Votre profil est incomplet/);
    expect(textOf('deposits')).toBe('Une valeur manque ou n’est pas valable.');
  });

  it('has a rule for each field of a column, with the limits of the input', () => {
    const refused = IMPORT_COLUMNS.map(({ field }) => field).filter(
      (field) => fieldRule(field.replace('line.', 'lines.0.'), 'fr') === null,
    );
    // What the reader makes of these is never refused, or has a code of its own.
    const kinds = ['customer.kind', 'line.unit', 'line.taxRate', 'terms.paymentMeans', 'isDeposit'];
    const others = ['document', 'currency', 'amount', 'line.unitPriceWithTax'];
    const sources = ['source.kind', 'source.status', 'source.payment', 'source.cancelled'];
    // Their name is refused under `customer.name`.
    const names = ['customer.company', 'customer.firstName', 'customer.lastName'];
    expect(refused.toSorted()).toEqual([...kinds, ...others, ...sources, ...names].toSorted());
    const limits: readonly (readonly [string, number])[] = [
      ['number', LIMITS.number],
      ['customer.name', LIMITS.name],
      ['customer.address', LIMITS.address],
      ['customer.taxNumber', LIMITS.taxNumber],
      ['lines', LIMITS.lines],
      ['lines.0.description', LIMITS.description],
      ['terms.paymentMode', LIMITS.paymentMode],
      ['terms.paymentReference', LIMITS.paymentReference],
      ['references.order', LIMITS.reference],
    ];
    for (const [param, limit] of limits) {
      for (const language of DOCUMENT_LANGUAGES) expect(fieldRule(param, language)).toContain(String(limit));
    }
  });

  it('writes numbers as the language does, and rows as the file has them', () => {
    expect(fileFaultText('too_many_rows', { most: 100_000 }, 'fr')).toContain('100\u00a0000 au plus');
    expect(fileFaultText('too_many_rows', { most: 100_000 }, 'en')).toContain('100,000');
    expect(importProblemText({ code: 'rows_apart', facts: { otherRow: 12_345 } }, 'fr')).toContain('12345');
  });

  it('names columns as spreadsheets do', () => {
    expect([0, 25, 26, 51, 701, 702].map(columnName)).toEqual(['A', 'Z', 'AA', 'AZ', 'ZZ', 'AAA']);
  });
});
