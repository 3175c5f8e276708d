import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import arabic from '@zxcvbn-ts/language-ar';
import { adjacencyGraphs, dictionary as common } from '@zxcvbn-ts/language-common';
import { dictionary as english } from '@zxcvbn-ts/language-en';
import { dictionary as french } from '@zxcvbn-ts/language-fr';
import { FAMILIAR_WORDS } from './familiar-words.ts';
import type { PasswordTask } from './password-judge.ts';

/**
 * Decimal digits of the number of guesses that a password must need: ten times zxcvbn's bound of "safely unguessable".
 */
const LEAST_DIGITS = 9;

const zxcvbn = new ZxcvbnFactory({
  graphs: adjacencyGraphs,
  dictionary: {
    ...common,
    ...english,
    ...french,
    // The package's other list of Arabic names is empty.
    'firstnames-ar': arabic.dictionary.firstnames,
    'lastnames-ar': arabic.dictionary.lastnames,
    familiar: FAMILIAR_WORDS.flatMap((word) => (/\s/.test(word) ? [word, word.replaceAll(' ', '')] : [word])),
  },
});

/**
 * Matches separators between words. zxcvbn counts each as a character to guess, so `casa-blanca-2026` would seem hard.
 */
const SEPARATORS = /[\s\p{Dash_Punctuation}._]/gu;
/** Decimal digits of the number of choices for a separator: a space, a hyphen, a full stop, an underscore, none. */
const SEPARATOR_DIGITS = Math.log10(5);

/**
 * The task of the thread of `createPasswordJudge`.
 * @returns whether the password is easy to guess, with its separators or without them
 */
export default function judge({ password, judged, words }: PasswordTask): boolean {
  // Unifies characters with several forms (é, or e with an accent; full-width letters). One character may also become
  // many.
  const text = password.normalize('NFKC').slice(0, judged);
  const digitsOf = (each: string) => zxcvbn.check(each, [...words]).guessesLog10;
  if (digitsOf(text) < LEAST_DIGITS) return true;
  const joined = text.replace(SEPARATORS, '');
  return joined !== text && digitsOf(joined) + SEPARATOR_DIGITS < LEAST_DIGITS;
}
