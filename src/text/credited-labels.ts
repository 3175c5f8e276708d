import type { DocumentLanguage } from '../domain/document-language.ts';

interface CreditedLabels {
  readonly inPart: string;
  readonly inWhole: string;
}

/** What accepted credit notes credit of an invoice, on pages, in the element of other sites and for verification. */
export const CREDITED_LABELS: Readonly<Record<DocumentLanguage, CreditedLabels>> = {
  fr: { inPart: 'Créditée en partie', inWhole: 'Créditée en totalité' },
  ar: { inPart: 'مُلغاة جزئيا بإشعار دائن', inWhole: 'مُلغاة كليا بإشعار دائن' },
  en: { inPart: 'Credited in part', inWhole: 'Credited in full' },
};
