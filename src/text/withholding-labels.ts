import type { DocumentLanguage } from '../domain/document-language.ts';

interface WithholdingLabels {
  /** The VAT that the buyer withholds, before its percentage. */
  readonly withheld: string;
  /** The amount of the invoice before that, where a page does not say what leads to it. */
  readonly total: string;
  /** The same after its rounding, which the amount in words states. */
  readonly roundedTotal: string;
  /** The amount in words, which is the total and not what is left to pay. */
  readonly totalInWords: string;
  /** Before the number of the seller's certificate of tax regularity. */
  readonly certificate: string;
}

/** The texts about the VAT that a buyer withholds, in the PDF, the mail and the pages. */
export const WITHHOLDING_LABELS: Readonly<Record<DocumentLanguage, WithholdingLabels>> = {
  fr: {
    withheld: 'TVA retenue à la source',
    total: 'Total TTC',
    roundedTotal: 'Total TTC arrondi',
    totalInWords: 'Arrêtée la présente facture à la somme TTC de :',
    certificate: 'Attestation de régularité fiscale n°',
  },
  ar: {
    withheld: 'الضريبة المحجوزة من المنبع',
    total: 'المجموع مع احتساب الرسوم',
    roundedTotal: 'المجموع مع احتساب الرسوم بعد التقريب',
    totalInWords: 'حصرت هذه الفاتورة مع احتساب الرسوم في مبلغ:',
    certificate: 'شهادة سلامة الوضعية الجبائية رقم',
  },
  en: {
    withheld: 'VAT withheld by the buyer',
    total: 'Total incl. VAT',
    roundedTotal: 'Rounded total incl. VAT',
    totalInWords: 'Total incl. VAT, in words:',
    certificate: 'Certificate of tax regularity no.',
  },
};
