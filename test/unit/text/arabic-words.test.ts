import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_CENTIMES } from '../../../src/domain/money.ts';
import { amountInArabicWords } from '../../../src/text/arabic-words.ts';
import { centimesOfAnyMagnitude } from '../../support/amounts.ts';

describe('amountInArabicWords', () => {
  test.each<[number, string]>([
    [0, 'صفر درهم'],
    [1, 'سنتيم واحد'],
    [2, 'سنتيمان'],
    [5, 'خمسة سنتيمات'],
    [10, 'عشرة سنتيمات'],
    [11, 'أحد عشر سنتيماً'],
    [50, 'خمسون سنتيماً'],
    [99, 'تسعة وتسعون سنتيماً'],
    [100, 'درهم واحد'],
    [101, 'درهم واحد وسنتيم واحد'],
    [200, 'درهمان'],
    [300, 'ثلاثة دراهم'],
    [800, 'ثمانية دراهم'],
    [1_000, 'عشرة دراهم'],
    [1_100, 'أحد عشر درهماً'],
    [1_200, 'اثنا عشر درهماً'],
    [1_300, 'ثلاثة عشر درهماً'],
    [1_899, 'ثمانية عشر درهماً وتسعة وتسعون سنتيماً'],
    [2_000, 'عشرون درهماً'],
    [2_100, 'واحد وعشرون درهماً'],
    [2_200, 'اثنان وعشرون درهماً'],
    [9_900, 'تسعة وتسعون درهماً'],
    [10_000, 'مائة درهم'],
    [10_100, 'مائة درهم ودرهم واحد'],
    [10_200, 'مائة درهم ودرهمان'],
    [10_300, 'مائة وثلاثة دراهم'],
    [11_100, 'مائة وأحد عشر درهماً'],
    [20_000, 'مائتا درهم'],
    [20_100, 'مائتا درهم ودرهم واحد'],
    [20_500, 'مائتان وخمسة دراهم'],
    [25_000, 'مائتان وخمسون درهماً'],
    [30_000, 'ثلاثمائة درهم'],
    [99_900, 'تسعمائة وتسعة وتسعون درهماً'],
    [100_000, 'ألف درهم'],
    [100_100, 'ألف درهم ودرهم واحد'],
    [100_200, 'ألف درهم ودرهمان'],
    [100_300, 'ألف وثلاثة دراهم'],
    [110_100, 'ألف ومائة درهم ودرهم واحد'],
    [125_050, 'ألف ومائتان وخمسون درهماً وخمسون سنتيماً'],
    [200_000, 'ألفا درهم'],
    [200_500, 'ألفان وخمسة دراهم'],
    [300_000, 'ثلاثة آلاف درهم'],
    [1_000_000, 'عشرة آلاف درهم'],
    [1_100_000, 'أحد عشر ألف درهم'],
    [1_150_000, 'أحد عشر ألفاً وخمسمائة درهم'],
    [1_552_073, 'خمسة عشر ألفاً وخمسمائة وعشرون درهماً وثلاثة وسبعون سنتيماً'],
    [10_000_000, 'مائة ألف درهم'],
    [10_100_000, 'مائة ألف وألف درهم'],
    [10_200_000, 'مائة ألف وألفا درهم'],
    [20_000_000, 'مائتا ألف درهم'],
    [20_005_000, 'مائتا ألف وخمسون درهماً'],
    [100_000_000, 'مليون درهم'],
    [100_000_200, 'مليون درهم ودرهمان'],
    [200_000_000, 'مليونا درهم'],
    [200_100_000, 'مليونان وألف درهم'],
    [500_000_000, 'خمسة ملايين درهم'],
    [1_200_000_000, 'اثنا عشر مليون درهم'],
    [100_000_000_000, 'مليار درهم'],
    [300_000_000_000, 'ثلاثة ملايير درهم'],
    [200_000_000_000_000, 'تريليونا درهم'],
    [
      MAX_CENTIMES,
      'تسعون تريليوناً وواحد وسبعون ملياراً وتسعمائة واثنان وتسعون مليوناً وخمسمائة وسبعة وأربعون ألفاً وأربعمائة وتسعة دراهم ' +
        'وواحد وتسعون سنتيماً',
    ],
  ])('%i centimes', (centimes, words) => {
    expect(amountInArabicWords(centimes)).toBe(words);
  });

  test('reads back as the same amount at every magnitude', () => {
    fc.assert(
      fc.property(centimesOfAnyMagnitude, (centimes) => {
        const words = amountInArabicWords(centimes);
        expect(read(words), words).toBe(centimes);
        expect(words).toMatch(/^[\u0621-\u064b]+(?: [\u0621-\u064b]+)*$/);
      }),
      { numRuns: 2_000 },
    );
    for (let centimes = 0; centimes <= 1_000_000; centimes += 100) {
      expect(read(amountInArabicWords(centimes))).toBe(centimes);
    }
  });

  test('the counted noun agrees with the number before it', () => {
    for (let dirhams = 3; dirhams <= 20_000; dirhams += 1) {
      const words = amountInArabicWords(dirhams * 100);
      const rest = dirhams % 100;
      const ending =
        rest === 0
          ? / درهم$/
          : rest === 1
            ? / ودرهم واحد$/
            : rest === 2
              ? / ودرهمان$/
              : rest <= 10
                ? / دراهم$/
                : / درهماً$/;
      expect(words).toMatch(ending);
    }
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, MAX_CENTIMES + 1])('refuses %d', (centimes) => {
    expect(() => amountInArabicWords(centimes)).toThrow(RangeError);
  });
});

const VALUES: Record<string, number> = {};
const count = (from: number, step: number, names: string) =>
  names.split(' ').forEach((name, index) => {
    VALUES[name] = from + index * step;
  });
count(0, 1, 'صفر واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة');
count(20, 10, 'عشرون ثلاثون أربعون خمسون ستون سبعون ثمانون تسعون');
count(100, 100, 'مائة مائتان ثلاثمائة أربعمائة خمسمائة ستمائة سبعمائة ثمانمائة تسعمائة');
Object.assign(VALUES, { مائتا: 200, أحد: 1, اثنا: 2, عشر: 10 });
const SCALES: Record<string, number> = {};
const scale = (value: number, singles: string, duals: string) => {
  for (const name of singles.split(' ')) SCALES[name] = value;
  for (const name of duals.split(' ')) SCALES[name] = -value;
};
scale(1e3, 'ألف آلاف ألفاً', 'ألفان ألفا');
scale(1e6, 'مليون ملايين مليوناً', 'مليونان مليونا');
scale(1e9, 'مليار ملايير ملياراً', 'ملياران مليارا');
scale(1e12, 'تريليون تريليونات تريليوناً', 'تريليونان تريليونا');
const UNITS: Record<string, [centimes: number, dual: boolean]> = {};
for (const name of ['درهم', 'دراهم', 'درهماً']) UNITS[name] = [100, false];
for (const name of ['سنتيم', 'سنتيمات', 'سنتيماً']) UNITS[name] = [1, false];
Object.assign(UNITS, { درهمان: [100, true], سنتيمان: [1, true] });

/** An independent reading: sums numerals, scales close a group, duals are two, a noun without a number before it is one. */
function read(words: string): number {
  let [amount, total, group, numerals] = [0, 0, 0, 0];
  const known = (word: string) => VALUES[word] ?? SCALES[word] ?? UNITS[word];
  for (const each of words.replaceAll(/(درهم|سنتيم) واحد/g, '$1').split(' ')) {
    const word = known(each) === undefined ? each.replace(/^و/, '') : each;
    if (known(word) === undefined) throw new Error(`not an Arabic numeral: ${each} in ${words}`);
    const unit = UNITS[word];
    if (unit !== undefined) {
      const [centimes, dual] = unit;
      amount += (dual ? 2 : numerals === 0 ? 1 : total + group) * centimes;
      [total, group, numerals] = [0, 0, 0];
      continue;
    }
    numerals += 1;
    const size = SCALES[word];
    if (size === undefined) group += VALUES[word]!;
    else {
      total += size < 0 ? -2 * size : (group || 1) * size;
      // A dual stands by itself: what has no scale of its own yet would be lost.
      if (size < 0 && group !== 0) throw new Error(`a dual after a number: ${words}`);
      group = 0;
    }
  }
  if (numerals > 0) throw new Error(`numerals without a noun: ${words}`);
  return amount;
}
