import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_CENTIMES } from '../../../src/domain/money.ts';
import { amountInFrenchWords } from '../../../src/text/french-words.ts';
import { centimesOfAnyMagnitude } from '../../support/amounts.ts';

describe('amountInFrenchWords', () => {
  test.each<[number, string]>([
    [0, 'zéro dirham'],
    [1, 'un centime'],
    [50, 'cinquante centimes'],
    [100, 'un dirham'],
    [101, 'un dirham et un centime'],
    [200, 'deux dirhams'],
    [1_699, 'seize dirhams et quatre-vingt-dix-neuf centimes'],
    [1_700, 'dix-sept dirhams'],
    [2_100, 'vingt et un dirhams'],
    [2_271, 'vingt-deux dirhams et soixante et onze centimes'],
    [6_100, 'soixante et un dirhams'],
    [7_000, 'soixante-dix dirhams'],
    [7_100, 'soixante et onze dirhams'],
    [7_900, 'soixante-dix-neuf dirhams'],
    [8_000, 'quatre-vingts dirhams'],
    [8_100, 'quatre-vingt-un dirhams'],
    [9_100, 'quatre-vingt-onze dirhams'],
    [10_000, 'cent dirhams'],
    [10_100, 'cent un dirhams'],
    [18_000, 'cent quatre-vingts dirhams'],
    [20_000, 'deux cents dirhams'],
    [20_180, 'deux cent un dirhams et quatre-vingts centimes'],
    [28_000, 'deux cent quatre-vingts dirhams'],
    [100_000, 'mille dirhams'],
    [120_050, 'mille deux cents dirhams et cinquante centimes'],
    [125_050, 'mille deux cent cinquante dirhams et cinquante centimes'],
    [200_000, 'deux mille dirhams'],
    [2_100_000, 'vingt et un mille dirhams'],
    [8_000_000, 'quatre-vingt mille dirhams'],
    [8_008_000, 'quatre-vingt mille quatre-vingts dirhams'],
    [20_000_000, 'deux cent mille dirhams'],
    [28_000_000, 'deux cent quatre-vingt mille dirhams'],
    [100_000_000, 'un million de dirhams'],
    [100_000_001, 'un million de dirhams et un centime'],
    [100_000_100, 'un million un dirhams'],
    [100_100_000, 'un million mille dirhams'],
    [8_000_000_000, 'quatre-vingts millions de dirhams'],
    [20_000_000_000, 'deux cents millions de dirhams'],
    [20_000_000_000_000, 'deux cents milliards de dirhams'],
    [100_000_000_000, 'un milliard de dirhams'],
    [100_100_000_000, 'un milliard un million de dirhams'],
    [300_000_000_000_000, 'trois billions de dirhams'],
    [
      MAX_CENTIMES,
      'quatre-vingt-dix billions soixante et onze milliards neuf cent quatre-vingt-douze millions ' +
        'cinq cent quarante-sept mille quatre cent neuf dirhams et quatre-vingt-onze centimes',
    ],
  ])('%i centimes', (centimes, words) => {
    expect(amountInFrenchWords(centimes)).toBe(words);
  });

  test('reads back as the same amount at every magnitude', () => {
    fc.assert(
      fc.property(centimesOfAnyMagnitude, (centimes) => {
        const words = amountInFrenchWords(centimes);
        expect(read(words), words).toBe(centimes);
        expect(words).toMatch(/^[a-zé]+(?:[ -][a-zé]+)*$/);
      }),
      { numRuns: 2_000 },
    );
    for (let centimes = 0; centimes <= 100_000; centimes += 100) {
      expect(read(amountInFrenchWords(centimes))).toBe(centimes);
    }
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, MAX_CENTIMES + 1])('refuses %d', (centimes) => {
    expect(() => amountInFrenchWords(centimes)).toThrow(RangeError);
  });
});

const VALUES: Record<string, number> = { zéro: 0, un: 1, deux: 2, trois: 3, quatre: 4, cinq: 5, six: 6, sept: 7 };
Object.assign(VALUES, { huit: 8, neuf: 9, dix: 10, onze: 11, douze: 12, treize: 13, quatorze: 14, quinze: 15 });
Object.assign(VALUES, { seize: 16, vingt: 20, trente: 30, quarante: 40, cinquante: 50, soixante: 60 });
const SCALES: Record<string, number> = { mille: 1e3, million: 1e6, milliard: 1e9, billion: 1e12 };

/** An independent reading: sums numerals, "quatre-vingt" and "cent" multiply, scales close a group. */
function read(words: string): number {
  const [, dirhams, centimes] = words.match(/^(?:(.+?) (?:de )?dirhams?)?(?: et )?(?:(.+) centimes?)?$/) ?? [];
  return readNumber(dirhams ?? 'zéro') * 100 + readNumber(centimes ?? 'zéro');
}

function readNumber(words: string): number {
  let total = 0;
  let group = 0;
  for (const word of words.replaceAll(/quatre-vingts?/g, 'huitante').split(/[ -]/)) {
    const single = word.replace(/(?<=cent|million|milliard|billion)s$/, '');
    if (single === 'et') continue;
    if (single === 'huitante') group += 80;
    else if (single === 'cent') group = (group || 1) * 100;
    else if (SCALES[single] !== undefined) {
      total += (group || 1) * SCALES[single];
      group = 0;
    } else {
      const value = VALUES[single];
      if (value === undefined) throw new Error(`not a French numeral: ${word} in ${words}`);
      group += value;
    }
  }
  return total + group;
}
