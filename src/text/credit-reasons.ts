import type { DocumentLanguage } from '../domain/document-language.ts';
import type { CreditReason } from '../domain/invoice/credit.ts';

/** The reasons for crediting an invoice, as documents, mails and pages state them. */
export const CREDIT_REASON_TEXTS: Readonly<Record<CreditReason, Readonly<Record<DocumentLanguage, string>>>> = {
  error: {
    fr: 'Erreur de facturation',
    ar: 'خطأ في الفوترة',
    en: 'Billing error',
  },
  return: {
    fr: 'Retour de marchandises',
    ar: 'إرجاع البضائع',
    en: 'Return of goods',
  },
  cancellation: {
    fr: 'Annulation de la vente',
    ar: 'إلغاء البيع',
    en: 'Cancellation of the sale',
  },
  discount: {
    fr: 'Remise accordée après facturation',
    ar: 'تخفيض ممنوح بعد الفوترة',
    en: 'Discount granted after invoicing',
  },
  other: {
    fr: 'Autre motif',
    ar: 'سبب آخر',
    en: 'Other reason',
  },
};
