import { type Centimes, dirhamsAndCentimes } from '../domain/money.ts';

/**
 * The amount in French words, as a Moroccan invoice states it: `125050` → `mille deux cent cinquante dirhams et
 * cinquante centimes`. Traditional spelling: hyphens only below one hundred (`vingt et un`, `quatre-vingt-onze`).
 * @param centimes a whole number from 0 to `MAX_CENTIMES`
 * @throws {RangeError} for anything else
 */
export function amountInFrenchWords(centimes: Centimes): string {
  const [dirhams, cents] = dirhamsAndCentimes(centimes);
  if (cents === 0) return counted(dirhams, 'dirham');
  if (dirhams === 0) return counted(cents, 'centime');
  return `${counted(dirhams, 'dirham')} et ${counted(cents, 'centime')}`;
}

/**
 * The plural starts at two. A whole number of millions, milliards or billions takes "de" (`deux millions de dirhams`).
 */
function counted(count: number, unit: string): string {
  const link = count >= 1_000_000 && count % 1_000_000 === 0 ? ' de ' : ' ';
  return `${numberWords(count)}${link}${unit}${count >= 2 ? 's' : ''}`;
}

/**
 * Names of 10^6, 10^9 and 10^12 in the long scale. They are nouns: they take "un", have a plural from two, and keep the
 * "s" of a preceding "cents".
 */
const SCALES = [
  [1_000_000_000_000, 'billion'],
  [1_000_000_000, 'milliard'],
  [1_000_000, 'million'],
] as const;

function numberWords(count: number): string {
  if (count === 0) return 'zéro';
  const words: string[] = [];
  let rest = count;
  for (const [size, name] of SCALES) {
    const times = Math.floor(rest / size);
    rest %= size;
    if (times > 0) words.push(belowThousand(times, true), times > 1 ? `${name}s` : name);
  }
  const thousands = Math.floor(rest / 1000);
  rest %= 1000;
  // "mille" is invariable, takes no "un", and is a numeral: "deux cent mille", "quatre-vingt mille".
  if (thousands > 1) words.push(belowThousand(thousands, false));
  if (thousands > 0) words.push('mille');
  if (rest > 0) words.push(belowThousand(rest, true));
  return words.join(' ');
}

/** @param count 1 to 999 @param last whether no numeral follows, so that "cents" and "quatre-vingts" keep their "s" */
function belowThousand(count: number, last: boolean): string {
  const hundreds = Math.floor(count / 100);
  const rest = count % 100;
  const words: string[] = [];
  if (hundreds > 1) words.push(UNITS[hundreds]!);
  if (hundreds > 0) words.push(hundreds > 1 && rest === 0 && last ? 'cents' : 'cent');
  if (rest > 0) words.push(belowHundred(rest, last));
  return words.join(' ');
}

const UNITS = (
  'zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize ' +
  'dix-sept dix-huit dix-neuf'
).split(' ');
const TENS = ['', '', 'vingt', 'trente', 'quarante', 'cinquante', 'soixante'];

/** @param count 1 to 99 */
function belowHundred(count: number, last: boolean): string {
  if (count < 20) return UNITS[count]!;
  if (count === 80) return last ? 'quatre-vingts' : 'quatre-vingt';
  if (count > 80) return `quatre-vingt-${UNITS[count - 80]}`;
  // 70 to 79 are sixty plus 10 to 19: soixante-dix, soixante et onze.
  const tens = Math.min(Math.floor(count / 10), 6);
  const rest = count - tens * 10;
  if (rest === 0) return TENS[tens]!;
  return `${TENS[tens]}${rest === 1 || rest === 11 ? ' et ' : '-'}${UNITS[rest]}`;
}
