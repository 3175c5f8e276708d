import { describe, expect, it } from 'vitest';
import { DOCUMENT_LANGUAGES } from '../../../../src/domain/document-language.ts';
import { COLUMN_EXPLANATIONS } from '../../../../src/domain/imports/column-explanations.ts';
import { COLUMN_HEADERS, RESULT_COLUMNS } from '../../../../src/domain/imports/column-headers.ts';
import { COLUMN_SYNONYMS, LAST_SYNONYMS } from '../../../../src/domain/imports/column-synonyms.ts';
import { IMPORT_COLUMNS } from '../../../../src/domain/imports/columns.ts';
import type { ColumnMapping } from '../../../../src/domain/imports/reading.ts';
import {
  headerKey,
  headerKeys,
  languageOf,
  missingFields,
  recognizeColumns,
} from '../../../../src/domain/imports/recognize-columns.ts';

const undecidedFields = (headers: readonly string[], mapping: ColumnMapping | null) => [
  ...new Set(recognizeColumns(headers, mapping).flatMap(({ mayBe }) => mayBe?.[0] ?? [])),
];
const fieldsOf = (headers: readonly string[]) => recognizeColumns(headers, null).map(({ field }) => field);

describe('columns', () => {
  it.each(DOCUMENT_LANGUAGES)('are all recognized by their own headers in %s', (language) => {
    const columns = IMPORT_COLUMNS.filter(({ field }) => field !== 'line.unitPriceWithTax');
    const headers = columns.map(({ field }) => COLUMN_HEADERS[field][language]);
    expect(fieldsOf(headers)).toEqual(columns.map(({ field }) => field));
    expect(languageOf(headers)).toBe(language);
  });

  it('have no header in common', () => {
    const keys = new Map<string, Set<string>>();
    for (const { field } of IMPORT_COLUMNS) {
      for (const text of [
        ...Object.values(COLUMN_HEADERS[field]),
        ...(COLUMN_SYNONYMS[field] ?? []),
        ...(LAST_SYNONYMS[field] ?? []),
      ])
        keys.set(headerKey(text), (keys.get(headerKey(text)) ?? new Set()).add(field));
    }
    expect([...keys].filter(([, fields]) => fields.size > 1)).toEqual([]);
    const results = Object.values(RESULT_COLUMNS).flatMap((texts) => Object.values(texts).map(headerKey));
    expect(results.filter((key) => keys.has(key))).toEqual([]);
  });

  it('have an explanation in each language', () => {
    for (const { field } of IMPORT_COLUMNS)
      expect(new Set(DOCUMENT_LANGUAGES.map((language) => COLUMN_EXPLANATIONS[field][language])).size).toBe(3);
  });

  it.each([
    ['N° DE FACTURE (*)', 'numero facture'],
    ['Prix unitaire HT (MAD)', 'prix unitaire ht'],
    ['Date d’échéance', 'date echeance'],
    ["Date d'echeance ", 'date echeance'],
    ['Remise %', 'remise %'],
    ['Remise', 'remise'],
    ['Remise (DH)', 'remise dirhams'],
    ['رَقْم الفاتورة', 'رقم الفاتوره'],
  ])('fold %s to %s', (header, key) => {
    expect(headerKey(header)).toBe(key);
  });

  it('of the same header get keys of their own', () => {
    expect(headerKeys(['Prix', 'prix', 'PRIX '])).toEqual(['prix', 'prix 2', 'prix 3']);
  });

  it('leave a price with tax to whoever has no other', () => {
    expect(fieldsOf(['Client', 'Libellé', 'PU HT', 'PU TTC'])).toEqual([
      'customer.name',
      'line.description',
      'line.unitPrice',
      null,
    ]);
    expect(fieldsOf(['Client', 'Libellé', 'PU TTC'])).toContain('line.unitPriceWithTax');
  });

  it('of the template precede synonyms, and a mapping precedes both', () => {
    const headers = ['Article', 'Désignation', 'Client', 'PU HT'];
    expect(fieldsOf(headers)).toEqual([null, 'line.description', 'customer.name', 'line.unitPrice']);
    const mapped = recognizeColumns(headers, { article: 'line.description', 'pu ht': null, client: 'no.such.field' });
    expect(mapped.map(({ field }) => field)).toEqual(['line.description', null, null, null]);
    expect(missingFields(mapped)).toEqual(['customer.name', 'line.unitPrice']);
  });

  it('of a date are that of the operation, if no other one says it', () => {
    expect(fieldsOf(['Date', 'Client'])).toEqual(['terms.operationDate', 'customer.name']);
    expect(fieldsOf(['Invoice Date', 'Due Date'])).toEqual(['terms.operationDate', 'terms.dueDate']);
    expect(fieldsOf(['Date facture', 'Date de livraison', 'التاريخ'])).toEqual([null, 'terms.operationDate', null]);
  });

  it('that do not say which of two they are, or whether a price includes tax, are left to whoever knows', () => {
    expect(fieldsOf(['Client', 'Qté', 'Qté', 'Prix'])).toEqual(['customer.name', null, null, null]);
    expect(undecidedFields(['Client', 'Qté', 'Qté'], null)).toEqual(['line.quantity']);
    expect(undecidedFields(['Client', 'Qté', 'Qté'], { 'qte 2': 'line.quantity' })).toEqual([]);
  });

  it('of discounts that do not say whether they have percent or dirhams are left to whoever knows', () => {
    const said = ['Remise en dirhams', 'Remise en %', 'Remise globale en %', 'Remise globale en dirhams'];
    expect(fieldsOf(said)).toEqual([
      'line.discount.amount',
      'line.discount.percent',
      'discount.percent',
      'discount.amount',
    ]);
    expect(undecidedFields(said, null)).toEqual([]);
    expect(fieldsOf(['Discount (MAD)', 'الخصم الإجمالي بالدرهم'])).toEqual(['line.discount.amount', 'discount.amount']);
    for (const header of ['Remise', 'Discount', 'الخصم', 'Rabais']) {
      expect(fieldsOf([header])).toEqual([null]);
      expect(undecidedFields([header], null)).toEqual(['line.discount.percent']);
      expect(undecidedFields([header], { [headerKey(header)]: 'line.discount.amount' })).toEqual([]);
      expect(undecidedFields([header], { [headerKey(header)]: null })).toEqual([]);
    }
    expect(undecidedFields(['Remise globale', 'Lineitem discount', 'Discount Amount'], null)).toEqual([
      'discount.percent',
    ]);
  });

  it('of prices that do not say whether they include tax are asked about, if no other one says it', () => {
    const may = (headers: readonly string[]) => recognizeColumns(headers, null).map(({ mayBe }) => mayBe ?? null);
    const either = ['line.unitPrice', 'line.unitPriceWithTax'];
    expect(may(['Client', 'Prix unitaire'])).toEqual([null, either]);
    expect(may(['السعر', 'Unit price'])).toEqual([either, either]);
    expect(may(['Prix', 'PU HT'])).toEqual([null, null]);
    expect(may(['Qté', 'Qté'])).toEqual([['line.quantity'], ['line.quantity']]);
    const chosen = recognizeColumns(['Prix'], { prix: 'line.unitPriceWithTax' });
    expect(chosen[0]).toMatchObject({ field: 'line.unitPriceWithTax' });
    expect(missingFields(chosen)).not.toContain('line.unitPrice');
  });

  it('that the service added are known', () => {
    const columns = recognizeColumns(['Client', ...Object.values(RESULT_COLUMNS).map(({ ar }) => ar)], null);
    expect(columns.map(({ isResult }) => isResult)).toEqual([false, true, true, true, true, true]);
    expect(columns.slice(1).every(({ field }) => field === null)).toBe(true);
  });

  it.each(['__proto__', 'constructor', 'toString', ''])('named %j are columns like others', (header) => {
    expect(fieldsOf([header, 'Client'])).toEqual([null, 'customer.name']);
  });
});
