import { type Centimes, dirhamsAndCentimes } from '../domain/money.ts';

/**
 * The amount in Arabic words, as Moroccan texts write numbers: `125050` → `ألف ومائتان وخمسون درهماً وخمسون سنتيماً`.
 * The counted noun agrees with the number: singular and dual without a numeral, plural after 3 to 10, accusative
 * singular after 11 to 99, genitive singular after what ends in hundreds or more. All nouns here are masculine, so
 * numerals of 3 to 10 have their feminine ending.
 * @param centimes a whole number from 0 to `MAX_CENTIMES`
 * @throws {RangeError} for anything else
 */
export function amountInArabicWords(centimes: Centimes): string {
  const [dirhams, cents] = dirhamsAndCentimes(centimes);
  if (cents === 0) return dirhams === 0 ? `صفر ${DIRHAM.single}` : countedDirhams(dirhams);
  if (dirhams === 0) return counted(cents, CENTIME, false);
  return and(countedDirhams(dirhams), counted(cents, CENTIME, false));
}

/** The forms of a counted noun. */
interface Noun {
  readonly one: string;
  readonly two: string;
  /** The dual before the noun that it counts: `ألفا درهم`. */
  readonly twoBound: string;
  /** The form after three to ten. */
  readonly plural: string;
  /** The form after eleven to ninety-nine. */
  readonly accusative: string;
  /** The form after hundreds, and after eleven to ninety-nine if the noun that it counts follows. */
  readonly single: string;
}

const noun = (
  one: string,
  two: string,
  twoBound: string,
  plural: string,
  accusative: string,
  single: string,
): Noun => ({
  one,
  two,
  twoBound,
  plural,
  accusative,
  single,
});
const DIRHAM = noun('درهم واحد', 'درهمان', 'درهما', 'دراهم', 'درهماً', 'درهم');
const CENTIME = noun('سنتيم واحد', 'سنتيمان', 'سنتيما', 'سنتيمات', 'سنتيماً', 'سنتيم');
const SCALES: readonly [size: number, noun: Noun][] = [
  [1_000_000_000_000, noun('تريليون', 'تريليونان', 'تريليونا', 'تريليونات', 'تريليوناً', 'تريليون')],
  [1_000_000_000, noun('مليار', 'ملياران', 'مليارا', 'ملايير', 'ملياراً', 'مليار')],
  [1_000_000, noun('مليون', 'مليونان', 'مليونا', 'ملايين', 'مليوناً', 'مليون')],
  [1_000, noun('ألف', 'ألفان', 'ألفا', 'آلاف', 'ألفاً', 'ألف')],
];

function countedDirhams(count: number): string {
  const terms: string[] = [];
  const last = count % 1_000;
  // After thousands, one and two dirhams are a phrase of their own: "a thousand dirhams and two dirhams".
  const apart = last === 1 || last === 2;
  let rest = count;
  for (const [size, scale] of SCALES) {
    const times = Math.floor(rest / size);
    rest %= size;
    const bound = rest === 0 || (rest === last && apart);
    if (times > 0) terms.push(counted(times, scale, bound) + (bound ? ` ${DIRHAM.single}` : ''));
  }
  if (last > 0) terms.push(counted(last, DIRHAM, false));
  return terms.reduce(and);
}

/** @param count 1 to 999 @param bound whether the counted noun follows directly */
function counted(count: number, { one, two, twoBound, plural, accusative, single }: Noun, bound: boolean): string {
  const rest = count % 100;
  const hundreds = Math.floor(count / 100);
  const few = rest === 1 ? one : bound ? twoBound : two;
  if (hundreds === 0 && rest <= 2) return few;
  if (rest === 0) return `${HUNDREDS_BOUND[hundreds]} ${single}`;
  if (rest <= 2) return and(`${HUNDREDS_BOUND[hundreds]} ${single}`, few);
  const words = rest <= 10 ? `${UNITS[rest]} ${plural}` : `${belowHundred(rest)} ${bound ? single : accusative}`;
  return hundreds === 0 ? words : and(HUNDREDS[hundreds]!, words);
}

const UNITS = ['', 'واحد', 'اثنان', 'ثلاثة', 'أربعة', 'خمسة', 'ستة', 'سبعة', 'ثمانية', 'تسعة', 'عشرة'];
const TENS = ['', '', 'عشرون', 'ثلاثون', 'أربعون', 'خمسون', 'ستون', 'سبعون', 'ثمانون', 'تسعون'];
const ABOVE_TWO_HUNDRED = ['ثلاثمائة', 'أربعمائة', 'خمسمائة', 'ستمائة', 'سبعمائة', 'ثمانمائة', 'تسعمائة'];
const HUNDREDS = ['', 'مائة', 'مائتان', ...ABOVE_TWO_HUNDRED];
/** The hundreds in their form before a noun in the genitive. */
const HUNDREDS_BOUND = ['', 'مائة', 'مائتا', ...ABOVE_TWO_HUNDRED];

/** @param count 11 to 99 */
function belowHundred(count: number): string {
  if (count === 11) return 'أحد عشر';
  if (count === 12) return 'اثنا عشر';
  const unit = count % 10;
  if (count < 20) return `${UNITS[unit]} عشر`;
  const tens = TENS[Math.floor(count / 10)]!;
  return unit === 0 ? tens : and(UNITS[unit]!, tens);
}

function and(one: string, other: string): string {
  return `${one} و${other}`;
}
