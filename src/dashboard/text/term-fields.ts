import type { Language } from './languages.ts';

const fr = {
  /** The payment means of an invoice that states none. */
  ofProfile: 'Celui du profil',
  address: 'Adresse du client (facultatif)',
};

const en: typeof fr = { ofProfile: 'That of the profile', address: 'Customer’s address (optional)' };

const ar: typeof fr = { ofProfile: 'المذكورة في الملف', address: 'عنوان الزبون (اختياري)' };

/**
 * The texts about the terms and the customer's address in a form. The fields themselves have the names of the pages.
 */
export const TERM_TEXTS: Readonly<Record<Language, typeof fr>> = { fr, en, ar };
