import type { DocumentLanguage } from './document-language.ts';

interface Means {
  /** UNCL4461 code for UBL's PaymentMeansCode. */
  readonly code: string;
  /** Default words on documents. */
  readonly words: Readonly<Record<DocumentLanguage, string>>;
}

/** The payment means of invoices, one row each. */
export const PAYMENT_MEANS = {
  transfer: { code: '30', words: { fr: 'Virement bancaire', ar: 'تحويل بنكي', en: 'Bank transfer' } },
  cheque: { code: '20', words: { fr: 'Chèque', ar: 'شيك', en: 'Cheque' } },
  cash: { code: '10', words: { fr: 'Espèces', ar: 'نقدا', en: 'Cash' } },
  card: { code: '48', words: { fr: 'Carte bancaire', ar: 'بطاقة بنكية', en: 'Bank card' } },
  direct_debit: { code: '49', words: { fr: 'Prélèvement', ar: 'اقتطاع بنكي', en: 'Direct debit' } },
  bill_of_exchange: { code: '24', words: { fr: 'Lettre de change', ar: 'كمبيالة', en: 'Bill of exchange' } },
  promissory_note: { code: '60', words: { fr: 'Billet à ordre', ar: 'سند لأمر', en: 'Promissory note' } },
  clearing: { code: '97', words: { fr: 'Compensation', ar: 'مقاصة', en: 'Set-off' } },
  online: { code: '68', words: { fr: 'Paiement en ligne', ar: 'أداء إلكتروني', en: 'Online payment' } },
} as const satisfies Readonly<Record<string, Means>>;

export type PaymentMeans = keyof typeof PAYMENT_MEANS;
export const PAYMENT_MEANS_NAMES = Object.keys(PAYMENT_MEANS) as [PaymentMeans, ...PaymentMeans[]];

/**
 * Returns the code that a document states (UNCL4461). A transfer without an account is 42, because 30 requires one (EN
 * 16931, BR-61).
 * @param means null gives 1, "instrument not defined"
 */
export function paymentMeansCode(means: PaymentMeans | null, hasAccount: boolean): string {
  if (means === null) return '1';
  return means === 'transfer' && !hasAccount ? '42' : PAYMENT_MEANS[means].code;
}
