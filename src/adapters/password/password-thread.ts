import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import arabic from '@zxcvbn-ts/language-ar';
import { adjacencyGraphs, dictionary as common } from '@zxcvbn-ts/language-common';
import { dictionary as english } from '@zxcvbn-ts/language-en';
import { dictionary as french } from '@zxcvbn-ts/language-fr';
import { FAMILIAR_WORDS } from './familiar-words.ts';
import type { PasswordTask } from './password-judge.ts';

/** Decimal digits of the guesses that a password must need: ten times zxcvbn's bound of "safely unguessable". */
const LEAST_DIGITS = 9;

const zxcvbn = new ZxcvbnFactory({
  graphs: adjacencyGraphs,
  dictionary: {
    ...common,
    ...english,
    ...french,
    // Its other list is empty.
    'firstnames-ar': arabic.dictionary.firstnames,
    'lastnames-ar': arabic.dictionary.lastnames,
    familiar: FAMILIAR_WORDS.flatMap((word) => (/\s/.test(word) ? [word, word.replaceAll(' ', '')] : [word])),
  },
});

/** What people write between words. To zxcvbn each is a sign that must be guessed: `casa-blanca-2026` would be hard. */
const SEPARATORS = /[\s\p{Dash_Punctuation}._]/gu;
/** Decimal digits of the choices of a separator: a space, a hyphen, a point, an underscore, none. */
const SEPARATOR_DIGITS = Math.log10(5);

/**
 * Entry point of the thread of `createPasswordJudge`.
 * @returns whether the password is easy to guess, with its separators or without them
 */
export default function judge({ password, judged, words }: PasswordTask): boolean {
  // Signs with several forms (é, or e with an accent; full-width letters) are one; one sign may be many, too.
  const text = password.normalize('NFKC').slice(0, judged);
  const digitsOf = (each: string) => zxcvbn.check(each, [...words]).guessesLog10;
  if (digitsOf(text) < LEAST_DIGITS) return true;
  const joined = text.replace(SEPARATORS, '');
  return joined !== text && digitsOf(joined) + SEPARATOR_DIGITS < LEAST_DIGITS;
}
