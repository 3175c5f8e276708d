import type { Invoice } from '../invoice.ts';
import { compact, firstOf, folded, reversed, wordsOf } from './fold.ts';

/**
 * The terms by which an invoice is found. They are stored with it, in one array with one index, so a term begins with a
 * letter for its kind.
 */
export const TERM = {
  /** A word of the customer's name, of a reference or of the metadata. */
  word: 'w',
  /** The first letters of a word; {@link HEADS} states how many. */
  head: 'p',
  /** The letters and digits of the number, from the end. */
  number: 'n',
  /** The last characters of the number, from the end; {@link TAILS} states how many. */
  tail: 'e',
  /** Some digits of the ICE, at the places of {@link ICE_PLACES}. */
  ice: 'i',
  /** The letters and digits of the authority's id, from the end. */
  dgiId: 'd',
} as const;

/** A stored beginning of a word gives the order of all invoices with such a word, however many there are. */
export const HEADS = [2, 4] as const;
export const TAILS = [2, 3] as const;
/**
 * Places in an ICE at which the stored groups of {@link ICE_GROUP} digits begin: any six digits in a row contain a
 * whole one.
 */
export const ICE_PLACES = [0, 3, 6, 9] as const;
export const ICE_GROUP = 4;

/** Maximum number of words of the customer's name, and of all references and metadata together. */
const MOST_WORDS = { name: 16, other: 24 };
/** Maximum length of an identifier that is compared from its end. */
const LONGEST_NUMBER = 40;
/** Maximum length of a text that is read for words. */
const LONGEST_TEXT = 400;
const ARTICLE = 'ال';

type Searched = Pick<Invoice, 'customer' | 'metadata' | 'references' | 'terms' | 'number' | 'dgiId'>;

/** Returns the terms of an invoice in its present state. Its number and the authority's id add some. */
export function termsOf({ customer, metadata, references, terms, number, dgiId }: Searched): string[] {
  const { order, contract } = references ?? {};
  const others = [order, contract, terms.paymentReference, ...Object.values(metadata)];
  const words = [
    ...takeWords([customer.name], MOST_WORDS.name),
    ...takeWords(
      others.flatMap((each) => each ?? []),
      MOST_WORDS.other,
    ),
  ];
  const ice = customer.ice ?? '';
  const groups = ice === '' ? [] : ICE_PLACES.map((place) => `${TERM.ice}${ice.slice(place, place + ICE_GROUP)}`);
  const numberEnd = number === null ? null : endOf(number);
  return [
    ...new Set([
      ...words.flatMap(termsOfWord),
      ...groups,
      ...(numberEnd === null ? [] : [`${TERM.number}${numberEnd}`, ...tailsOf(numberEnd)]),
      ...(dgiId === null ? [] : [`${TERM.dgiId}${endOf(dgiId)}`]),
    ]),
  ];
}

function takeWords(texts: readonly string[], most: number): string[] {
  const words: string[] = [];
  for (const text of texts) {
    if (words.length >= most) break;
    words.push(...wordsOf(folded(text.slice(0, LONGEST_TEXT))));
  }
  return words.slice(0, most).flatMap((word) => (hasArticle(word) ? [word, word.slice(ARTICLE.length)] : [word]));
}

/** A name with the Arabic article is found without it, too. */
function hasArticle(word: string): boolean {
  return word.startsWith(ARTICLE) && word.length > ARTICLE.length + 2;
}

/** Returns the letters and digits of an identifier, from the end. */
export function endOf(identifier: string): string {
  return firstOf(reversed(compact(folded(identifier))), LONGEST_NUMBER);
}

function tailsOf(end: string): string[] {
  return TAILS.filter((length) => end.length >= length).map((length) => `${TERM.tail}${firstOf(end, length)}`);
}

function termsOfWord(word: string): string[] {
  const heads = HEADS.filter((length) => word.length >= length);
  return [`${TERM.word}${word}`, ...heads.map((length) => `${TERM.head}${firstOf(word, length)}`)];
}
