import type { DocumentLanguage } from '../domain/document-language.ts';
import type { Centimes } from '../domain/money.ts';
import { amountInArabicWords } from './arabic-words.ts';
import { amountInEnglishWords } from './english-words.ts';
import { amountInFrenchWords } from './french-words.ts';

const IN_WORDS: Readonly<Record<DocumentLanguage, (centimes: Centimes) => string>> = {
  fr: amountInFrenchWords,
  ar: amountInArabicWords,
  en: amountInEnglishWords,
};

/**
 * Writes an amount of dirhams and centimes in the words of a language.
 * @param centimes a whole number from 0 to `MAX_CENTIMES`
 * @throws {RangeError} for anything else
 */
export function amountInWords(centimes: Centimes, language: DocumentLanguage): string {
  return IN_WORDS[language](centimes);
}
