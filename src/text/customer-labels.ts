import type { DocumentLanguage } from '../domain/document-language.ts';
import type { CustomerKind } from '../domain/invoice/customer-kind.ts';

/** The names of what is stated of a customer beside its name and its ICE. */
interface CustomerLabels {
  readonly kind: string;
  readonly kinds: Readonly<Record<CustomerKind, string>>;
  readonly country: string;
  readonly taxNumber: string;
}

/** These names on the pages and in the files of a period. */
export const CUSTOMER_LABELS: Readonly<Record<DocumentLanguage, CustomerLabels>> = {
  fr: {
    kind: 'Type de client',
    kinds: { company: 'Entreprise au Maroc', person: 'Particulier au Maroc', foreign: 'Client à l’étranger' },
    country: 'Pays',
    taxNumber: 'Numéro fiscal',
  },
  en: {
    kind: 'Kind of customer',
    kinds: { company: 'Company in Morocco', person: 'Private person in Morocco', foreign: 'Customer abroad' },
    country: 'Country',
    taxNumber: 'Tax number',
  },
  ar: {
    kind: 'نوع الزبون',
    kinds: { company: 'مقاولة في المغرب', person: 'شخص عادي في المغرب', foreign: 'زبون في الخارج' },
    country: 'البلد',
    taxNumber: 'الرقم الضريبي',
  },
};
