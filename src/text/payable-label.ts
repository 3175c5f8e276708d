import type { DocumentLanguage } from '../domain/document-language.ts';

/**
 * What the PDF, the mail and the verification page call the amount payable: the total including tax with its rounding
 * (docs/decisions/0012). Readers compare the three, so they have one name for it.
 */
export const PAYABLE_LABEL: Readonly<Record<DocumentLanguage, string>> = {
  fr: 'Net à payer',
  ar: 'المبلغ الواجب أداؤه',
  en: 'Amount due',
};
