import type { DocumentLanguage } from '../../domain/document-language.ts';
import type { ImportField } from '../../domain/imports/columns.ts';
import { UNITS } from '../../domain/invoice/units.ts';
import { PAYMENT_MEANS } from '../../domain/payment-means.ts';
import type { Day } from '../../text/csv.ts';
import { TEMPLATE_TEXTS } from '../../text/import-template.ts';

type Value = string | number | Day | null;

/** Returns the cells of a column in the two lines of the example invoice. */
export function exampleOf(field: ImportField, language: DocumentLanguage): readonly [Value, Value] {
  const { sold, buyer, address } = TEMPLATE_TEXTS[language];
  const example: Partial<Record<ImportField, readonly [Value, Value]>> = {
    document: ['A', 'A'],
    'customer.name': [buyer, null],
    'customer.ice': ['001234567000062', null],
    'customer.address': [address, null],
    'line.description': sold,
    'line.quantity': [2.5, 120],
    'line.unit': [UNITS.DAY[language], UNITS.KMT[language]],
    'line.unitPrice': [4000, 2.5],
    'line.taxRate': [20, 20],
    'terms.operationDate': [{ day: '2026-11-28' }, null],
    'terms.dueDate': [{ day: '2026-12-28' }, null],
    'terms.paymentMeans': [PAYMENT_MEANS.transfer.words[language], null],
    'references.order': ['BC-1042', null],
    amount: [12_360, null],
  };
  return example[field] ?? [null, null];
}
