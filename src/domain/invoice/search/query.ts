import { serviceError } from '../../errors.ts';
import { kindOfId } from '../kinds.ts';
import { amountOf } from './amounts.ts';
import { LONGEST_SEARCH, MOST_SEARCHED } from './bounds.ts';
import { compact, firstOf, folded, wordsOf } from './fold.ts';
import { endOf, HEADS, ICE_GROUP, ICE_PLACES, TAILS, TERM } from './terms.ts';

/** Maximum number of the parts between punctuation that the words of a search have. */
const MOST_PARTS = 24;

/** The data of an invoice that a search compares. */
export interface SearchedRow {
  readonly id: string;
  /** Centimes. */
  readonly amount: number;
  readonly ice: string | null;
  readonly terms: readonly string[];
}

/** Where invoices are found: by their id or amount, by one of their terms, or by the beginning of one. */
export type Place =
  | { readonly id: string }
  | { readonly amount: number }
  | { readonly term: string }
  | { readonly beginning: string };

/** Where to look for the invoices that match. */
export interface Places {
  /** Contains all invoices that match, and few others. */
  readonly narrow: Place;
  /** Also contains all of them, and is in the order of the list; null: only the whole list does. */
  readonly ordered: Exclude<Place, { beginning: string }> | null;
}

/** One meaning of a word. */
export interface Meaning {
  /** Any of these is sufficient. */
  readonly places: readonly Places[];
  matches(row: SearchedRow): boolean;
}

/** A word of a search. An invoice matches it by any of the meanings. */
export interface SearchedWord {
  readonly meanings: readonly Meaning[];
}

/** Digits in groups of three: an amount or an ICE that is written with spaces. */
const GROUPED = /(?<![\p{L}\p{N}.,])\d{1,3}(?:\s\d{3})+(?:[.,]\d{1,2})?(?![\p{L}\p{N}])/gu;
const JOINED = '\u0001';
const CURRENCY = ['mad', 'dh', 'dhs', 'درهم'];
/** A serial is shown with at least six digits. */
const SERIAL_DIGITS = 6;

/**
 * Interprets a search. An invoice is found if it matches every word.
 * @throws {ServiceError} invalid_request for a text that is too long, has too many words, or none
 */
export function searchOf(text: string): readonly SearchedWord[] {
  if (text.length > LONGEST_SEARCH)
    throw serviceError('invalid_request', `search must have at most ${LONGEST_SEARCH} characters.`, 'search');
  const plain = folded(text.replace(/٫/g, ',').replace(/٬/g, '')).trim();
  // Exports put an apostrophe before digits, so that spreadsheets keep them as text.
  const joined = plain.replace(/^'(?=\d)/, '').replace(GROUPED, (digits) => digits.replace(/\s/g, JOINED));
  const split = joined.split(/\s+/).map((part) => part.replaceAll(JOINED, ' '));
  const parts = new Set(split.filter((part) => compact(part) !== ''));
  const hasAmount = [...parts].some((part) => amountOf(part) !== null);
  const words = [...parts].filter((part) => !(hasAmount && CURRENCY.includes(part)));
  if (words.length === 0)
    throw serviceError('invalid_request', 'search must have at least one letter or digit.', 'search');
  if (words.length > MOST_SEARCHED || wordsOf(joined).length > MOST_PARTS)
    throw serviceError('invalid_request', `search must have at most ${MOST_SEARCHED} words.`, 'search');
  return words.map((word) => ({ meanings: meaningsOf(word) }));
}

export function matchesAll(row: SearchedRow, words: readonly SearchedWord[]): boolean {
  return words.every(({ meanings }) => meanings.some((meaning) => meaning.matches(row)));
}

function meaningsOf(word: string): Meaning[] {
  if (kindOfId(word) !== null) return [{ places: [at({ id: word })], matches: ({ id }) => id === word }];
  const plain = compact(word);
  const amount = amountOf(word);
  return [
    asWords(wordsOf(word)),
    ...(/\d/.test(plain) ? [...asNumber(plain), ...asDgiId(plain)] : []),
    ...(/^\d+$/.test(plain) ? asIce(plain) : []),
    ...(amount === null ? [] : [{ places: [at({ amount })], matches: (row: SearchedRow) => row.amount === amount }]),
  ];
}

function at(place: Exclude<Place, { beginning: string }>): Places {
  return { narrow: place, ordered: place };
}

/** Each of the words begins a word of the invoice. A single letter is a word by itself. */
function asWords(words: readonly string[]): Meaning {
  const terms = words.map((word) => `${TERM.word}${word}`);
  const matches = ({ terms: own }: SearchedRow) =>
    terms.every((term, nth) => (isLetter(words[nth]) ? own.includes(term) : own.some((each) => each.startsWith(term))));
  return { places: words.map(placesOfWord), matches };
}

function placesOfWord(word: string): Places {
  if (isLetter(word)) return at({ term: `${TERM.word}${word}` });
  const head = HEADS.findLast((length) => word.length >= length) ?? HEADS[0];
  const ordered = { term: `${TERM.head}${firstOf(word, head)}` };
  return word.length === head ? at(ordered) : { narrow: { beginning: `${TERM.word}${word}` }, ordered };
}

function isLetter(word: string | undefined): boolean {
  return word?.length === 1;
}

/** The end of a number. A single digit is a whole serial number. */
function asNumber(plain: string): Meaning[] {
  const end = plain.length > 1 ? endOf(plain) : plain.padEnd(SERIAL_DIGITS, '0');
  const beginning = `${TERM.number}${end}`;
  const tail = TAILS.findLast((length) => end.length >= length) ?? TAILS[0];
  const ordered = { term: `${TERM.tail}${firstOf(end, tail)}` };
  const places = [end.length === tail ? at(ordered) : { narrow: { beginning }, ordered }];
  return [{ places, matches: beginsWith(beginning) }];
}

/** The end of the authority's id. Shorter ends are common to too many. */
function asDgiId(plain: string): Meaning[] {
  const beginning = `${TERM.dgiId}${endOf(plain)}`;
  if (plain.length < SHORTEST_RUN) return [];
  return [{ places: [{ narrow: { beginning }, ordered: null }], matches: beginsWith(beginning) }];
}

const beginsWith =
  (beginning: string) =>
  ({ terms }: SearchedRow) =>
    terms.some((each) => each.startsWith(beginning));

/** With fewer digits, only the beginning of an ICE is found. */
const ANYWHERE = 6;
const SHORTEST_RUN = 4;
const ICE_LENGTH = 15;

/** Digits of an ICE. Which of its stored groups they contain depends on where in it they are. */
function asIce(digits: string): Meaning[] {
  if (digits.length < SHORTEST_RUN || digits.length > ICE_LENGTH) return [];
  const placeOfGroup = (from: number) => at({ term: `${TERM.ice}${digits.slice(from, from + ICE_GROUP)}` });
  if (digits.length < ANYWHERE || digits.length === ICE_LENGTH) {
    const whole = ICE_PLACES.filter((from) => from + ICE_GROUP <= digits.length);
    return [{ places: whole.map(placeOfGroup), matches: ({ ice }) => ice?.startsWith(digits) === true }];
  }
  const matches = ({ ice }: SearchedRow) => ice?.includes(digits) === true;
  return [0, 1, 2].map((from) => ({ places: [placeOfGroup(from)], matches }));
}
