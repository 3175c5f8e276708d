import { expect, test } from 'vitest';
import { line, printed, SELLER } from './support.ts';
import { wordsOf } from './words.ts';

const DISCOUNT = { amount: null, percent: 2.5, taxIncluded: null, reason: 'Fidélité' } as const;
const CHARGE = { amount: 50_000, percent: null, taxIncluded: null, reason: 'Livraison <1>' } as const;

test.each([
  [
    'fr',
    'Total des lignes HT 126 856,78 MAD Remise 2,5 % ( Fidélité ) \u22123 171,42 MAD Frais ( Livraison <1> ) 500,00 MAD Total HT 124 185,36 MAD',
    ['20 % 120 856,96 24 171,39', '0 % 3 328,40 0,00'],
  ],
  [
    'ar',
    'مجموع السطور دون رسوم 126 856,78 MAD خصم 2,5 % ( Fidélité ) \u22123 171,42 MAD مصاريف ( Livraison <1> ) 500,00 MAD',
    ['20 % 120 856,96 24 171,39', '0 % 3 328,40 0,00'],
  ],
  [
    'en',
    'Total of lines excl. VAT 126,856.78 MAD Discount 2.5% ( Fidélité ) \u22123,171.42 MAD Charge ( Livraison <1> ) 500.00 MAD Total excl. VAT 124,185.36 MAD',
    ['20% 120,856.96 24,171.39', '0% 3,328.40 0.00'],
  ],
] as const)('a discount and a charge lead from the lines to the total in %s', async (language, sums, bases) => {
  const seller = { ...SELLER, documentLanguage: language };
  const words = await wordsOf(printed({ seller }, { discount: DISCOUNT, charge: CHARGE }));
  // 2.5 % of 126,856.78 is 3,171.42, of which the line at 20 % bears 97.32 %.
  for (const each of [sums, ...bases]) expect(words).toContain(each);
  expect(await wordsOf(printed({ seller }))).not.toMatch(/Total des lignes|مجموع السطور|Total of lines/);
});

test('a charge alone has no row of a discount, and no reason that is not stated', async () => {
  const words = await wordsOf(printed({}, { charge: { ...CHARGE, reason: null } }));
  expect(words).toContain('Total des lignes HT 126 856,78 MAD Frais 500,00 MAD Total HT 127 356,78 MAD');
  expect(words).not.toContain('Remise');
});

test('a discount with tax states what it takes from the total without tax', async () => {
  const discount = { amount: 12_000, percent: null, taxIncluded: true, reason: null };
  const words = await wordsOf(printed({ lines: [line('Audit', 1, 100_000, 20)] }, { discount }));
  expect(words).toContain('Total des lignes HT 1 000,00 MAD Remise \u2212100,00 MAD Total HT 900,00 MAD');
  expect(words).toContain('Total TTC 1 080,00 MAD');
});
