import type { UnshownCharacters } from '../../domain/invoice/unprintable-warnings.ts';
import { replacedCharacters } from '../../text/markup.ts';
import { undrawableCharacters } from './drawable-text.ts';

/** Returns the characters of a text that the PDF replaces by U+FFFD, by the same rules by which the page is written. */
export const unshownCharacters: UnshownCharacters = async (text) => ({
  withoutFont: await undrawableCharacters(text),
  distorting: replacedCharacters(text),
});
