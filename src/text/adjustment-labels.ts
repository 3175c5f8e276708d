import type { DocumentLanguage } from '../domain/document-language.ts';

interface AdjustmentLabels {
  /** The sum of the lines, excluding tax. */
  readonly lines: string;
  /** A reduction of that sum. */
  readonly discount: string;
  /** What is added to that sum. */
  readonly charge: string;
}

/** The names of what leads from the lines to the total, in the PDF and on the page of an invoice. */
export const ADJUSTMENT_LABELS: Readonly<Record<DocumentLanguage, AdjustmentLabels>> = {
  fr: { lines: 'Total des lignes HT', discount: 'Remise', charge: 'Frais' },
  ar: { lines: 'مجموع السطور دون رسوم', discount: 'خصم', charge: 'مصاريف' },
  en: { lines: 'Total of lines excl. VAT', discount: 'Discount', charge: 'Charge' },
};
