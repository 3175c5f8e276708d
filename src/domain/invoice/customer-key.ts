/** Maximum length of the searched part of a name, in characters. */
const LONGEST = 100;

/**
 * Normalizes a customer's name for searches: without case, accents, vowel signs and punctuation, and with single
 * spaces. Names with the same key are found together. The key has up to 100 characters.
 */
export function customerKey(name: string): string {
  const plain = name
    .slice(0, 4 * LONGEST)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase();
  return plain
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .slice(0, LONGEST);
}
