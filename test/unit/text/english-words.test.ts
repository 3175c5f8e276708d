import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_CENTIMES } from '../../../src/domain/money.ts';
import { amountInEnglishWords } from '../../../src/text/english-words.ts';
import { centimesOfAnyMagnitude } from '../../support/amounts.ts';

describe('amountInEnglishWords', () => {
  test.each<[number, string]>([
    [0, 'zero dirhams'],
    [1, 'one centime'],
    [50, 'fifty centimes'],
    [100, 'one dirham'],
    [101, 'one dirham and one centime'],
    [200, 'two dirhams'],
    [1_699, 'sixteen dirhams and ninety-nine centimes'],
    [2_100, 'twenty-one dirhams'],
    [4_000, 'forty dirhams'],
    [10_000, 'one hundred dirhams'],
    [10_100, 'one hundred and one dirhams'],
    [100_000, 'one thousand dirhams'],
    [100_100, 'one thousand and one dirhams'],
    [125_050, 'one thousand two hundred and fifty dirhams and fifty centimes'],
    [2_100_000, 'twenty-one thousand dirhams'],
    [100_000_000, 'one million dirhams'],
    [100_001_200, 'one million and twelve dirhams'],
    [100_000_000_000, 'one billion dirhams'],
    [300_000_000_000_000, 'three trillion dirhams'],
    [
      MAX_CENTIMES,
      'ninety trillion seventy-one billion nine hundred and ninety-two million five hundred and forty-seven thousand ' +
        'four hundred and nine dirhams and ninety-one centimes',
    ],
  ])('%i centimes', (centimes, words) => {
    expect(amountInEnglishWords(centimes)).toBe(words);
  });

  test('reads back as the same amount at every magnitude', () => {
    fc.assert(
      fc.property(centimesOfAnyMagnitude, (centimes) => {
        const words = amountInEnglishWords(centimes);
        expect(read(words), words).toBe(centimes);
        expect(words).toMatch(/^[a-z]+(?:[ -][a-z]+)*$/);
      }),
      { numRuns: 2_000 },
    );
    for (let centimes = 0; centimes <= 100_000; centimes += 100) {
      expect(read(amountInEnglishWords(centimes))).toBe(centimes);
    }
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, MAX_CENTIMES + 1])('refuses %d', (centimes) => {
    expect(() => amountInEnglishWords(centimes)).toThrow(RangeError);
  });
});

const NAMES =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen';
const VALUES: Record<string, number> = Object.fromEntries(NAMES.split(' ').map((name, value) => [name, value]));
Object.assign(VALUES, { twenty: 20, thirty: 30, forty: 40, fifty: 50, sixty: 60, seventy: 70, eighty: 80, ninety: 90 });
const SCALES: Record<string, number> = { thousand: 1e3, million: 1e6, billion: 1e9, trillion: 1e12 };

/** An independent reading: sums numerals, "hundred" multiplies, scales close a group, "and" means nothing. */
function read(words: string): number {
  const [, dirhams, centimes] = words.match(/^(?:(.+?) dirhams?)?(?: and )?(?:(.+) centimes?)?$/) ?? [];
  return readNumber(dirhams ?? 'zero') * 100 + readNumber(centimes ?? 'zero');
}

function readNumber(words: string): number {
  let [total, group] = [0, 0];
  for (const word of words.split(/[ -]/)) {
    if (word === 'and') continue;
    if (word === 'hundred') group *= 100;
    else if (SCALES[word] !== undefined) {
      total += group * SCALES[word];
      group = 0;
    } else if (VALUES[word] === undefined) throw new Error(`not an English numeral: ${word} in ${words}`);
    else group += VALUES[word];
  }
  return total + group;
}
