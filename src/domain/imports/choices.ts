import type { CustomerKind } from '../invoice/customer-kind.ts';
import { compact, folded } from '../invoice/search/fold.ts';
import { TAX_RATES } from '../invoice/tax-rate.ts';
import { UNIT_CODES, UNITS } from '../invoice/units.ts';
import { CURRENCY } from '../money.ts';
import { EXEMPTIONS } from '../morocco/exemptions.ts';
import { PAYMENT_MEANS } from '../payment-means.ts';
import { type Cell, cellText } from './cell.ts';
import type { CellValue } from './cell-value.ts';
import type { ColumnKind } from './columns.ts';
import { namesIn } from './names-in.ts';
import { numberOf } from './numbers.ts';

/** The kinds of columns whose cells have one value of a set. */
export type ChoiceKind = Extract<
  ColumnKind,
  'unit' | 'country' | 'currency' | 'customerKind' | 'paymentMeans' | 'exemption' | 'flag' | 'taxRate'
>;

/** Names of countries and kinds of customers, which are texts of documents. */
export interface NamedChoices {
  readonly countries: ReadonlyMap<string, string>;
  readonly customerKinds: ReadonlyMap<string, CustomerKind>;
}

/** The values by their names, folded by {@link choiceKey}. Undefined: the name states nothing. */
export type Choices = Readonly<
  Record<Exclude<ChoiceKind, 'taxRate'>, ReadonlyMap<string, string | boolean | undefined>>
>;

/** Folds a name of a choice: without case, accents, spaces and punctuation. Powers of units stay: `m²` → `m2`. */
export function choiceKey(text: string): string {
  return compact(folded(text));
}

const MOROCCO = ['MA', 'MAR', 'Maroc', 'Morocco', 'المغرب', 'المملكة المغربية'];
const PIECES = namesIn(`
  u, un, unité, unités, unite(s), pièce, pièces, pc, pcs, pce, pces, piece, pieces, unit, units, ea, each, C62, H87, EA
  قطعة, قطع, وحدة, وحدات
`);
/** Other names of units. */
const UNIT_WORDS: Readonly<Partial<Record<keyof typeof UNITS, readonly string[]>>> = {
  HUR: ['heure', 'heures', 'hour', 'hours', 'hr', 'hrs', 'H', 'ساعات'],
  DAY: ['jour', 'jours', 'jr', 'day', 'days', 'j/h', 'jh', 'أيام'],
  MON: ['month', 'months', 'أشهر', 'شهور'],
  ANN: ['année', 'années', 'ans', 'year', 'years', 'yr', 'عام', 'سنوات'],
  KGM: ['kilo', 'kilos', 'kgs', 'kilogramme', 'kilogrammes', 'kilogram', 'كيلو', 'كيلوغرام', 'كلغ'],
  GRM: ['gr', 'gramme', 'grammes', 'gram', 'grams', 'غرام'],
  TNE: ['tonne', 'tonnes', 'ton', 'tons', 'tn', 'أطنان'],
  LTR: ['litre', 'litres', 'liter', 'liters', 'lt', 'لتر'],
  // `ml` is not here: it may be millilitres or, in French, running metres.
  MTR: ['m', 'mètre', 'mètres', 'mètre linéaire', 'metre', 'meter', 'meters', 'متر'],
  MTK: ['m2', 'mètre carré', 'mètres carrés', 'square metre', 'sqm', 'متر مربع'],
  MTQ: ['m3', 'mètre cube', 'mètres cubes', 'cubic metre', 'متر مكعب'],
  KMT: ['kilomètre', 'kilomètres', 'kms', 'kilometre', 'kilometer', 'كيلومتر'],
  KWH: ['kilowattheure', 'kilowatt heure', 'kilowatt hour'],
  SET: ['ensemble', 'forfait', 'ff', 'ens', 'lots', 'sets', 'مجموعات'],
};
const PAYMENT_WORDS: Readonly<Partial<Record<keyof typeof PAYMENT_MEANS, readonly string[]>>> = {
  transfer: ['virement', 'vir', 'transfer', 'wire', 'wire transfer', 'تحويل'],
  cheque: ['chq', 'check', 'chèques'],
  cash: ['espece', 'esp', 'liquide', 'comptant', 'نقد'],
  card: ['carte', 'cb', 'tpe', 'card', 'credit card', 'بطاقة'],
  direct_debit: ['prélèvement automatique', 'اقتطاع'],
  bill_of_exchange: ['lcn', 'lc', 'traite', 'effet'],
  online: ['en ligne', 'paiement en ligne', 'online payment'],
};
const FLAGS: readonly (readonly [boolean | undefined, readonly string[]])[] = [
  [true, ['oui', 'o', 'vrai', 'true', 'yes', 'y', 'x', '1', 'نعم', '✓']],
  [undefined, ['non', 'n', 'faux', 'false', 'no', '0', 'لا', '-']],
];

/** Makes the tables of names. @param named by folded names */
export function choicesOf({ countries, customerKinds }: NamedChoices): Choices {
  return {
    country: keyed([...MOROCCO.map((name) => [name, undefined] as const), ...countries]),
    customerKind: customerKinds,
    currency: keyed(
      [CURRENCY, 'DH', 'DHS', 'dirham', 'dirhams', 'dirham marocain', 'درهم', 'درهم مغربي', 'د.م.'].map((name) => [
        name,
        undefined,
      ]),
    ),
    unit: keyed([
      ...PIECES.map((name) => [name, undefined] as const),
      ...UNIT_CODES.flatMap((code) => {
        const { name, fr, ar, en } = UNITS[code];
        return [code, name, fr, ar, en, ...(UNIT_WORDS[code] ?? [])].map((text) => [text, code] as const);
      }),
    ]),
    paymentMeans: keyed(
      Object.entries(PAYMENT_MEANS).flatMap(([means, { words }]) =>
        [means, ...Object.values(words), ...(PAYMENT_WORDS[means as keyof typeof PAYMENT_MEANS] ?? [])].map(
          (text) => [text, means] as const,
        ),
      ),
    ),
    exemption: keyed(
      Object.entries(EXEMPTIONS).flatMap(([code, { fr, ar, en }]) =>
        [code, fr, ar, en].map((text) => [text, code] as const),
      ),
    ),
    flag: keyed(FLAGS.flatMap(([value, names]) => names.map((name) => [name, value] as const))),
  };
}

function keyed<Value>(names: Iterable<readonly [name: string, value: Value]>): ReadonlyMap<string, Value> {
  return new Map(Array.from(names, ([name, value]) => [choiceKey(name), value]));
}

/** Returns the value that a cell names. */
export function choiceOf(cell: Cell, kind: ChoiceKind, choices: Choices): CellValue {
  if (kind === 'taxRate') return rateOf(cell);
  if (cell.kind === 'flag') return kind === 'flag' ? { value: cell.value || undefined } : { fault: 'unknown_choice' };
  const text = cellText(cell);
  const values = choices[kind];
  const key = choiceKey(text);
  if (values.has(key)) return { value: values.get(key) };
  switch (kind) {
    case 'unit':
      return { fault: 'unknown_unit' };
    case 'country':
      return { fault: 'unknown_country' };
    case 'currency':
      return { fault: 'foreign_currency', facts: { currency: CURRENCY } };
    // Unknown means of payment are printed as they are written.
    case 'paymentMeans':
      return { value: text };
    default:
      return { fault: 'unknown_choice' };
  }
}

const EXEMPT = new Set(
  ['exonere', 'exoneree', 'exo', 'exempt', 'horstva', 'sanstva', 'zero', 'معفي', 'معفاه', 'بدونضريبه'].map(choiceKey),
);

/**
 * Reads a rate: `20`, `20 %`, `0.2`, `TVA 20 %`, `20% G` (Odoo). All rates except 0 are at least 1, so a fraction is a
 * percentage whose cell has lost its format.
 */
function rateOf(cell: Cell): CellValue {
  const unknown: CellValue = { fault: 'unknown_rate', facts: { accepted: TAX_RATES.join(', ') } };
  if (cell.kind === 'day') return { fault: 'became_date' };
  const text = folded(cellText(cell)).replaceAll('٪', '%');
  if (EXEMPT.has(choiceKey(text))) return { value: 0 };
  const [, stated] =
    /(?:^|[^\d.,])(\d{1,3}(?:[.,]\d+)?)\s*%/.exec(text) ??
    /^\s*(?:tva|vat)\D*(\d{1,3}(?:[.,]\d+)?)\s*$/i.exec(text) ??
    [];
  const number = numberOf(stated ?? text);
  const plain = number?.plain ?? null;
  // `20 DH`, `20 % sur 10`: an amount, or a rate of part of the price.
  const isOther = number?.isMoney || numberOf(text)?.isMoney || (text.match(/\d[\d.,]*/g) ?? []).length > 1;
  if (plain === null || isOther) return unknown;
  const value = Number(plain);
  const isFraction = stated === undefined && value > 0 && value < 1;
  const rate = TAX_RATES.find((each) => each === (isFraction ? Number((value * 100).toPrecision(6)) : value));
  return rate === undefined ? unknown : { value: rate };
}
