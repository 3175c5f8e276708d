import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimalText, exactly, quantityText, rateText, scaled, unitPriceText } from '../../../src/domain/decimal.ts';
import { decimalQuantity, unitPrice } from '../../../src/domain/invoice/field-input.ts';

describe('a decimal number', () => {
  test('is read with the digits that were written, also below a millionth', () => {
    const numbers = fc.tuple(fc.nat({ max: 999_999 }), fc.nat({ max: 99_999_999 }));
    fc.assert(
      fc.property(numbers, ([whole, fraction]) => {
        const written = `${whole}.${String(fraction).padStart(8, '0')}`;
        expect(scaled(Number(written), 8)).toBe(BigInt(written.replace('.', '')));
      }),
    );
    expect([1e-8, 1.2e-7, 9.9e-7, 1e-6].map((value) => scaled(value, 8))).toEqual([1n, 12n, 99n, 100n]);
  });

  test('is refused with more decimals than allowed, below zero, or too large for its text', () => {
    for (const value of [1e-9, 1.23e-7, 0.000_000_001, 5e-324, -1, -1e-7, -0.5, 1e21, Number.MAX_VALUE])
      expect(scaled(value, 8)).toBeNull();
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) expect(scaled(value, 8)).toBeNull();
    expect(scaled(1e-7, 3)).toBeNull();
    expect(() => exactly(0.0001, 3)).toThrow(RangeError);
  });

  test('is written without zeros at its end, and with as many decimals as asked', () => {
    expect([quantityText(1.5), quantityText(10), quantityText(0.001)]).toEqual(['1.5', '10', '0.001']);
    expect([unitPriceText(12.5), unitPriceText(1), unitPriceText(0)]).toEqual(['0.125', '0.01', '0.00']);
    expect([rateText(1e-8), rateText(1.2e-7), rateText(10.8)]).toEqual(['0.00000001', '0.00000012', '10.8']);
    expect(decimalText(1500n, 3, 2)).toBe('1.50');
  });
});

describe('the input of a decimal number', () => {
  const tooLarge = 'must be a number of at most 9007199254740991, or below 999999999999 if it has decimals';
  const faultOf = (rule: typeof unitPrice, value: number) =>
    rule.safeParse(value).error?.issues.map((each) => each.message);

  test('has decimals as far as they are exact, and whole numbers as far as these are', () => {
    for (const value of [999_999_999_998.99, 999_999_999_999, Number.MAX_SAFE_INTEGER, 0.01, 1])
      expect(faultOf(unitPrice, value)).toBeUndefined();
    expect(faultOf(decimalQuantity, 999_999_999_998.999)).toBeUndefined();
    for (const value of [999_999_999_999.5, 2 ** 53]) {
      expect(faultOf(unitPrice, value)).toEqual([`${tooLarge}; ${value} was sent`]);
      expect(faultOf(decimalQuantity, value)).toEqual([`${tooLarge}; ${value} was sent`]);
    }
  });

  test('may be zero as a price, but not as a quantity', () => {
    expect(faultOf(unitPrice, 0)).toBeUndefined();
    for (const value of [0, -1, 0.0005, 1e-9])
      expect(faultOf(decimalQuantity, value)).toEqual([expect.stringContaining('a positive number of at most 3')]);
    for (const value of [-0.01, 0.001])
      expect(faultOf(unitPrice, value)).toEqual([expect.stringContaining('zero or more, of at most 2 decimals')]);
  });
});
