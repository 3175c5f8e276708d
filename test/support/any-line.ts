import fc from 'fast-check';
import type { PricedLine } from '../../src/domain/invoice/line-amounts.ts';
import { TAX_RATES } from '../../src/domain/invoice/tax-rate.ts';
import { UNIT_CODES, type Unit } from '../../src/domain/invoice/units.ts';
import { fraction, nearest, times } from './fractions.ts';

/** A decimal number with up to `places` decimals. */
const decimal = (least: number, most: number, places: number) =>
  fc
    .tuple(
      fc.integer({ min: 0, max: places }),
      fc.integer({ min: least, max: most }),
      fc.nat({ max: 10 ** places - 1 }),
    )
    .map(([decimals, whole, rest]) => Number(`${whole}.${String(rest).padStart(places, '0').slice(0, decimals)}`));

const reductions = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null) },
  decimal(0, 99, 2)
    .filter((percent) => percent > 0)
    .map((percent) => ({ percent })),
  fc.constant('amount' as const),
);

/** A line of any quantity, price, unit, discount and rate. */
export const anyLine: fc.Arbitrary<PricedLine & { readonly unit: Unit | null }> = fc
  .record({
    quantity: decimal(0, 5000, 3).filter((quantity) => quantity > 0),
    unitPrice: fc.oneof(decimal(0, 300, 2), decimal(0, 2 ** 31, 2)),
    unit: fc.option(fc.constantFrom(...UNIT_CODES)),
    taxIncluded: fc.boolean(),
    taxRate: fc.constantFrom(...TAX_RATES),
    reduction: reductions,
    part: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ reduction, part, ...line }) => {
    if (reduction !== 'amount') return { ...line, discount: reduction };
    const listed = Number(nearest(times(fraction(line.quantity), fraction(line.unitPrice))));
    return { ...line, discount: { amount: Math.floor(listed * part) } };
  });

/** A discount or a charge of the whole document: a percentage, or an amount as a fraction of the sum of the lines. */
const anyAdjustment = fc.record({
  taxIncluded: fc.constantFrom(true, false, null),
  value: fc.oneof(
    decimal(0, 99, 2)
      .filter((percent) => percent > 0)
      .map((percent) => ({ percent })),
    fc.oneof(fc.constant(1), fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true })).map((part) => ({ part })),
  ),
});

/**
 * Makes a document of lines with a discount and a charge of the whole, each of which may be absent.
 * @param wholeOf returns the sum of lines, in centimes, with or without tax
 */
export function anyDocument<Line extends PricedLine>(
  lines: fc.Arbitrary<readonly Line[]>,
  wholeOf: (lines: readonly Line[], withTax: boolean) => bigint,
) {
  return fc
    .record({ lines, discount: fc.option(anyAdjustment), charge: fc.option(anyAdjustment) })
    .map(({ lines, ...document }) => {
      const stated = (adjustment: typeof document.discount) => {
        if (adjustment === null) return null;
        const { value, taxIncluded } = adjustment;
        if ('percent' in value) return { ...value, taxIncluded };
        const whole = wholeOf(lines, taxIncluded === true);
        const amount = Math.floor(Number(whole) * value.part);
        return amount === 0 ? null : { amount, taxIncluded };
      };
      return { lines, discount: stated(document.discount), charge: stated(document.charge) };
    });
}
