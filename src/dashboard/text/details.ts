import type { TypedDetails } from '../creation/typed-details.ts';
import type { Language } from './languages.ts';

const fr = {
  /** The text that opens the fields. */
  more: 'Plus de détails',
  labels: {
    order: 'N° de commande du client',
    contract: 'N° du contrat',
    periodFrom: 'Début de la période',
    periodTo: 'Fin de la période',
    foreignCurrency: 'Autre devise',
    foreignAmount: 'Total dans cette devise',
    foreignRate: 'Cours (MAD pour une unité)',
    foreignDate: 'Date du cours',
    withheldPercent: 'TVA retenue par le client (75 ou 100 %)',
    regularityNumber: 'N° de votre attestation de régularité fiscale',
    regularityDate: 'Date de cette attestation',
  } satisfies Record<keyof TypedDetails, string>,
  /** The value of an invoice in another currency. */
  foreignValue: 'Valeur en devise',
  /** The faults of an amount in another currency, of a period, and of the days of a rate and a certificate. */
  faults: {
    amount: 'À ce cours, ce n’est pas le montant de la facture.',
    period: 'La période finit avant de commencer, ou est trop éloignée de la date de la facture.',
    rateDate: 'Le cours est celui de la date de la facture, ou d’un an avant au plus.',
    certificate: 'L’attestation est de la date de la facture, ou de dix ans avant au plus.',
  },
};

const en: typeof fr = {
  more: 'More details',
  labels: {
    order: 'Customer’s order number',
    contract: 'Contract number',
    periodFrom: 'First day of the period',
    periodTo: 'Last day of the period',
    foreignCurrency: 'Other currency',
    foreignAmount: 'Total in this currency',
    foreignRate: 'Rate (MAD for one unit)',
    foreignDate: 'Date of the rate',
    withheldPercent: 'VAT withheld by the customer (75 or 100%)',
    regularityNumber: 'No. of your certificate of tax regularity',
    regularityDate: 'Date of this certificate',
  },
  foreignValue: 'Value in another currency',
  faults: {
    amount: 'At this rate it is not the amount of the invoice.',
    period: 'The period ends before it begins, or is too far from the date of the invoice.',
    rateDate: 'The rate is that of the date of the invoice, or of at most one year before.',
    certificate: 'The certificate is of the date of the invoice, or of at most ten years before.',
  },
};

const ar: typeof fr = {
  more: 'تفاصيل أخرى',
  labels: {
    order: 'رقم طلبية الزبون',
    contract: 'رقم العقد',
    periodFrom: 'بداية الفترة',
    periodTo: 'نهاية الفترة',
    foreignCurrency: 'عملة أخرى',
    foreignAmount: 'المجموع بهذه العملة',
    foreignRate: 'سعر الصرف (درهم للوحدة)',
    foreignDate: 'تاريخ سعر الصرف',
    withheldPercent: 'الضريبة التي يحجزها الزبون (75 أو 100 %)',
    regularityNumber: 'رقم شهادة سلامة وضعيتكم الجبائية',
    regularityDate: 'تاريخ هذه الشهادة',
  },
  foreignValue: 'القيمة بالعملة',
  faults: {
    amount: 'بهذا السعر لا يساوي مبلغ الفاتورة.',
    period: 'تنتهي الفترة قبل بدايتها، أو هي بعيدة جدا عن تاريخ الفاتورة.',
    rateDate: 'سعر الصرف هو سعر تاريخ الفاتورة، أو سنة قبله على الأكثر.',
    certificate: 'الشهادة بتاريخ الفاتورة، أو عشر سنوات قبله على الأكثر.',
  },
};

/** The texts about details that few invoices state. */
export const DETAIL_TEXTS: Readonly<Record<Language, typeof fr>> = { fr, en, ar };
