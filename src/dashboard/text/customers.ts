import { CUSTOMER_LABELS, type CustomerLabels } from '../../text/customer-labels.ts';
import type { Language } from './languages.ts';

interface CustomerTexts extends CustomerLabels {
  /** The label of its field. */
  readonly taxNumberField: string;
  readonly exemption: string;
  /** The exemption of a line that leaves the reason to the profile. */
  readonly ofProfile: string;
  readonly certificateNumber: string;
  readonly certificateDate: string;
}

/** The texts about what a customer is, and why a line has no VAT. */
export const CUSTOMER_TEXTS: Readonly<Record<Language, CustomerTexts>> = {
  fr: {
    ...CUSTOMER_LABELS.fr,
    taxNumberField: 'Numéro fiscal (facultatif)',
    exemption: 'Exonération',
    ofProfile: 'Motif du profil',
    certificateNumber: 'N° de l’attestation',
    certificateDate: 'Date de l’attestation',
  },
  en: {
    ...CUSTOMER_LABELS.en,
    taxNumberField: 'Tax number (optional)',
    exemption: 'Exemption',
    ofProfile: 'Reason of the profile',
    certificateNumber: 'No. of the certificate',
    certificateDate: 'Date of the certificate',
  },
  ar: {
    ...CUSTOMER_LABELS.ar,
    taxNumberField: 'الرقم الضريبي (اختياري)',
    exemption: 'الإعفاء',
    ofProfile: 'السبب المذكور في الملف',
    certificateNumber: 'رقم الشهادة',
    certificateDate: 'تاريخ الشهادة',
  },
};
