/** Letters that Unicode does not decompose, as people write them without the special key. */
const LATIN: Readonly<Record<string, string>> = { æ: 'ae', œ: 'oe', ß: 'ss', ø: 'o', ł: 'l', đ: 'd', ı: 'i' };
/** Arabic letters that people write for one another at the end of words. */
const ARABIC: Readonly<Record<string, string>> = { ى: 'ي', ی: 'ي', ة: 'ه', ک: 'ك' };
const SPECIAL = new RegExp(`[${[...Object.keys(LATIN), ...Object.keys(ARABIC)].join('')}]`, 'g');
const ASCII = /^[\x20-\x7e]*$/;
/** A stroke that lengthens Arabic words, and characters that only direct text. */
const WITHOUT_MEANING = /[\u0640\p{Cf}]/gu;

/** Maximum length of a compared word, in characters. Of a longer word only the beginning counts. */
const LONGEST_WORD = 32;

/**
 * Folds a text for searches: without case, accents, vowel signs and strokes, Arabic letters and digits of all forms in
 * one form. Punctuation stays.
 */
export function folded(text: string): string {
  // Most texts need no more.
  if (ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(WITHOUT_MEANING, '')
    .toLowerCase()
    .replace(SPECIAL, (letter) => LATIN[letter] ?? ARABIC[letter] ?? letter)
    .replace(/[٠-٩۰-۹]/g, (digit) => String((digit.codePointAt(0) ?? 0) % 16));
}

/** Splits a folded text into words of letters and digits. */
export function wordsOf(text: string): string[] {
  return (text.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => firstOf(word, LONGEST_WORD));
}

/** Returns the first characters of a text. Not with `slice`, which may cut a character in two. */
export function firstOf(text: string, count: number): string {
  return text.length <= count ? text : [...text].slice(0, count).join('');
}

/** Returns the letters and digits of a folded text. */
export function compact(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, '');
}

export function reversed(text: string): string {
  return [...text].reverse().join('');
}
