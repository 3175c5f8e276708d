/** Languages of the labels on the printed invoice and of mails. */
export const DOCUMENT_LANGUAGES = ['fr', 'ar', 'en'] as const;
export type DocumentLanguage = (typeof DOCUMENT_LANGUAGES)[number];
