import type { UnshownCharacters } from '../../domain/invoice/unprintable-warnings.ts';
import { replacedCharacters } from '../../text/markup.ts';
import { undrawableCharacters } from './drawable-text.ts';

/** The characters of a text in whose place the PDF shows U+FFFD, by the rules that the page is written with. */
export const unshownCharacters: UnshownCharacters = async (text) => ({
  withoutFont: await undrawableCharacters(text),
  distorting: replacedCharacters(text),
});
