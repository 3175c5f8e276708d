import { type Centimes, decimalOf } from './money.ts';

/** The languages of what receivers read: the PDF, its mail, the page that verifies it. */
export const DOCUMENT_LANGUAGES = ['fr', 'ar', 'en'] as const;
export type DocumentLanguage = (typeof DOCUMENT_LANGUAGES)[number];

/** Morocco writes Arabic with Latin digits. */
const LOCALES: Readonly<Record<DocumentLanguage, string>> = { fr: 'fr', ar: 'ar-MA-u-nu-latn', en: 'en-GB' };
const TIME_ZONE = 'Africa/Casablanca';

/** The direction in which a language is written, as HTML's `dir` names it. */
export function directionOf(language: DocumentLanguage): 'ltr' | 'rtl' {
  return language === 'ar' ? 'rtl' : 'ltr';
}

/** `123456` → `1 234,56 MAD`. */
export function localMoney(centimes: Centimes, language: DocumentLanguage): string {
  const format = new Intl.NumberFormat(LOCALES[language], { minimumFractionDigits: 2 });
  // A decimal string, because a float can't hold every amount.
  return `${format.format(decimalOf(centimes) as Intl.StringNumericLiteral)}\u00a0MAD`;
}

/** `2026-11-21` → `21 novembre 2026`. @param date a calendar date, `YYYY-MM-DD` */
export function localDate(date: string, language: DocumentLanguage): string {
  const format = new Intl.DateTimeFormat(LOCALES[language], { timeZone: 'UTC', dateStyle: 'long' });
  return format.format(new Date(`${date}T00:00:00Z`));
}

/** `21 novembre 2026 à 13:05`, the time of Casablanca. */
export function localMoment(at: Date, language: DocumentLanguage): string {
  const format = new Intl.DateTimeFormat(LOCALES[language], {
    timeZone: TIME_ZONE,
    dateStyle: 'long',
    timeStyle: 'short',
  });
  return format.format(at);
}
