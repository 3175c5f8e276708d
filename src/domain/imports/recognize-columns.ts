import type { DocumentLanguage } from '../document-language.ts';
import { folded } from '../invoice/search/fold.ts';
import { COLUMN_HEADERS, RESULT_COLUMNS } from './column-headers.ts';
import {
  COLUMN_SYNONYMS,
  LAST_SYNONYMS,
  UNDECIDED_CHARGES,
  UNDECIDED_DISCOUNTS,
  UNDECIDED_PRICES,
  type UndecidedHeaders,
} from './column-synonyms.ts';
import { columnOf, IMPORT_COLUMNS, type ImportField, ONE_OF, PRICES } from './columns.ts';
import { PROGRAM_HEADERS } from './program-headers.ts';
import type { ColumnMapping, ReadColumn } from './reading.ts';

/** Words that do not help to recognize a column. */
const SMALL_WORDS = new Set(['de', 'du', 'des', 'd', 'la', 'le', 'les', 'l', 'en', 'au', 'the', 'of', 'in']);
/** Words for the currency. They matter only for a column that may be in percent instead. */
const DIRHAMS = new Set(['mad', 'dh', 'dhs', 'dirham', 'dirhams', 'درهم', 'بالدرهم']);
/** Spellings of one word. */
const SAME: Readonly<Record<string, string>> = {
  n: 'numero',
  no: 'numero',
  num: 'numero',
  nr: 'numero',
  '#': 'numero',
  pourcentage: '%',
  pourcent: '%',
  percent: '%',
};

/** Folds a header and removes its words for the currency. */
function keyWithoutCurrency(header: string): string {
  const words = wordsIn(header);
  const kept = words.filter((word) => !SMALL_WORDS.has(word) && !DIRHAMS.has(word));
  return (kept.length === 0 ? words : kept).map((word) => SAME[word] ?? word).join(' ');
}

const wordsIn = (header: string) => folded(header).match(/[\p{L}\p{N}]+|[%#]/gu) ?? [];

const DISCOUNTS = fieldsByKey(UNDECIDED_DISCOUNTS);
const CHARGES = fieldsByKey([UNDECIDED_CHARGES]);
const UNCLEAR_PRICES = fieldsByKey([UNDECIDED_PRICES]);

function fieldsByKey(undecided: readonly UndecidedHeaders[]): ReadonlyMap<string, readonly ImportField[]> {
  return new Map(
    undecided.flatMap(({ fields, headers }) => headers.map((header) => [keyWithoutCurrency(header), fields] as const)),
  );
}

/** Folds a header, so that spellings of the same header are equal: `N° de Facture (*)` → `numero facture`. */
export function headerKey(header: string): string {
  const key = keyWithoutCurrency(header);
  return DISCOUNTS.has(key) && wordsIn(header).some((word) => DIRHAMS.has(word)) ? `${key} dirhams` : key;
}

/** Returns the keys of columns in a mapping. Further columns with the same header get a number: `prix 2`. */
export function headerKeys(headers: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  return headers.map((header) => {
    const key = headerKey(header);
    const nth = (seen.get(key) ?? 0) + 1;
    seen.set(key, nth);
    return nth === 1 ? key : `${key} ${nth}`;
  });
}

/** A known header and its rank: headers of the template (0) precede synonyms (1 and 2). */
interface Known {
  readonly field: ImportField;
  readonly rank: 0 | 1 | 2;
}

const KNOWN: ReadonlyMap<string, Known> = new Map<string, Known>([
  ...IMPORT_COLUMNS.flatMap(({ field }) => known(field, 2, LAST_SYNONYMS[field] ?? [])),
  ...IMPORT_COLUMNS.flatMap(({ field }) => known(field, 1, COLUMN_SYNONYMS[field] ?? [])),
  ...IMPORT_COLUMNS.flatMap(({ field }) => known(field, 0, Object.values(COLUMN_HEADERS[field]))),
]);

function known(field: ImportField, rank: Known['rank'], headers: readonly string[]) {
  return headers.map((header) => [headerKey(header), { field, rank }] as const);
}

/** Whether a header stands for its field only if no other column has the field. */
export function isWeak(key: string): boolean {
  return KNOWN.get(key)?.rank === 2;
}

/** The headers of each program, folded. */
const PROGRAMS = PROGRAM_HEADERS.map(({ has, fields }) => ({
  has: has.map(headerKey),
  fields: new Map(Object.entries(fields).map(([header, field]) => [headerKey(header), field] as const)),
}));

/** Returns the meanings of headers in the program's export that the file is; null: the column is not used. */
function meaningsIn(keys: readonly string[]): ReadonlyMap<string, ImportField | null> {
  return PROGRAMS.find(({ has }) => has.every((key) => keys.includes(key)))?.fields ?? new Map();
}

const RESULTS: ReadonlySet<string> = new Set(
  Object.values(RESULT_COLUMNS).flatMap((texts) => Object.values(texts).map(headerKey)),
);

/** Counts the headers of a row that are known or in the mapping. The more, the likelier is the row the header row. */
export function countKnown(headers: readonly string[], mapping: ColumnMapping | null): number {
  const keys = headerKeys(headers);
  const fields = keys.flatMap((key) => {
    const chosen = mapping && Object.hasOwn(mapping, key) ? mapping[key] : null;
    return chosen ?? KNOWN.get(key)?.field ?? [];
  });
  return new Set(fields).size;
}

/** Finds the field of each column. A field that the mapping gives to one column is not given to another. */
export function recognizeColumns(headers: readonly string[], mapping: ColumnMapping | null): readonly ReadColumn[] {
  const keys = headerKeys(headers);
  const isRepeated = (key: string) => repeatedKeys(keys, mapping).has(key);
  const chosen = keys.map((key) => (mapping && Object.hasOwn(mapping, key) ? (mapping[key] ?? null) : undefined));
  const meanings = meaningsIn(keys);
  const taken = new Set<string>();
  const found: (string | null)[] = chosen.map((field) => {
    if (!field || columnOf(field) === null || taken.has(field)) return null;
    taken.add(field);
    return field;
  });
  // The headers of the template come first, then synonyms. Of several columns with the same field, the first gets it.
  for (const rank of [0, 1, 2]) {
    for (const [index, key] of keys.entries()) {
      const meant = meanings.get(key);
      const header = meant ? ({ field: meant, rank: 0 } as const) : meant === null ? undefined : KNOWN.get(key);
      if (chosen[index] !== undefined || header?.rank !== rank || taken.has(header.field)) continue;
      if (isRepeated(key)) continue;
      found[index] = header.field;
      taken.add(header.field);
    }
  }
  // `Nom` is the last name of a person if there is `Prénom`, else the name of any customer.
  const last = found.indexOf('customer.lastName');
  if (last >= 0 && chosen[last] === undefined && !taken.has('customer.firstName') && !taken.has('customer.name'))
    found[last] = 'customer.name';
  // Many programs write prices both ways. The price without tax is taken, because the other is computed from it.
  const [withoutTax, withTax] = PRICES;
  const isBoth = found.includes(withoutTax) && found.includes(withTax) && !chosen.includes(withTax);
  const isPriced = PRICES.some((field) => found.includes(field));
  const mayBe = (key: string, index: number): readonly ImportField[] => {
    if (chosen[index] !== undefined || meanings.has(key)) return [];
    const first = key.replace(/ \d+$/, '');
    const repeated = isRepeated(first) ? KNOWN.get(first)?.field : undefined;
    if (repeated) return [repeated];
    return DISCOUNTS.get(key) ?? CHARGES.get(key) ?? (isPriced ? [] : (UNCLEAR_PRICES.get(key) ?? []));
  };
  return headers.map((header, index) => {
    const key = keys[index] ?? '';
    const field = isBoth && found[index] === withTax ? null : (found[index] ?? null);
    const fields = mayBe(key, index);
    return {
      index,
      header,
      key,
      field,
      ...(fields.length > 0 && { mayBe: fields }),
      isResult: RESULTS.has(headerKey(header)),
    };
  });
}

/**
 * Returns the keys of headers that occur more than once, unless the mapping decides which of the columns counts:
 * otherwise it is unknown.
 */
function repeatedKeys(keys: readonly string[], mapping: ColumnMapping | null): ReadonlySet<string> {
  const isChosen = (key: string) => mapping !== null && Object.hasOwn(mapping, key);
  return new Set(keys.filter((key) => keys.includes(`${key} 2`) && !isChosen(key) && !isChosen(`${key} 2`)));
}

/**
 * Returns the required fields without a column, also those that an undecided column may have. Of alternative fields,
 * returns the usual one.
 */
export function missingFields(columns: readonly ReadColumn[]): readonly string[] {
  const has = (field: ImportField) => columns.some((column) => column.field === field);
  const needed = new Set(ONE_OF.flatMap((fields) => (fields.some(has) ? [] : [fields[0]])));
  const required = IMPORT_COLUMNS.filter(
    (column) => ('isRequired' in column && !has(column.field)) || needed.has(column.field),
  );
  const undecided = columns.flatMap(({ mayBe }) => mayBe?.[0] ?? []);
  return [...new Set([...required.map(({ field }) => field), ...undecided])];
}

/** Words that occur only in French or only in English headers, folded. */
const WORDS: Readonly<Record<'fr' | 'en', ReadonlySet<string>>> = { fr: wordsOf('fr'), en: wordsOf('en') };

function wordsOf(language: 'fr' | 'en'): ReadonlySet<string> {
  const other = language === 'fr' ? 'en' : 'fr';
  const of = (which: DocumentLanguage) =>
    new Set(Object.values(COLUMN_HEADERS).flatMap((texts) => headerKey(texts[which]).split(' ')));
  const more =
    language === 'fr'
      ? ['prix', 'pu', 'ht', 'ttc', 'taux', 'qte', 'libelle', 'piece']
      : ['price', 'qty', 'item', 'name'];
  return new Set([...of(language), ...more]).difference(of(other));
}

/** Finds the language of headers; null if they do not show one. */
export function languageOf(headers: readonly string[]): DocumentLanguage | null {
  if (headers.filter((header) => /\p{Script=Arabic}/u.test(header)).length * 2 > headers.filter(Boolean).length)
    return 'ar';
  const words = headers.flatMap((header) => headerKey(header).split(' '));
  const count = (language: 'fr' | 'en') => words.filter((word) => WORDS[language].has(word)).length;
  const [french, english] = [count('fr'), count('en')];
  if (french === english) return null;
  return french > english ? 'fr' : 'en';
}
