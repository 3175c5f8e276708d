import type { CustomerKind } from '../../domain/invoice/customer-kind.ts';
import type { Language } from './languages.ts';

interface CustomerTexts {
  readonly kind: string;
  readonly kinds: Readonly<Record<CustomerKind, string>>;
  readonly country: string;
  readonly taxNumber: string;
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
    kind: 'Type de client',
    kinds: { company: 'Entreprise au Maroc', person: 'Particulier au Maroc', foreign: 'Client à l’étranger' },
    country: 'Pays',
    taxNumber: 'Numéro fiscal',
    taxNumberField: 'Numéro fiscal (facultatif)',
    exemption: 'Exonération',
    ofProfile: 'Motif du profil',
    certificateNumber: 'N° de l’attestation',
    certificateDate: 'Date de l’attestation',
  },
  en: {
    kind: 'Kind of customer',
    kinds: { company: 'Company in Morocco', person: 'Private person in Morocco', foreign: 'Customer abroad' },
    country: 'Country',
    taxNumber: 'Tax number',
    taxNumberField: 'Tax number (optional)',
    exemption: 'Exemption',
    ofProfile: 'Reason of the profile',
    certificateNumber: 'No. of the certificate',
    certificateDate: 'Date of the certificate',
  },
  ar: {
    kind: 'نوع الزبون',
    kinds: { company: 'مقاولة في المغرب', person: 'شخص عادي في المغرب', foreign: 'زبون في الخارج' },
    country: 'البلد',
    taxNumber: 'الرقم الضريبي',
    taxNumberField: 'الرقم الضريبي (اختياري)',
    exemption: 'الإعفاء',
    ofProfile: 'السبب المذكور في الملف',
    certificateNumber: 'رقم الشهادة',
    certificateDate: 'تاريخ الشهادة',
  },
};
