import type { DocumentLanguage } from '../domain/document-language.ts';
import type { Kind } from '../domain/invoice/kinds.ts';

/**
 * The name of the amount of a document in the PDF, the mail and the verification page: the total including tax with its
 * rounding (docs/decisions/0012). The customer pays that of an invoice, and a credit note is in the customer's favour.
 * Readers compare the three, so all use one name.
 */
export const PAYABLE_LABEL: Readonly<Record<Kind, Readonly<Record<DocumentLanguage, string>>>> = {
  invoice: {
    fr: 'Net à payer',
    ar: 'المبلغ الواجب أداؤه',
    en: 'Amount due',
  },
  credit_note: {
    fr: 'Montant en votre faveur',
    ar: 'المبلغ المستحق لفائدتكم',
    en: 'Amount in your favour',
  },
};
