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

/** Words that say nothing about which column it is. */
const SMALL_WORDS = new Set(['de', 'du', 'des', 'd', 'la', 'le', 'les', 'l', 'en', 'au', 'the', 'of', 'in']);
/** Words for the currency. They say something only of a column that may have percent instead. */
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

/** Folds a header without its words for the currency. */
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

/** Returns the keys of columns in a mapping. Further columns with the same header get its place: `prix 2`. */
export function headerKeys(headers: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  return headers.map((header) => {
    const key = headerKey(header);
    const nth = (seen.get(key) ?? 0) + 1;
    seen.set(key, nth);
    return nth === 1 ? key : `${key} ${nth}`;
  });
}

/** A header that is known, and how surely: the template's own ones (0) precede synonyms (1 and 2). */
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

/** Whether a header is taken for its field only if no other column has it. */
export function isWeak(key: string): boolean {
  return KNOWN.get(key)?.rank === 2;
}

/** The headers of each program, folded. */
const PROGRAMS = PROGRAM_HEADERS.map(({ has, fields }) => ({
  has: has.map(headerKey),
  fields: new Map(Object.entries(fields).map(([header, field]) => [headerKey(header), field] as const)),
}));

/** Returns what headers mean in the export that a file is; null: the column is not used. */
function meaningsIn(keys: readonly string[]): ReadonlyMap<string, ImportField | null> {
  return PROGRAMS.find(({ has }) => has.every((key) => keys.includes(key)))?.fields ?? new Map();
}

const RESULTS: ReadonlySet<string> = new Set(
  Object.values(RESULT_COLUMNS).flatMap((texts) => Object.values(texts).map(headerKey)),
);

/** Counts the headers of a row that are known, or are in the mapping: how likely it is the header row. */
export function countKnown(headers: readonly string[], mapping: ColumnMapping | null): number {
  const keys = headerKeys(headers);
  const fields = keys.flatMap((key) => {
    const chosen = mapping && Object.hasOwn(mapping, key) ? mapping[key] : null;
    return chosen ?? KNOWN.get(key)?.field ?? [];
  });
  return new Set(fields).size;
}

/** Finds the field of each column. A field that the mapping gives to one column is found in no other. */
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
  // The template's headers first, then synonyms; of several columns with one field, the first.
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
  // `Nom` is that of a person beside `Prénom`, and else that of anybody.
  const last = found.indexOf('customer.lastName');
  if (last >= 0 && chosen[last] === undefined && !taken.has('customer.firstName') && !taken.has('customer.name'))
    found[last] = 'customer.name';
  // Many programs write a price in both forms. The one without tax is what the other is computed from.
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
 * Returns the keys of headers that occur more than once, unless the mapping says which of the columns counts: it is not
 * known which one does.
 */
function repeatedKeys(keys: readonly string[], mapping: ColumnMapping | null): ReadonlySet<string> {
  const isChosen = (key: string) => mapping !== null && Object.hasOwn(mapping, key);
  return new Set(keys.filter((key) => keys.includes(`${key} 2`) && !isChosen(key) && !isChosen(`${key} 2`)));
}

/**
 * Returns the required fields that no column is, and those of which somebody has to say whether a column is it. Of those
 * of which one is enough, the usual one.
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

/** Words that only French or only English headers have, folded. */
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

/** Finds the language of headers; null if they do not tell. */
export function languageOf(headers: readonly string[]): DocumentLanguage | null {
  if (headers.filter((header) => /\p{Script=Arabic}/u.test(header)).length * 2 > headers.filter(Boolean).length)
    return 'ar';
  const words = headers.flatMap((header) => headerKey(header).split(' '));
  const count = (language: 'fr' | 'en') => words.filter((word) => WORDS[language].has(word)).length;
  const [french, english] = [count('fr'), count('en')];
  if (french === english) return null;
  return french > english ? 'fr' : 'en';
}
