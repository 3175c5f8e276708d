import type { DocumentLanguage } from '../domain/document-language.ts';

interface CreditLabels {
  /** The invoice that the credit note corrects. */
  readonly original: string;
  /** The invoice that this one replaces. */
  readonly replaced: string;
  /** The invoice that replaces this one. */
  readonly replacedBy: string;
  readonly reason: string;
}

/** The labels that occur only in corrections, in the PDF, the mail and the verification page. */
export const CREDIT_LABELS: Readonly<Record<DocumentLanguage, CreditLabels>> = {
  fr: {
    original: 'Facture d’origine',
    replaced: 'Remplace la facture',
    replacedBy: 'Remplacée par la facture',
    reason: 'Motif de l’avoir',
  },
  ar: {
    original: 'الفاتورة الأصلية',
    replaced: 'تحل محل الفاتورة',
    replacedBy: 'حلت محلها الفاتورة',
    reason: 'سبب الإشعار',
  },
  en: {
    original: 'Original invoice',
    replaced: 'Replaces the invoice',
    replacedBy: 'Replaced by the invoice',
    reason: 'Reason for the credit',
  },
};
