import type { DocumentLanguage } from '../domain/document-language.ts';

/**
 * The name of the amount payable in the PDF, the mail and the verification page: the total including tax with its
 * rounding (docs/decisions/0012). Readers compare the three, so all use one name.
 */
export const PAYABLE_LABEL: Readonly<Record<DocumentLanguage, string>> = {
  fr: 'Net à payer',
  ar: 'المبلغ الواجب أداؤه',
  en: 'Amount due',
};
