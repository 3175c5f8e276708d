import type { Language } from './languages.ts';

interface TermTexts {
  /** The payment means of an invoice that states none. */
  readonly ofProfile: string;
  readonly address: string;
}

/** The texts about the terms and the customer's address in a form. The fields themselves have the names of the pages. */
export const TERM_TEXTS: Readonly<Record<Language, TermTexts>> = {
  fr: { ofProfile: 'Celui du profil', address: 'Adresse du client (facultatif)' },
  en: { ofProfile: 'That of the profile', address: 'Customer’s address (optional)' },
  ar: { ofProfile: 'المذكورة في الملف', address: 'عنوان الزبون (اختياري)' },
};
