import type { DocumentLanguage } from '../domain/document-language.ts';

interface ParticularLabels {
  /** The number of the buyer's order. */
  readonly order: string;
  readonly contract: string;
  readonly servicePeriod: string;
  /** Between two days. */
  readonly to: string;
  /** Before the amount in another currency. */
  readonly foreignValue: string;
  /** Between the rate and its day. */
  readonly rateOf: string;
}

/** The names of what an invoice may state beside its lines and its payment, in the PDF. */
export const PARTICULAR_LABELS: Readonly<Record<DocumentLanguage, ParticularLabels>> = {
  fr: {
    order: 'Commande',
    contract: 'Contrat',
    servicePeriod: 'Période',
    to: 'au',
    foreignValue: 'Valeur convenue :',
    rateOf: ', cours du',
  },
  ar: {
    order: 'رقم الطلبية',
    contract: 'رقم العقد',
    servicePeriod: 'الفترة',
    to: 'إلى',
    foreignValue: 'القيمة المتفق عليها:',
    rateOf: '، سعر الصرف ليوم',
  },
  en: {
    order: 'Order',
    contract: 'Contract',
    servicePeriod: 'Period',
    to: 'to',
    foreignValue: 'Value agreed on:',
    rateOf: ', rate of',
  },
};
