import type { DocumentLanguage } from '../domain/document-language.ts';

interface CreditedLabels {
  readonly inPart: string;
  readonly inWhole: string;
}

/** Labels for the amounts that accepted credit notes credit, on pages, in the embedded element and for verification. */
export const CREDITED_LABELS: Readonly<Record<DocumentLanguage, CreditedLabels>> = {
  fr: { inPart: 'Créditée en partie', inWhole: 'Créditée en totalité' },
  ar: { inPart: 'مُلغاة جزئيا بإشعار دائن', inWhole: 'مُلغاة كليا بإشعار دائن' },
  en: { inPart: 'Credited in part', inWhole: 'Credited in full' },
};
