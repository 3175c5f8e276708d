import type { DocumentLanguage } from '../domain/document-language.ts';

/** The texts of documents about deposits. */
interface DepositLabels {
  /** The title of a deposit invoice. */
  readonly title: string;
  /** The title of the table of deposits that a final invoice deducts. */
  readonly deducted: string;
  /** The sums before the deduction. */
  readonly saleNet: string;
  readonly saleTax: string;
  readonly saleGross: string;
  /** The sum of the deposits, tax included. */
  readonly less: string;
  readonly number: string;
  readonly date: string;
}

export const DEPOSIT_LABELS: Readonly<Record<DocumentLanguage, DepositLabels>> = {
  fr: {
    title: 'Facture d’acompte',
    deducted: 'Acomptes déduits',
    saleNet: 'Total HT de la vente',
    saleTax: 'TVA de la vente',
    saleGross: 'Total TTC de la vente',
    less: 'Acomptes déduits TTC',
    number: 'Facture d’acompte',
    date: 'Date',
  },
  ar: {
    title: 'فاتورة تسبيق',
    deducted: 'التسبيقات المخصومة',
    saleNet: 'مجموع البيع دون الضريبة',
    saleTax: 'ضريبة البيع',
    saleGross: 'مجموع البيع مع الضريبة',
    less: 'التسبيقات المخصومة مع الضريبة',
    number: 'فاتورة التسبيق',
    date: 'التاريخ',
  },
  en: {
    title: 'Deposit invoice',
    deducted: 'Deposits deducted',
    saleNet: 'Total of the sale, excl. VAT',
    saleTax: 'VAT of the sale',
    saleGross: 'Total of the sale, incl. VAT',
    less: 'Deposits deducted, incl. VAT',
    number: 'Deposit invoice',
    date: 'Date',
  },
};
