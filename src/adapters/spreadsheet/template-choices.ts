import type { DocumentLanguage } from '../../domain/document-language.ts';
import type { ColumnKind } from '../../domain/imports/columns.ts';
import { rateInForce, TAX_RATES } from '../../domain/invoice/tax-rate.ts';
import { UNIT_CODES, UNITS } from '../../domain/invoice/units.ts';
import { EXEMPTIONS } from '../../domain/morocco/exemptions.ts';
import { PAYMENT_MEANS } from '../../domain/payment-means.ts';
import { CUSTOMER_LABELS } from '../../text/customer-labels.ts';

/** The list of values that cells of a kind offer. */
export interface ChoiceList {
  readonly kind: ColumnKind;
  readonly values: readonly (string | number)[];
}

/** Returns the lists, in words that the reader of files knows. Rates no longer in force are read, but not offered. */
export function choicesOf(language: DocumentLanguage): readonly ChoiceList[] {
  const rates = TAX_RATES.filter((rate) => rateInForce(rate)?.until === undefined).toReversed();
  return [
    { kind: 'unit', values: UNIT_CODES.map((code) => UNITS[code][language]) },
    { kind: 'taxRate', values: rates },
    { kind: 'customerKind', values: Object.values(CUSTOMER_LABELS[language].kinds) },
    { kind: 'paymentMeans', values: Object.values(PAYMENT_MEANS).map(({ words }) => words[language]) },
    { kind: 'exemption', values: Object.values(EXEMPTIONS).map((exemption) => exemption[language]) },
  ];
}
