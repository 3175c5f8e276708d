import type { TypedDetails } from '../creation/typed-details.ts';
import type { Language } from './languages.ts';

interface DetailTexts {
  /** Of what opens the fields. */
  readonly more: string;
  readonly labels: Readonly<Record<keyof TypedDetails, string>>;
  /** The value of an invoice in another currency. */
  readonly foreignValue: string;
  /** What is wrong with an amount in another currency, with a period and with the day of a rate. */
  readonly faults: Readonly<Record<'amount' | 'period' | 'rateDate', string>>;
}

/** The texts about what few invoices state. */
export const DETAIL_TEXTS: Readonly<Record<Language, DetailTexts>> = {
  fr: {
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
    },
    foreignValue: 'Valeur en devise',
    faults: {
      amount: 'À ce cours, ce n’est pas le montant de la facture.',
      period: 'La période finit avant de commencer, ou est trop éloignée de la date de la facture.',
      rateDate: 'Le cours est celui de la date de la facture, ou d’un an avant au plus.',
    },
  },
  en: {
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
    },
    foreignValue: 'Value in another currency',
    faults: {
      amount: 'At this rate it is not the amount of the invoice.',
      period: 'The period ends before it begins, or is too far from the date of the invoice.',
      rateDate: 'The rate is that of the date of the invoice, or of at most one year before.',
    },
  },
  ar: {
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
    },
    foreignValue: 'القيمة بالعملة',
    faults: {
      amount: 'بهذا السعر لا يساوي مبلغ الفاتورة.',
      period: 'تنتهي الفترة قبل بدايتها، أو هي بعيدة جدا عن تاريخ الفاتورة.',
      rateDate: 'سعر الصرف هو سعر تاريخ الفاتورة، أو سنة قبله على الأكثر.',
    },
  },
};
