import { CUSTOMER_LABELS } from '../../text/customer-labels.ts';
import type { Language } from './languages.ts';

const fr = {
  ...CUSTOMER_LABELS.fr,
  /** The label of its field. */
  taxNumberField: 'Numéro fiscal (facultatif)',
  exemption: 'Exonération',
  /** The exemption of a line that leaves the reason to the profile. */
  ofProfile: 'Motif du profil',
  certificateNumber: 'N° de l’attestation',
  certificateDate: 'Date de l’attestation',
};

const en: typeof fr = {
  ...CUSTOMER_LABELS.en,
  taxNumberField: 'Tax number (optional)',
  exemption: 'Exemption',
  ofProfile: 'Reason of the profile',
  certificateNumber: 'No. of the certificate',
  certificateDate: 'Date of the certificate',
};

const ar: typeof fr = {
  ...CUSTOMER_LABELS.ar,
  taxNumberField: 'الرقم الضريبي (اختياري)',
  exemption: 'الإعفاء',
  ofProfile: 'السبب المذكور في الملف',
  certificateNumber: 'رقم الشهادة',
  certificateDate: 'تاريخ الشهادة',
};

/** The texts about the kind of a customer, and the reason why a line has no VAT. */
export const CUSTOMER_TEXTS: Readonly<Record<Language, typeof fr>> = { fr, en, ar };
