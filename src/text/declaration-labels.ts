import type { DocumentLanguage } from '../domain/document-language.ts';
import type { Kind } from '../domain/invoice/kinds.ts';

interface DeclarationLabels {
  readonly document: string;
  readonly kinds: Readonly<Record<Kind, string>>;
  readonly number: string;
  readonly date: string;
  readonly customer: string;
  readonly ice: string;
  /** The amounts at a rate of VAT, in percent. */
  readonly netAt: (percent: number) => string;
  readonly taxAt: (percent: number) => string;
  /** The amount that has no VAT. */
  readonly exempt: string;
  readonly net: string;
  readonly tax: string;
  readonly gross: string;
  readonly payment: string;
  readonly dgiId: string;
  /** Before the sums of all rows. */
  readonly sums: string;
}

/** The headings of the file for the declaration of VAT. */
export const DECLARATION_LABELS: Readonly<Record<DocumentLanguage, DeclarationLabels>> = {
  fr: {
    document: 'Document',
    kinds: { invoice: 'Facture', credit_note: 'Avoir' },
    number: 'Numéro',
    date: 'Date d’émission',
    customer: 'Client',
    ice: 'ICE',
    netAt: (percent) => `HT à ${percent}\u00a0%`,
    taxAt: (percent) => `TVA à ${percent}\u00a0%`,
    exempt: 'HT exonéré ou à 0\u00a0%',
    net: 'Total HT',
    tax: 'TVA',
    gross: 'Total TTC',
    payment: 'Moyen de paiement',
    dgiId: 'Identifiant DGI',
    sums: 'Total',
  },
  en: {
    document: 'Document',
    kinds: { invoice: 'Invoice', credit_note: 'Credit note' },
    number: 'Number',
    date: 'Date of issue',
    customer: 'Customer',
    ice: 'ICE',
    netAt: (percent) => `Net at ${percent}%`,
    taxAt: (percent) => `VAT at ${percent}%`,
    exempt: 'Net exempt or at 0%',
    net: 'Total excl. VAT',
    tax: 'VAT',
    gross: 'Total incl. VAT',
    payment: 'Means of payment',
    dgiId: 'DGI identifier',
    sums: 'Total',
  },
  ar: {
    document: 'الوثيقة',
    kinds: { invoice: 'فاتورة', credit_note: 'إشعار دائن' },
    number: 'الرقم',
    date: 'تاريخ الإصدار',
    customer: 'الزبون',
    ice: 'التعريف الموحد للمقاولة (ICE)',
    netAt: (percent) => `المبلغ دون الرسوم بنسبة ${percent}\u00a0%`,
    taxAt: (percent) => `الضريبة بنسبة ${percent}\u00a0%`,
    exempt: 'المبلغ المعفى أو بنسبة 0\u00a0%',
    net: 'المجموع دون احتساب الرسوم',
    tax: 'الضريبة على القيمة المضافة',
    gross: 'المجموع مع احتساب الرسوم',
    payment: 'وسيلة الأداء',
    dgiId: 'معرف المديرية العامة للضرائب',
    sums: 'المجموع',
  },
};
