/** The languages of the pages, the default first. */
export const LANGUAGES = ['fr', 'en', 'ar'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Each language's name in that language. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { fr: 'Français', en: 'English', ar: 'العربية' };

/** The locales for formats of dates. All digits are European, as in Morocco. */
export const LOCALES: Readonly<Record<Language, string>> = { fr: 'fr', en: 'en-GB', ar: 'ar-MA-u-nu-latn' };

export const DIRECTIONS: Readonly<Record<Language, 'ltr' | 'rtl'>> = { fr: 'ltr', en: 'ltr', ar: 'rtl' };

/**
 * Chooses the language of a page: the one in its address (`?lang=ar`), otherwise the first supported one of the
 * reader's, otherwise French.
 * @param preferred language tags, the reader's favourite first: `['ar-MA', 'fr']`
 */
export function chooseLanguage(search: string, preferred: readonly string[]): Language {
  const asked = new URLSearchParams(search).get('lang');
  const wanted = [asked, ...preferred].map((tag) => tag?.toLowerCase().split('-', 1)[0]);
  return wanted.map((name) => LANGUAGES.find((each) => each === name)).find((found) => found !== undefined) ?? 'fr';
}
