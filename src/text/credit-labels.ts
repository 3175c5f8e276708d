import type { DocumentLanguage } from '../domain/document-language.ts';

interface CreditLabels {
  /** The invoice that the credit note corrects. */
  readonly original: string;
  readonly reason: string;
}

/** The names of what only a credit note has, in the PDF, the mail and the verification page. */
export const CREDIT_LABELS: Readonly<Record<DocumentLanguage, CreditLabels>> = {
  fr: { original: 'Facture d’origine', reason: 'Motif de l’avoir' },
  ar: { original: 'الفاتورة الأصلية', reason: 'سبب الإشعار' },
  en: { original: 'Original invoice', reason: 'Reason for the credit' },
};
