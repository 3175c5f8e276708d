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
    familiar: [...FAMILIAR_WORDS],
  },
});

/** Entry point of the thread of `createPasswordJudge`. @returns whether the password is easy to guess */
export default function judge({ password, words }: PasswordTask): boolean {
  // Signs with several forms (é, or e with an accent; full-width letters) are one.
  return zxcvbn.check(password.normalize('NFKC'), [...words]).guessesLog10 < LEAST_DIGITS;
}
