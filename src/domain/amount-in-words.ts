import { amountInArabicWords } from './arabic-words.ts';
import type { DocumentLanguage } from './document-language.ts';
import { amountInEnglishWords } from './english-words.ts';
import { amountInFrenchWords } from './french-words.ts';
import type { Centimes } from './money.ts';

const IN_WORDS: Readonly<Record<DocumentLanguage, (centimes: Centimes) => string>> = {
  fr: amountInFrenchWords,
  ar: amountInArabicWords,
  en: amountInEnglishWords,
};

/**
 * The amount in words of a language, dirhams and centimes.
 * @param centimes a whole number from 0 to `MAX_CENTIMES`
 * @throws {RangeError} for anything else
 */
export function amountInWords(centimes: Centimes, language: DocumentLanguage): string {
  return IN_WORDS[language](centimes);
}
