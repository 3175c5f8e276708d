import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideSign, numberOf } from '../../../../src/domain/imports/numbers.ts';

describe('numbers in texts', () => {
  it.each([
    ['12', '12', null],
    ['0012', '12', null],
    ['1 234,56', '1234.56', ','],
    ['1\u202f234\u00a0567,5', '1234567.5', ','],
    ["1'234.50", '1234.5', '.'],
    ['1.234,56', '1234.56', ','],
    ['1,234.56', '1234.56', '.'],
    ['1.234.567', '1234567', ','],
    ['0,125', '0.125', ','],
    ['1 234,567', '1234.567', ','],
    ['1234.567', '1234.567', '.'],
    [',5', '0.5', ','],
    ['٣٬٤٥٦٫٧', '3456.7', ','],
    ['١٢٫٣٤٥', '12.345', ','],
    ['-5', '-5', null],
    ['5-', '-5', null],
    ['(1 200,00)', '-1200', ','],
    ['1 234,50 MAD', '1234.5', ','],
    ['1500 درهم', '1500', null],
    ['20 %', '20', null],
    ['100 dhs', '100', null],
  ])('reads %s as %s, whose decimal sign is %s', (text, plain, sign) => {
    expect(numberOf(text)).toMatchObject({ plain, sign });
  });

  it.each(['', 'cent', '1O', '12.05.2026', '1,2,3', '1.2,3,4', '--5', 'A12', '1e5', '1 2 3', '5 kg'])(
    'does not read %j',
    (text) => {
      expect(numberOf(text)).toBeNull();
    },
  );

  it('leaves open what three decimals are', () => {
    expect(numberOf('1,234')).toMatchObject({ plain: null, bySign: { ',': '1.234', '.': '1234' } });
    expect(numberOf('12.500 DH')).toMatchObject({ plain: null, bySign: { ',': '12500', '.': '12.5' } });
  });

  it('tells percentages and other currencies', () => {
    expect(numberOf('20%')?.isPercent).toBe(true);
    expect(numberOf('12,50 €')?.isForeign).toBe(true);
    expect(numberOf('12,50 USD')?.isForeign).toBe(true);
  });

  it('takes the sign that the file shows, if it shows one only', () => {
    expect(decideSign({ '.': 0, ',': 3 })).toBe(',');
    expect(decideSign({ '.': 1, ',': 0 })).toBe('.');
    expect(decideSign({ '.': 1, ',': 3 })).toBeNull();
    expect(decideSign({ '.': 0, ',': 0 })).toBeNull();
  });

  it('reads every amount in each form in which people write it', () => {
    const signs = fc.constantFrom(
      [' ', ','],
      ['\u00a0', ','],
      ['.', ','],
      [',', '.'],
      ["'", '.'],
      ['', ','],
      ['', '.'],
    );
    fc.assert(
      fc.property(
        fc.nat({ max: 10 ** 9 }),
        fc.nat({ max: 99 }),
        signs,
        (whole, rest, [thousands = '', decimal = '']) => {
          const grouped = String(whole).replaceAll(/\B(?=(?:\d{3})+$)/g, thousands);
          const decimals = String(rest).padStart(2, '0');
          const { plain } = numberOf(`${grouped}${decimal}${decimals}`) ?? {};
          expect(plain === undefined || plain === null ? null : Number(plain)).toBe(Number(`${whole}.${decimals}`));
        },
      ),
    );
  });
});
